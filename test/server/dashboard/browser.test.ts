import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOAuth2 } from '../../../src/client/oauth2.ts';
import { operations } from '../../../src/contract/operations.ts';
import type { RecordedChange, Run } from '../../../src/engine/record.ts';
import type { AppParts } from '../../../src/server/app.ts';
import { redirectUri } from '../../../src/server/dashboard/sign-in/forge-sign-in.ts';
import type { Store } from '../../../src/store/store.ts';
import { readAboutItem } from '../../../src/work/runs/about-item.ts';
import { makeDelivery, makeRun } from '../../store/make.ts';
import { axeViolations } from '../../support/axe.ts';
import { dashboardPassword, makeDashboardApp, storeCommands } from '../../support/dashboard-app.ts';
import { exampleSamples } from '../../support/example-samples.ts';
import { isThorough, recordFigure } from '../../support/figure.ts';
import { passwordOf } from '../../support/flow-names.ts';
import { follow } from '../../support/follow.ts';
import { at, type Harness, people, startHarness } from '../../support/harness.ts';
import { hostileTexts } from '../../support/hostile-texts.ts';
import { makeStore } from '../../support/make-store.ts';
import { makeQueueEntry, saveQueueState } from '../../support/stored-queue.ts';

const program = '/usr/bin/chromium';
const hasBrowser = existsSync(program);
const title = `the dashboard in a browser${hasBrowser ? '' : ` (left out: there is no ${program})`}`;

async function listen(app: FastifyInstance, port = 0): Promise<number> {
  await app.listen({ port, host: '127.0.0.1' });
  return (app.server.address() as AddressInfo).port;
}

