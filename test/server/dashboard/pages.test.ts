import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { operations } from '../../../src/contract/operations.ts';
import { type DashboardClient, signInWithPassword } from '../../support/dashboard-client.ts';
import { at, type Harness, startHarness } from '../../support/harness.ts';

const repositoryRules = `version: 1
rules:
  mark:
    on: issues.opened
    if: issue.title.contains("bug")
    steps: [{ uses: set-labels, with: { add: [kept] } }]
`;
const operatorRules = `version: 1
rules:
  nightly:
    description: Holds every repository against nothing much.
    mode: observe
    on: { schedule: "0 3 * * *" }
    each: repository
    steps: [{ uses: sync-labels, with: { labels: [{ name: wanted, color: "00ff00" }] } }]
  quiet:
    mode: observe
    on: { schedule: "0 4 * * *" }
    each: [issue, pull_request]
    steps: [{ uses: set-labels, with: { add: [wanted] } }]
`;

let harness: Harness;
let folder: string;
let operator: DashboardClient;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-rules-'));
  await writeFile(join(folder, 'nightly.yml'), operatorRules);
  await writeFile(
    join(folder, 'broken.yml'),
    'version: 1\nrules:\n  wrong: { on: nothing-like-it, steps: [] }\n',
  );
  harness = await startHarness({
    rules: repositoryRules,
    server: { rules: folder },
    on: 'the embedded forge',
  });
  for (const title of ['a bug', 'a wish']) {
    await harness.ada.call(operations.createIssue, { params: at, body: { title } });
  }
  await harness.waitForRun(({ changes }) => changes.length > 0);
  await harness.idle();
  const password = (await readFile(join(harness.data, 'dashboard.password'), 'utf8')).trim();
  operator = await signInWithPassword(harness.server.url, password);
});
afterAll(async () => {
  await harness.close();
  await rm(folder, { recursive: true, force: true });
});

/** Returns our ids of the deliveries of an Event-Type, the oldest first. */
async function idsOf(eventType: string): Promise<readonly string[]> {
  const { items } = await harness.server.store.listDeliveries({ search: eventType, limit: 500 });
  return items
    .filter((delivery) => delivery.eventType === eventType)
    .map(({ id }) => id)
    .toReversed();
}

describe('a delivery', () => {
  it('shows why a rule matched, with the values that the rule read, and what was done', async () => {
    const [id = ''] = await idsOf('issues');
    const { status, text } = await operator.get(`/deliveries/${id}`);

    expect(status).toBe(200);
    expect(text).toContain('<h1>#1 a bug</h1>');
    expect(text).toMatch(/issue opened by ada in <a/);
    expect(text.indexOf('issue.title</code> = a bug')).toBeLessThan(text.indexOf('Delivery UUID'));
    expect(text).toMatch(/<strong>mark<\/strong> <span class="mark matched">matched/);
    expect(text.replaceAll(/<\/?span[^>]*>/g, '')).toContain('issue.title.contains(&quot;bug&quot;)');
    expect(text).toContain('issue.title</code> = a bug');
    expect(text).toContain('+ label:kept');
    expect(text).toMatch(/PUT \/repos\/acme\/demo\/issues\/1\/labels/);
    expect(text).toContain('<span class="mark applied">applied');
  });

  it('shows itself as a case of a rule test', async () => {
    const [id = ''] = await idsOf('issues');
    const { text } = await operator.get(`/deliveries/${id}`);
    const [, name = '', escaped = ''] =
      /As a rule test<[\s\S]*?<h3>([\s\S]*?)<\/h3><pre[^>]*>([\s\S]*?)<\/pre>/.exec(text) ?? [];
    const written = escaped
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&#39;', "'")
      .replaceAll('&amp;', '&');
    const { cases } = parse(written);

    expect(name.replaceAll(/<[^>]*>/g, '')).toMatch(/\.test\.yml$/);
    expect(cases).toMatchObject([
      {
        event: { kind: 'issues', activity: 'opened', payload: { issue: { title: 'a bug' } } },
        expect: { verdicts: { mark: 'matched' } },
      },
    ]);
    expect(cases[0].expect.changes).toContainEqual({
      action: 'set-labels',
      target: 'label:kept',
      value: true,
    });
  });

  it('shows why nothing happened', async () => {
    const [, id = ''] = await idsOf('issues');
    const { text } = await operator.get(`/deliveries/${id}`);

    expect(text).toMatch(/<strong>mark<\/strong> <span class="mark unmatched">unmatched/);
    expect(text).toContain('issue.title</code> = a wish');
    expect(text).toContain('No changes.');
  });

  it('shows its payload, and serves its bytes unchanged', async () => {
    const [id = ''] = await idsOf('issues');
    const shown = await operator.get(`/deliveries/${id}`);
    const bytes = await operator.get(`/deliveries/${id}/payload`);
    const stored = await harness.server.store.readDelivery(id);

    expect(shown.text).toContain('&quot;title&quot;: &quot;a bug&quot;');
    expect(bytes.headers.get('content-disposition')).toBe(`attachment; filename="delivery-${id}.json"`);
    expect(bytes.headers.get('content-type')).toBe('application/octet-stream');
    expect(bytes.text).toBe(Buffer.from(stored?.body ?? []).toString());
  });

  it('shows its headers, and the requests of its run with the responses', async () => {
    const [id = ''] = await idsOf('issues');
    const { text } = await operator.get(`/deliveries/${id}`);

    expect(text).toMatch(/<code>x-gitea-event<\/code><\/div><\/td><td[^>]*><div><code>issues<\/code>/);
    expect(text).toMatch(
      /<code>authorization<\/code><\/div><\/td><td[^>]*><div><span class="muted">not stored/,
    );
    expect(text).toMatch(
      /<code>PUT \/repos\/acme\/demo\/issues\/1\/labels<\/code><\/div><\/td><td[^>]*><div><span class="mark settled">200/,
    );
    const store = JSON.stringify(await harness.server.store.listRuns({ limit: 500 }));
    expect(store).not.toContain(harness.token);
  });

  it('runs again at the press of a button, with the same result, and records who pressed it', async () => {
    const [id = ''] = await idsOf('issues');
    const before = harness.runs.length;

    const answer = await operator.submit(`/deliveries/${id}`, `deliveries/${id}/run`);

    expect(answer).toEqual({ status: 303, location: `../../deliveries/${id}` });
    await expect.poll(() => harness.runs.length).toBeGreaterThan(before);
    await harness.idle();
    expect(await harness.server.store.readDelivery(id)).toMatchObject({
      state: 'settled',
      redrivenBy: 'operator by the dashboard',
    });
    const { text } = await operator.get(`/deliveries/${id}`);
    expect(text.match(/<h2>Run of/g)).toHaveLength(2);
    expect(text).toContain('by operator by the dashboard');
    expect(await harness.labelsOf(1)).toEqual(['kept']);
  });

  it('that does not exist is answered 404', async () => {
    for (const path of ['/deliveries/999999', '/deliveries/x', '/runs/x', '/deliveries/999999/payload']) {
      expect((await operator.get(path)).status, path).toBe(404);
    }
  });
});