/** Fills a store and readings with hostile texts, each of the five hundred in at least one place. */
async function makeHostile(store: Store): Promise<{
  parts: Partial<AppParts>;
  ids: readonly string[];
  runs: readonly string[];
  /** Id of a rule that was evaluated. */
  rule: string;
  used: () => number;
}> {
  let used = 0;
  const text = (): string => hostileTexts[used++ % hostileTexts.length] ?? '';
  const change = (id: string): RecordedChange => ({
    id,
    rules: [text()],
    step: text(),
    action: text(),
    operation: text(),
    method: 'PUT',
    path: `/${text()}`,
    input: { body: { [text()]: text() } },
    target: text(),
    value: text(),
    before: text(),
    after: text(),
    reason: text(),
  });
  const run = (): Run => ({
    ...makeRun({}),
    trigger: {
      door: 'webhook',
      kind: text(),
      activity: text(),
      item: text(),
      at: '2030-01-01T00:00:00.000Z',
    },
    rules: (['matched', 'unmatched', 'failed', 'skipped'] as const).map((verdict) => ({
      rule: `${text()}#${text()}`,
      source: text(),
      commit: text(),
      line: 1,
      verdict,
      reason: text(),
      findings: [
        {
          expression: text(),
          result: 'held',
          values: { [text()]: text() },
          file: text(),
          line: 1,
          column: 1,
        },
      ],
    })),
    changes: [change('1')],
    refused: [{ change: change('2'), why: text() }],
    outcomes: [{ change: '1', status: 'failed', error: text() }],
    forgeRequests: [{ method: text(), path: text(), ms: 1, attempt: 1, error: text() }],
    forgeRequestsLeftOut: 1,
  });
  const runs: string[] = [];
  let rule: string | undefined;
  for (let n = 0; n < 12; n += 1) {
    const { id } = await store.accept(
      makeDelivery({
        eventType: text(),
        entry: text(),
        contentType: text(),
        uuid: text(),
        body: Buffer.from(n % 2 === 0 ? JSON.stringify({ [text()]: text() }) : text()),
      }),
    );
    await store.route([{ id, to: 'lane', lane: text(), repositoryId: n + 1, repository: text() }]);
    const [claim] = await store.claim({ limit: 1, leaseMs: 60_000 });
    if (claim === undefined) throw new Error('nothing to claim');
    const made = { ...run(), trigger: { ...run().trigger, delivery: id } };
    runs.push(made.id);
    rule ??= made.rules[0]?.rule;
    if (n % 2 === 0) await store.settle(claim, [made], text());
    else {
      await store.appendRuns([made]);
      await store.bury(claim, text());
    }
    await store.redrive([id], text());
  }
  for (const action of ['revert', 'pause', 'resume'] as const)
    await store.noteAudit({ by: text(), action, object: text() });
  await store.pause({ kind: 'all' }, text());
  const { items } = await store.listDeliveries();
  for (const { repository = '', repositoryId } of items.slice(0, 6))
    await store.pause({ kind: 'repository', name: repository, repositoryId }, text());
  const [paused, other] = [text(), text()];
  for (const name of [paused, text()]) await store.pause({ kind: 'rule', name }, text());
  const since = new Date('2030-01-01T00:00:00Z');
  await store.addSamples([
    { minutes: 5, at: since, name: text(), amount: 1, merge: 'sum' },
    ...exampleSamples(since),
  ]);
  for (let n = 1; n <= 3; n += 1) {
    const person = { by: text(), at: since.toISOString() };
    const entries = [1, 2].map((number) =>
      makeQueueEntry(number, { head: text(), rule: text(), removal: number === n ? person : undefined }),
    );
    const state = n === 3 ? { entries, paused: person } : { entries };
    const blocked = { commit: text(), since: since.toISOString() };
    const kinds = ['merged', 'left', 'foreign-write', 'moved', 'paused'] as const;
    const events = kinds.map((kind) => ({ at: since, kind, number: n, text: text(), by: text() }));
    const name = { repositoryId: n, repository: text(), base: text(), events };
    await saveQueueState(store, n === 1 ? { ...state, blocked } : state, name);
  }
  const readings = {
    rules: () => [
      {
        id: text(),
        name: paused,
        file: text(),
        line: 1,
        mode: 'enforce' as const,
        listensTo: [text(), text()],
        description: text(),
      },
      {
        id: text(),
        name: other,
        file: text(),
        line: 1,
        mode: 'observe' as const,
        listensTo: [text()],
        description: text(),
      },
    ],
    incidents: async () =>
      (['rule-failed', 'sweep-failed', 'file-broken'] as const).map((kind) => ({
        kind,
        key: text(),
        count: 2,
        firstAt: since,
        lastAt: since,
        level: 'repository' as const,
        reason: text(),
        source: text(),
        subject: text(),
        run: text(),
        commit: text(),
      })),
    schedules: async () => [
      {
        rule: text(),
        clock: text(),
        next: since,
        lastSlot: since,
        missed: 1,
        overlaps: 1,
        job: '1',
        underWay: text(),
        result: {
          endedAt: since,
          sentence: text(),
          isComplete: false,
          drift: 1,
          failures: [{ item: text(), error: text() }],
        },
      },
    ],
    runners: async () => [
      {
        name: text(),
        level: text(),
        status: 'offline' as const,
        busy: true,
        disabled: true,
        flaps: 3,
        since,
        labels: [text()],
      },
    ],
    drift: async () => [
      {
        rule: text(),
        item: text(),
        target: text(),
        live: text(),
        wanted: { [text()]: text() },
        since,
        why: text(),
      },
    ],
  };
  const listProcesses = async (): ReturnType<Store['listProcesses']> =>
    [true, false].map((is) => ({
      id: text(),
      name: text(),
      role: 'all' as const,
      version: text(),
      startedAt: since,
      seenAt: since,
      isLeader: is,
      isSelf: is,
    }));
  const readHeaders = async (): ReturnType<Store['readHeaders']> => ({
    headers: [{ name: text(), value: text() }, { name: text() }],
    leftOut: 1,
  });
  return {
    parts: {
      dashboardData: {
        ...emptyReadings(store),
        ...readings,
        store: { ...store, listProcesses, readHeaders },
      },
      commands: {
        ...storeCommands(store),
        simulate: async () => ({
          runs: [run(), run()],
          left: [{ rule: `${text()}#${text()}`, why: text() }],
          broken: [
            { rules: [], source: text(), level: 'repository' as const, commit: '', problems: [text()] },
          ],
          ignored: text(),
        }),
      },
    },
    ids: items.map(({ id }) => id),
    runs,
    rule: rule ?? '',
    used: () => used,
  };
}