describe('the list of deliveries', () => {
  it('is filtered by state and by a search term', async () => {
    const [id = ''] = await idsOf('issues');
    const linked = async (query: string) =>
      (await operator.get(`/deliveries?${query}`)).text.includes(`id="delivery-${id}"`);

    expect(await linked('')).toBe(true);
    expect(await linked('state=settled&search=ACME')).toBe(true);
    expect(await linked('state=dead')).toBe(false);
    expect(await linked('search=nothing-like-it')).toBe(false);
    expect(await linked('state=nonsense&before=nonsense')).toBe(true);
    expect(await linked(`before=${id}`)).toBe(false);
  });

  it('links to older deliveries, page by page, until there are none', async () => {
    for (let n = 0; n < 60; n += 1) {
      await harness.server.store.enqueue({
        door: 'cron',
        uuid: `filler ${n}`,
        kind: 'chore',
        lane: 'filler',
        payload: { chore: 'retention' },
        receivedAt: new Date(),
      });
    }
    const seen: string[] = [];
    let path: string | undefined = '/deliveries?show=all&own=shown';
    while (path !== undefined) {
      const { text }: { text: string } = await operator.get(path);
      seen.push(...[...text.matchAll(/<li id="delivery-(\d+)"/g)].map(([, id = '']) => id));
      const next: string | undefined = /rel="next" href="\.\/([^"]+)"/.exec(text)?.[1];
      path = next && `/${next.replaceAll('&amp;', '&')}`;
    }

    const { items } = await harness.server.store.listDeliveries({ limit: 500 });
    expect(seen).toEqual(items.map(({ id }) => id));
    expect(seen.length).toBeGreaterThan(60);
  });
});

describe('a dead delivery', () => {
  it('is shown with its reason, and all dead deliveries can be retried at once', async () => {
    const { store } = harness.server;
    const before = (await store.counts()).dead;
    const { id } = await store.enqueue({
      door: 'cli',
      uuid: 'an unknown delivery',
      kind: 'unheard-of',
      lane: 'x',
      payload: {},
      receivedAt: new Date(),
    });
    await expect.poll(async () => (await store.readDelivery(id))?.state).toBe('dead');
    expect((await operator.get('/')).text).toContain(`Dead deliveries: ${before + 1}`);
    expect((await operator.get('/deliveries?state=dead')).text).toContain(
      'there is no handler for jobs of kind unheard-of',
    );

    const answer = await operator.submit('/deliveries?state=dead', 'deliveries/dead/run');

    expect(answer.status).toBe(303);
    expect((await store.readDelivery(id))?.redrivenBy).toBe('operator by the dashboard');
  });
});