function emptyReadings(store: Store): AppParts['dashboardData'] {
  return {
    store,
    now: () => new Date('2030-01-01T00:00:00Z'),
    forgeUrl: 'https://forge.example.org',
    rules: () => [],
    incidents: async () => [],
    schedules: async () => [],
    ruleSource: async () => undefined,
    reach: async () => ({ repositories: [], served: 0, isWhole: true }),
    sight: async () => [],
    runners: async () => [],
    drift: async () => [],
    aboutItem: (item) => readAboutItem(item, { store, schedules: [], now: new Date('2030-01-01T00:00:00Z') }),
    sweeps: async () => [],
    forge: () => ({ state: 'ok' }),
    refusals: () => new Map([[413, 2]]),
  };
}

/** Elements that our pages consist of; any other element was injected by a hostile text. */
const known = new Set(
  (
    'html head meta title link body a header nav ul li form input span button main h1 h2 h3 p div table thead tbody tr th td ' +
    'code pre dl dt dd time figure figcaption desc details summary section strong label select option svg rect path'
  ).split(' '),
);
const knownAttributes = new Set(
  (
    'lang charset name content rel href class method action type value tabindex role aria-label scope datetime open selected ' +
    'autocomplete placeholder required hidden id http-equiv title data-label aria-current aria-hidden viewBox preserveAspectRatio aria-labelledby width height rx d'
  ).split(' '),
);

async function strangeThings(page: Page): Promise<readonly string[]> {
  const found = await page.evaluate(() =>
    // The frame of live pages contains our only script; any other script is reported.
    [...document.querySelectorAll('*:not(head > script[src$="assets/live.js"])')].flatMap((element) => [
      element.tagName.toLowerCase(),
      ...element.getAttributeNames().map((name) => `@${name}`),
      ...(/^\s*javascript:/i.test(element.getAttribute('href') ?? '') ? ['javascript:'] : []),
    ]),
  );
  return [...new Set(found)].filter((thing) =>
    thing.startsWith('@') ? !knownAttributes.has(thing.slice(1)) : !known.has(thing),
  );
}