describe('the page of a rule', () => {
  it('shows the source of its file with colours, its schedule, and the repositories that it reaches', async () => {
    const { text } = await operator.get('/rules/show?rule=nightly.yml%23nightly');

    const source = /<pre class="source"[^>]*>(.*?)<\/pre>/s.exec(text)?.[1] ?? '';
    const lines = [...source.matchAll(/<span class="line.*?(?=<span class="line|<\/code>)/gs)];
    expect(lines.map(([line]) => line.replaceAll(/<[^>]*>/g, '')).join('\n')).toBe(
      operatorRules.trimEnd().replaceAll('"', '&quot;'),
    );
    expect(source).toContain('<span class="hl-key">mode</span>');
    expect(text).toContain('<code>0 3 * * * UTC</code>');
    expect(text).toContain('1 of 1 served repository.');
    expect(text).toMatch(/<li><a href="[^"]*\/acme\/demo">/);
  });

  it('starts the sweep of a rule with a schedule, for operators, with a form token only', async () => {
    const page = '/rules/show?rule=nightly.yml%23nightly';
    const id = `${join(folder, 'nightly.yml')}#nightly`;

    expect((await operator.post('rules/run', 'wrong', { rule: id })).status).toBe(403);
    const unknown = await operator.submit(page, 'rules/run', { rule: 'nightly' });
    expect(unknown.status).toBe(404);
    const { status, location } = await operator.submit(page, 'rules/run', { rule: id });

    expect(status).toBe(303);
    const job = /deliveries\/(\d+)$/.exec(location ?? '')?.[1] ?? '';
    await expect.poll(async () => (await harness.server.store.readDelivery(job))?.state).toBe('settled');
    expect((await harness.server.store.listAudit({ limit: 1 }))[0]).toMatchObject({
      action: 'sweep',
      by: 'operator by the dashboard',
      object: 'rule nightly',
    });
  });
});

describe('the other pages', () => {
  it('show rules with their events, and invalid files with line and column', async () => {
    const { text } = await operator.get('/rules');

    expect(text).toContain('nightly.yml:3');
    expect(text).toContain('at 03:00 every day, UTC over repository');
    const quiet = await operator.get('/rules/show?rule=nightly.yml%23quiet');
    expect(quiet.text).toContain('at 04:00 every day, UTC over issue and pull_request');
    expect(text).toContain('Holds every repository against nothing much.');
    expect(text).toContain('broken.yml:3:16: unknown-kind');
    expect(text).not.toContain(folder);
  });

  it('show invalid files of repositories until they are corrected', async () => {
    await harness.setRules(
      'version: 1\nrules: { mark: { on: issues.opened, steps: [{ uses: unheard-of }] } }\n',
    );
    await harness.idle();
    await harness.ada.call(operations.createIssue, { params: at, body: { title: 'read it' } });
    await expect.poll(async () => (await operator.get('/rules')).text).toContain('acme/demo/.reeve.yml');
    expect((await operator.get('/')).text).toContain('Invalid rule files: 2');

    await harness.setRules(repositoryRules);
    await harness.ada.call(operations.createIssue, { params: at, body: { title: 'read it again' } });

    await expect.poll(async () => (await operator.get('/rules')).text).not.toContain('acme/demo/.reeve.yml');
  });

  it('show what is swept, when and with what result, and which items drift', async () => {
    const { store } = harness.server;
    const before = await operator.get('/sweeps');
    expect(before.text).toContain('nightly.yml#nightly');
    expect(before.text).toMatch(/<time datetime="[^"]+T03:00:00.000Z" title="[^"]+ 03:00:00 UTC">in /);

    const rule = `${join(folder, 'nightly.yml')}#nightly`;
    await store.enqueue({
      door: 'cli',
      uuid: 'by hand',
      kind: 'sweep',
      lane: 'sweep',
      receivedAt: new Date(),
      payload: { rule, slot: 'by hand' },
    });

    await expect
      .poll(async () => (await operator.get('/sweeps')).text)
      .toContain('1 of 1 item, 0 changes, 1 wanted and not made');
    const drift = await operator.get('/drift');
    expect(drift.text).toContain('label-definition:wanted');
    expect(drift.text).toContain('observed, not sent');
    expect((await operator.get('/')).text).toContain('Differences from the rules: 1');
    expect((await operator.get('/runs')).text).toContain('acme/demo');
  });

  it('show that no runner has been seen yet', async () => {
    expect((await operator.get('/runners')).text).toContain('No sweep has observed a runner yet');
  });

  it('show each run that the list links to', async () => {
    const { text } = await operator.get('/runs');
    const ids = [...text.matchAll(/runs\/([\w-]{36})"/g)].map(([, id = '']) => id);

    expect(ids.length).toBeGreaterThan(2);
    for (const id of ids) expect((await operator.get(`/runs/${id}`)).text).toContain(id);
  });

  it('never hold the token of the bot or the secret of the hook', async () => {
    const { items } = await harness.server.store.listDeliveries({ limit: 500 });
    const paths = [
      '/',
      '/deliveries',
      '/runs',
      '/sweeps',
      '/drift',
      '/rules',
      '/runners',
      '/queues',
      '/audit',
      '/simulate',
    ];
    for (const path of [...paths, ...items.slice(-20).map(({ id }) => `/deliveries/${id}`)]) {
      const { text } = await operator.get(path);
      expect(text).not.toContain(harness.token);
      expect(text).not.toContain(harness.environment.WEBHOOK_AUTHORIZATION);
    }
  });
});