describe.skipIf(!hasBrowser)(title, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
  });
  afterAll(() => browser.close());

  describe('with hostile texts everywhere', () => {
    let made: Awaited<ReturnType<typeof makeStore>>;
    let app: FastifyInstance;
    let url: string;
    let context: BrowserContext;
    let page: Page;
    let paths: readonly string[];
    let used: () => number;
    const asked = new Set<string>();
    const complaints: string[] = [];
    beforeAll(async () => {
      made = await makeStore();
      const { parts, ids, runs, ...hostile } = await makeHostile(made.store);
      used = hostile.used;
      app = makeDashboardApp(made.store, parts);
      url = `http://127.0.0.1:${await listen(app)}`;
      paths = [
        ...[
          '/',
          '/activity',
          '/deliveries',
          '/deliveries?state=dead',
          '/runs',
          '/sweeps',
          '/runners',
          '/drift',
          '/rules',
          '/queues',
          `/rules/show?${new URLSearchParams({ rule: hostile.rule })}`,
          '/processes',
          '/audit',
          `/simulate?${new URLSearchParams({ kind: 'branch', subject: hostileTexts[0] ?? '' })}`,
        ],
        ...ids.map((id) => `/deliveries/${id}`),
        ...runs.map((id) => `/runs/${id}`),
        `/deliveries?${new URLSearchParams({ search: '"><script>pwned()</script>' })}`,
      ];
      context = await browser.newContext();
      await context.exposeFunction('pwned', () => complaints.push('a script ran'));
      page = await context.newPage();
      // Every step is slow on a busy machine.
      page.setDefaultTimeout(240_000);
      page.on('request', (request) => asked.add(new URL(request.url()).origin));
      page.on('console', (message) => complaints.push(message.text()));
      page.on('dialog', (dialog) => complaints.push(dialog.message()));
      await page.goto(`${url}/sign-in`);
      await page.getByLabel('Password').fill(dashboardPassword);
      await follow(page.getByRole('button', { name: 'Sign in' }));
    });
    afterAll(async () => {
      await context.close();
      await app.close();
      await made.close();
    });

    it('shows the texts as text: none of the five hundred creates an element, an attribute or a request', async (context) => {
      for (const path of paths) {
        const answer = await page.goto(`${url}${path}`);
        expect(answer?.status(), path).toBe(200);
        expect(await strangeThings(page), path).toEqual([]);
      }

      expect(used()).toBeGreaterThanOrEqual(hostileTexts.length);
      expect([...asked]).toEqual([url]);
      expect(complaints).toEqual([]);
      recordFigure(
        context,
        `${hostileTexts.length} hostile texts on ${paths.length} pages: 0 run, 0 requests elsewhere`,
      );
    });

    it('a simulation shows the texts as text', async () => {
      await page.goto(`${url}/simulate`);
      await page.getByLabel('Subject').fill('acme/demo#1');
      await follow(page.getByRole('button', { name: 'Simulate' }));

      expect(await page.locator('h1').innerText()).toBe('Simulation of acme/demo#1');
      expect(await page.locator('h2', { hasText: 'Not planned' }).isVisible()).toBe(true);
      expect(await strangeThings(page)).toEqual([]);
      expect(complaints).toEqual([]);
    });

    it('a live page applies changes, and keeps focus, elements and scroll position', async () => {
      const loaded = page.waitForResponse((answer) => answer.request().resourceType() === 'fetch');
      await page.goto(`${url}/runs`);
      await loaded;
      await page.evaluate(() => Object.assign(window, { first: document.querySelector('main tbody tr') }));
      const link = page.locator('main tbody tr').nth(3).locator('a').first();
      await link.focus();
      const held = await link.getAttribute('href');
      await page.evaluate(() => scrollTo(0, 120));
      const run = { ...makeRun({}), rules: [] };

      await made.store.appendRuns([run]);
      await page.locator(`main tbody tr a[href$="/${run.id}"]`).first().waitFor();

      expect(await page.evaluate(() => document.activeElement?.getAttribute('href'))).toBe(held);
      expect(await page.evaluate(() => Reflect.get(window, 'first').isConnected)).toBe(true);
      expect(await page.evaluate(() => scrollY)).toBeGreaterThan(0);
      expect(await page.getByRole('status').innerText()).toMatch(/^Updated at /);
      expect(await strangeThings(page)).toEqual([]);
      expect(complaints).toEqual([]);
    });

    it('open details stay open on a live page', async () => {
      await page.goto(`${url}/activity`);
      // The loaded page has neither attribute: `open` belongs to the viewer and stays, `class` is updated.
      await page
        .locator('main details')
        .first()
        .evaluate((details) => {
          details.setAttribute('open', '');
          details.setAttribute('class', 'old');
        });

      await page.waitForFunction(() => document.querySelector('main details')?.className === '');

      const details = page.locator('main details').first();
      expect(await details.getAttribute('open')).toBe('');
    });

    it('the check detects a hostile text that became an element', async () => {
      await page.goto(`${url}/rules`);
      await page.evaluate(() =>
        document.querySelector('main')?.insertAdjacentHTML('beforeend', '<img src=x onerror=1>'),
      );

      expect(await strangeThings(page)).toEqual(['img', '@src', '@onerror']);
    });

    it.runIf(isThorough)('each page passes axe and is no wider than a narrow window', async () => {
      await page.setViewportSize({ width: 360, height: 740 });
      for (const path of ['/sign-in', ...paths]) {
        await page.goto(`${url}${path}`);
        expect(await axeViolations(page), path).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(
          360,
        );
      }
    });
  });

  describe('with a forge on another site', () => {
    let harness: Harness;
    let app: FastifyInstance;
    let url: string;
    beforeAll(async () => {
      harness = await startHarness({ on: 'the embedded forge' });
      await harness.root.call(operations.createIssue, { params: at, body: { title: 'one' } });
      await harness.idle();
      const { store } = harness.server;
      app = makeDashboardApp(store);
      const port = await listen(app);
      await app.close();
      // As in most installations, the dashboard and the forge (127.0.0.1) are different sites, so their cookies are
      // separate.
      url = `http://localhost:${port}`;
      const application = await harness.root.call(operations.createOAuth2Application, {
        body: { name: 'Reeve', redirect_uris: [redirectUri(url)], confidential_client: true },
      });
      const { client_id: clientId = '', client_secret: clientSecret = '' } = application;
      const oauth2 = createOAuth2({
        url: harness.forge.url,
        application: { clientId: clientId ?? '', clientSecret: clientSecret ?? '' },
      });
      app = makeDashboardApp(store, {
        forge: { oauth2, url: harness.forge.url, redirectUri: redirectUri(url) },
        dashboardUrl: url,
        commands: storeCommands(store),
      });
      await listen(app, port);
    });
    afterAll(async () => {
      await app.close();
      await harness.close();
    });

    it('signs a person in without scripts, runs a delivery again on their request, and signs them out', async () => {
      const context = await browser.newContext({ javaScriptEnabled: false });
      const page = await context.newPage();
      // Every step is slow on a busy machine.
      page.setDefaultTimeout(240_000);
      await page.goto(`${url}/deliveries`);
      await follow(page.getByRole('link', { name: 'Sign in with your forge account' }));
      expect(new URL(page.url()).origin).toBe(harness.forge.url);
      await page.getByLabel('Name or e-mail').fill(people.root);
      await page.getByLabel('Password').fill(passwordOf(people.root));
      await follow(page.getByRole('button', { name: 'Sign in' }));
      await follow(page.getByRole('button', { name: 'Allow' }));

      await page.waitForURL(`${url}/deliveries`);
      expect(await page.locator('header').innerText()).toContain(`@${people.root} (`);
      await follow(page.locator('.rows li', { hasText: 'issue opened' }).first().getByRole('link'));
      await follow(page.getByRole('button', { name: 'Run it again' }));
      expect(await page.locator('dl').innerText()).toMatch(
        new RegExp(`by @${people.root} \\(\\d+\\) by the dashboard`),
      );

      await follow(page.getByRole('button', { name: 'Sign out' }));
      await page.goto(`${url}/deliveries`);
      expect(await page.getByLabel('Password').isVisible()).toBe(true);
      await context.close();
    });

    it('ignores a form that a page of the other site submits', async () => {
      const context = await browser.newContext();
      const page = await context.newPage();
      // Every step is slow on a busy machine.
      page.setDefaultTimeout(240_000);
      await page.goto(`${url}/sign-in`);
      await page.getByLabel('Password').fill(dashboardPassword);
      await follow(page.getByRole('button', { name: 'Sign in' }));
      const { items } = await harness.server.store.listDeliveries({ state: 'settled' });
      const id = items[0]?.id ?? '';
      const before = await harness.server.store.readDelivery(id);

      await page.route('http://127.0.0.1:1/evil', (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: `<form method="post" action="${url}/deliveries/${id}/run"><input name="mark" value="00"><button>Win</button></form>`,
        }),
      );
      await page.goto('http://127.0.0.1:1/evil');
      await follow(page.getByRole('button', { name: 'Win' }));

      // The browser does not send the session cookie, because the request came from another site.
      expect(await page.getByLabel('Password').isVisible()).toBe(true);
      expect((await harness.server.store.readDelivery(id))?.redrivenAt).toEqual(before?.redrivenAt);
      await context.close();
    });
  });
});
