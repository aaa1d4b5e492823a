import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOAuth2 } from '../../src/client/oauth2.ts';
import { operations } from '../../src/contract/operations.ts';
import { redirectUri } from '../../src/server/dashboard/sign-in/forge-sign-in.ts';
import { makeRun } from '../store/make.ts';
import { dashboardPassword, makeDashboardApp } from '../support/dashboard-app.ts';
import { createDashboardClient, type DashboardClient } from '../support/dashboard-client.ts';
import { passwordOf, uniqueName } from '../support/flow-names.ts';
import { at, type Harness, people, startHarness } from '../support/harness.ts';
import { type BrowserPage, type MiniBrowser, openMiniBrowser } from '../support/mini-browser.ts';

const open = { owner: at.owner, repo: 'open' };
const [demo, opened] = [`${at.owner}/${at.repo}`, `${open.owner}/${open.repo}`];
const rules = `version: 1
rules:
  mark: { on: issues.opened, steps: [{ uses: set-labels, with: { add: [kept] } }] }
`;

let harness: Harness;
let app: FastifyInstance;
let url: string;
let nowMs = 0;
/** An account without access to the organization. */
const eve = people.eve;
/** An account that can read the issues of the private repository, but not its code or its pull requests. */
const ira = uniqueName('ira');

/** Creates a private and a public repository under a webhook of their organization, each with an issue and pushes. */
beforeAll(async () => {
  harness = await startHarness({ rules, hook: 'organization' });
  const { root, ada, bot, forge } = harness;
  // A repository that becomes private loses its stars, so the bot reads them first, and stars it again.
  await harness.idle();
  await root.call(operations.editRepository, { params: at, body: { private: true } });
  await bot.call(operations.star, { params: at });
  await root.call(operations.createOrganizationRepository, {
    params: { org: at.owner },
    body: { name: open.repo, auto_init: true, default_branch: 'main' },
  });
  await forge.makePerson(eve);
  await forge.makePerson(ira);
  const team = await root.call(operations.createTeam, {
    params: { org: at.owner },
    body: { name: 'triage', permission: 'read', units_map: { 'repo.issues': 'read' } },
  });
  await root.call(operations.putTeamMember, { params: { id: team.id, username: ira } });
  await root.call(operations.putTeamRepository, { params: { id: team.id, org: at.owner, repo: at.repo } });
  await ada.call(operations.createIssue, { params: at, body: { title: 'a secret matter' } });
  await root.call(operations.createIssue, { params: open, body: { title: 'an open matter' } });
  await harness.openPull('work', { 'a.txt': 'a\n' });
  await harness.waitForRun(({ changes }) => changes.length > 0);
  await harness.idle();

  app = makeDashboardApp(harness.server.store);
  await app.listen({ port: 0, host: '127.0.0.1' });
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  await app.close();
  const made = await root.call(operations.createOAuth2Application, {
    body: { name: 'Reeve', redirect_uris: [redirectUri(url)], confidential_client: true },
  });
  const application = { clientId: made.client_id ?? '', clientSecret: made.client_secret ?? '' };
  const oauth2 = createOAuth2({ url: harness.proxy.url, application });
  app = makeDashboardApp(harness.server.store, {
    forge: { oauth2, url: harness.proxy.url, redirectUri: redirectUri(url) },
    dashboardUrl: url,
    clock: { monotonicMs: () => nowMs },
  });
  await app.listen({ port: Number(new URL(url).port), host: '127.0.0.1' });
});
afterAll(async () => {
  await app.close();
  await harness.close();
});

/** Goes from the dashboard to the forge, signs in there and grants Reeve the requested access. */
async function arrive(name: string, browser: MiniBrowser, to = '/'): Promise<BrowserPage> {
  const form = await browser.go(`${url}/sign-in/forge?to=${encodeURIComponent(to)}`);
  const fields = { user_name: name, password: passwordOf(name) };
  const consent = await browser.submit(form, signInAt(form), fields);
  return consent.url.startsWith(url)
    ? consent
    : browser.submit(consent, '/login/oauth/grant', { granted: 'true' });
}

/** Gitea and Forgejo have other sign-in URLs than the embedded forge. */
function signInAt({ text }: BrowserPage): string {
  return text.includes('action="/user/login"') ? '/user/login' : '/login/oauth/sign-in';
}

async function visitAs(name: string): Promise<DashboardClient> {
  const browser = openMiniBrowser();
  await arrive(name, browser);
  return createDashboardClient(url, browser.cookiesOf(url));
}

type Known = { readonly id: string; readonly eventType: string; readonly repository: string | undefined };

async function seenBy(dashboard: DashboardClient): Promise<readonly Known[]> {
  const { text } = await dashboard.get('/deliveries?show=all&own=shown');
  const { items } = await harness.server.store.listDeliveries({ limit: 500 });
  return items.filter(({ id }) => new RegExp(`deliveries/${id}[?"]`).test(text));
}
const kindsOf = (seen: readonly Known[], repository: string): readonly string[] =>
  [
    ...new Set(seen.filter((one) => one.repository === repository).map(({ eventType }) => eventType)),
  ].toSorted();

describe('signing in with a forge account', () => {
  it('leads to the forge and back, and shows the account name', async () => {
    const browser = openMiniBrowser();

    const arrived = await arrive(people.ada, browser, '/deliveries');

    expect(arrived.status).toBe(200);
    expect(arrived.url.startsWith(redirectUri(url))).toBe(true);
    expect(arrived.text).toContain('http-equiv="refresh" content="0; url=../deliveries"');
    const page = await browser.go(`${url}/deliveries`);
    expect(page.text).toContain(`@${people.ada}`);
    expect(browser.cookiesOf(url)).not.toContain('reeve_sign_in');
  });

  it('requests only read access from the forge', async () => {
    const answer = await fetch(`${url}/sign-in/forge`, { redirect: 'manual' });
    const asked = new URL(answer.headers.get('location') ?? '');

    expect(asked.origin).toBe(harness.forge.url);
    expect(asked.searchParams.get('scope')).toBe('read:user read:repository read:issue');
    expect(asked.searchParams.get('code_challenge_method')).toBe('S256');
    expect(asked.searchParams.get('redirect_uri')).toBe(redirectUri(url));
  });

  it('is refused in a browser that did not start the sign-in', async () => {
    const [begun, other] = [openMiniBrowser(), openMiniBrowser()];
    await begun.go(`${url}/sign-in/forge`);

    for (const query of ['code=x&state=y', 'code=x', 'state=', '']) {
      const answer = await other.go(`${url}/sign-in/callback?${query}`);
      expect(answer.status).toBe(403);
      expect(other.cookiesOf(url)).toBe('');
    }
    expect((await begun.go(`${url}/sign-in/callback?code=x&state=y`)).status).toBe(403);
  });

  it('is refused if the forge does not know the code, or if the person denies access', async () => {
    const browser = openMiniBrowser();
    await browser.go(`${url}/sign-in/forge`);
    const state = /reeve_sign_in=([\w-]+)\./.exec(browser.cookiesOf(url))?.[1] ?? '';
    const wrong = await browser.go(`${url}/sign-in/callback?code=made-up&state=${state}`);

    const form = await browser.go(`${url}/sign-in/forge`);
    const fields = { user_name: people.ada, password: passwordOf(people.ada) };
    const consent = await browser.submit(form, signInAt(form), fields);
    // The account has allowed access before, so the forge does not ask again, and the denial is simulated.
    expect(consent.status).toBe(200);
    const again = openMiniBrowser();
    await again.go(`${url}/sign-in/forge`);
    const other = /reeve_sign_in=([\w-]+)\./.exec(again.cookiesOf(url))?.[1] ?? '';
    const denied = await again.go(`${url}/sign-in/callback?error=access_denied&state=${other}`);

    expect([wrong.status, denied.status]).toEqual([502, 403]);
    expect(wrong.text).not.toContain('made-up');
    expect(again.cookiesOf(url)).toBe('');
  });

  it('offers the password as an alternative', async () => {
    const { text } = await openMiniBrowser().go(`${url}/`);

    expect(text).toContain('Sign in with your forge account');
    expect(text).toContain('Password of this installation');
    expect(dashboardPassword).not.toBe('');
  });
});

describe('people see what they can read on the forge', () => {
  it('a site administrator sees everything', async () => {
    const root = await visitAs(people.root);

    const { items } = await harness.server.store.listDeliveries({ limit: 500 });
    expect((await seenBy(root)).length).toBe(Math.min(items.length, 50));
    for (const path of ['/runs', '/sweeps', '/rules', '/drift', '/runners', '/audit', '/simulate']) {
      expect((await root.get(path)).status, path).toBe(200);
    }
  });

  it('a writer sees all issues, pull requests and pushes of their repositories', async () => {
    const seen = await seenBy(await visitAs(people.ada));

    expect(kindsOf(seen, demo)).toEqual(
      expect.arrayContaining(['create', 'issue_label', 'issues', 'pull_request', 'push']),
    );
    expect(kindsOf(seen, opened)).toContain('issues');
  });

  it('a stranger sees only public repositories', async () => {
    const dashboard = await visitAs(eve);
    const seen = await seenBy(dashboard);

    expect(seen.map(({ repository }) => repository)).toEqual(seen.map(() => opened));
    expect(kindsOf(seen, opened)).toContain('issues');
    expect((await dashboard.get('/deliveries')).text).not.toContain(demo);
  });

  it('a reader of issues sees only issues, and nothing of code and pull requests', async () => {
    const seen = await seenBy(await visitAs(ira));

    expect(kindsOf(seen, demo)).toEqual(['issue_label', 'issues']);
  });

  it('a viewer without access to a delivery finds neither the delivery nor its run, payload or redrive button', async () => {
    const dashboard = await visitAs(eve);
    const { store } = harness.server;
    const { items } = await store.listDeliveries({ search: demo, limit: 500 });
    const mine = await visitAs(people.root);

    for (const { id } of items.slice(0, 8)) {
      for (const path of [`/deliveries/${id}`, `/deliveries/${id}/payload`]) {
        const answer = await dashboard.get(path);
        expect(answer.status, path).toBe(404);
        expect(answer.text).not.toContain(demo);
      }
      const [run] = (await store.listRuns({ delivery: id })).items;
      if (run) expect((await dashboard.get(`/runs/${run.id}`)).status).toBe(404);
      expect((await mine.get(`/deliveries/${id}`)).status).toBe(200);
    }
  });

  it('a reader sees the verdict and the labels, but no payload and no redrive button', async () => {
    const dashboard = await visitAs(ira);
    const seen = await seenBy(dashboard);
    const matters = seen.filter(
      ({ eventType, repository }) => `${repository} ${eventType}` === `${demo} issues`,
    );
    const id = matters[0]?.id ?? '';
    const { text } = await dashboard.get(`/deliveries/${id}`);

    expect(text).toContain('<strong>mark</strong>');
    expect(text).toContain('label:kept');
    expect(text).not.toContain('<h2>Payload');
    expect(text).not.toContain('Run it again');
    expect((await dashboard.get(`/deliveries/${id}/payload`)).status).toBe(404);
    expect((await dashboard.submit(`/deliveries/${id}`, `deliveries/${id}/run`)).status).toBe(403);
  });

  it('an administrator of a repository sees payloads and redrives deliveries of this repository only', async () => {
    await harness.root.call(operations.putCollaborator, {
      params: { ...open, collaborator: eve },
      body: { permission: 'admin' },
    });
    const dashboard = await visitAs(eve);
    const { items } = await harness.server.store.listDeliveries({ search: opened, limit: 500 });
    const id = items.find(({ eventType }) => eventType === 'issues')?.id ?? '';

    expect((await dashboard.get(`/deliveries/${id}`)).text).toContain('an open matter');
    expect((await dashboard.submit(`/deliveries/${id}`, `deliveries/${id}/run`)).status).toBe(303);
    expect((await harness.server.store.readDelivery(id))?.redrivenBy).toMatch(
      /^@\S+ \(\d+\) by the dashboard$/,
    );
  });

  it('a search reveals nothing that the viewer cannot see, and finds what they can', async () => {
    const [stranger, writer] = [await visitAs(eve), await visitAs(people.ada)];
    const { items } = await harness.server.store.listDeliveries({ search: demo, limit: 500 });
    const hidden = items[0];
    const pageOf = async (dashboard: DashboardClient, search: string) =>
      (await dashboard.get(`/deliveries?${new URLSearchParams({ search })}`)).text
        .replaceAll(new URLSearchParams({ search }).toString(), 'search=')
        .replaceAll(search, '')
        .replaceAll(/name="mark" value="\w+"/g, '');

    const nothing = await pageOf(stranger, 'nothing-like-it');
    for (const search of [demo, hidden?.uuid ?? '', `${at.owner}/dem`]) {
      expect(await pageOf(stranger, search)).toBe(nothing);
      expect(await pageOf(writer, search)).toMatch(new RegExp(`deliveries/${hidden?.id}[?"]`));
    }
  });

  it('the page about an issue or pull request shows what the viewer can see; hidden and missing look alike', async () => {
    const { store } = harness.server;
    const { items } = await store.listDeliveries({ search: demo, limit: 500 });
    const opening = items.find(({ eventType }) => eventType === 'pull_request');
    const run = makeRun({});
    await store.appendRuns([{ ...run, trigger: { ...run.trigger, delivery: opening?.id ?? '' } }], {
      repositoryId: opening?.repositoryId ?? 0,
    });
    const [stranger, reader, writer] = [await visitAs(eve), await visitAs(ira), await visitAs(people.ada)];
    const about = async (dashboard: DashboardClient, path: string) => {
      const { status, text } = await dashboard.get(`/subjects/${path}`);
      return { status, main: /<main.*<\/main>/s.exec(text)?.[0] ?? '' };
    };

    const [hidden, missing] = [`${demo}/issues/1`, `${at.owner}/none/issues/1`];
    expect(await about(stranger, hidden)).toEqual(await about(stranger, missing));
    expect((await about(stranger, hidden)).status).toBe(404);
    expect((await about(stranger, `${opened}/issues/1`)).status).toBe(200);

    expect((await about(reader, `${demo}/issues/1`)).main).toMatch(/href="[./]*runs\//);
    const [pull, none] = [await about(reader, `${demo}/pulls/2`), await about(reader, `${demo}/pulls/4711`)];
    expect(none.main).toContain(`No run about <span class="whole">${demo}#4711</span> is recorded`);
    expect(pull.main).toBe(none.main.replaceAll(/([#/])4711/g, '$12'));
    const seen = await about(writer, `${demo}/pulls/2`);
    expect(seen.main).toContain(`runs/${run.id}`);
    expect(seen.main).not.toContain('Simulate');
  });

  it('a search for an id leads only to what the viewer can see', async () => {
    const [stranger, writer] = [await visitAs(eve), await visitAs(people.ada)];
    const { items } = await harness.server.store.listDeliveries({ search: demo, limit: 500 });
    const { items: runs } = await harness.server.store.listRuns({ limit: 500 });
    const run = runs.find(({ trigger }) => items.some(({ id }) => id === trigger.delivery));
    const { id = '' } = items.find((one) => one.id === run?.trigger.delivery) ?? {};
    const search = async (dashboard: DashboardClient, q: string) => {
      const { status, headers } = await dashboard.get(`/search?${new URLSearchParams({ q })}`);
      return { status, to: headers.get('location') };
    };

    expect(await search(writer, id)).toEqual({ status: 303, to: `./deliveries/${id}` });
    expect(await search(stranger, id)).toEqual({ status: 200, to: null });
    expect(await search(writer, run?.id ?? '')).toEqual({ status: 303, to: `./runs/${run?.id}` });
    expect(await search(stranger, run?.id ?? '')).toEqual({
      status: 303,
      to: `./deliveries?search=${run?.id}`,
    });
    expect(await search(stranger, 'mark')).toEqual({ status: 303, to: './deliveries?search=mark' });
  });

  it('only operators can open operator pages and use their buttons', async () => {
    const dashboard = await visitAs(people.ada);

    for (const path of ['/runs', '/sweeps', '/rules', '/drift', '/runners', '/audit', '/simulate']) {
      expect((await dashboard.get(path)).status, path).toBe(403);
    }
    expect((await dashboard.get('/')).text).not.toContain('href="./rules"');
    expect((await dashboard.submit('/deliveries?state=dead', 'deliveries/dead/run')).status).toBe(403);
  });

  it('only operators can pause and resume writes, not administrators of a repository', async () => {
    const { store } = harness.server;
    await harness.root.call(operations.putCollaborator, {
      params: { ...open, collaborator: eve },
      body: { permission: 'admin' },
    });
    const browser = openMiniBrowser();
    await arrive(eve, browser);
    const cookie = browser.cookiesOf(url);
    const { items } = await store.listDeliveries({ search: opened, limit: 500 });
    const own = `deliveries/${items.find(({ eventType }) => eventType === 'issues')?.id}`;
    const send = async (path: string, fields: Record<string, string>) =>
      (
        await fetch(`${url}/${path}`, {
          method: 'POST',
          headers: { cookie },
          body: new URLSearchParams(fields),
        })
      ).text();
    await store.pause({ kind: 'rule', name: 'mark' }, 'root');

    const page = await createDashboardClient(url, cookie).get(`/${own}`);
    const paused = await send('pauses', { kind: 'repository', name: opened, mark: '00' });
    const resumed = await send('pauses/end', { kind: 'rule', name: 'mark', mark: '00' });

    expect(page.text).toContain('<h2>Payload');
    expect(page.text).not.toContain('Pause');
    for (const text of [paused, resumed]) expect(text).toContain('This page is for operators');
    expect((await store.listPauses()).map(({ by }) => by)).toEqual(['root']);

    const operator = await visitAs(people.root);
    await operator.submit('/', 'pauses/end', { kind: 'rule', name: 'mark' });
    await operator.submit(`/${own}`, 'pauses', { kind: 'repository', name: opened });
    const pauses = await store.listPauses();
    expect(pauses).toMatchObject([{ scope: { kind: 'repository', name: opened.toLowerCase() } }]);
    expect(pauses[0]?.by).toMatch(new RegExp(`^@${people.root} \\(\\d+\\) by the dashboard$`));
    await store.resume({ kind: 'repository', name: opened }, 'root');
  });

  it('revoked access takes effect within a minute', async () => {
    const dashboard = await visitAs(ira);
    expect(kindsOf(await seenBy(dashboard), demo)).not.toEqual([]);
    const teams = await harness.root.call(operations.listTeams, { params: { org: at.owner } });
    const triage = teams?.find(({ name }) => name === 'triage');
    await harness.root.call(operations.deleteTeam, { params: { id: triage?.id ?? 0 } });

    nowMs += 60_001;

    expect(kindsOf(await seenBy(dashboard), demo)).toEqual([]);
  });

  it('a new repository with the same name is not mistaken for the one that the viewer could see', async () => {
    const dashboard = await visitAs(eve);
    const before = (await seenBy(dashboard)).filter(({ repository }) => repository === opened);
    expect(before).not.toEqual([]);

    await harness.root.call(operations.deleteRepository, { params: open });
    await harness.root.call(operations.createOrganizationRepository, {
      params: { org: at.owner },
      body: { name: open.repo, auto_init: true },
    });
    await harness.idle();
    nowMs += 60_001;

    const after = await seenBy(dashboard);
    for (const { id } of before) expect(after.map((one) => one.id)).not.toContain(id);
  });
});

describe('a session of a forge account', () => {
  it('is renewed when its token expires, and continues', async () => {
    const dashboard = await visitAs(people.ada);

    nowMs += 3_700_000;

    expect((await dashboard.get('/deliveries')).status).toBe(200);
    expect(await seenBy(dashboard)).not.toEqual([]);
  });

  it('ends when the account is no longer allowed to sign in', async () => {
    const dashboard = await visitAs(people.ada);
    await harness.root.call(operations.editUser, {
      params: { username: people.ada },
      body: { login_name: people.ada, source_id: 0, prohibit_login: true },
    });
    nowMs += 60_001;

    const answer = await dashboard.get('/deliveries');

    expect(answer.status).toBe(401);
    expect(answer.text).toContain('Sign in with your forge account');
    expect((await dashboard.get('/deliveries')).status).toBe(401);
  });

  it('loses the operator role when the account is no longer a site administrator', async () => {
    const chief = uniqueName('chief');
    await harness.forge.makePerson(chief, { isAdministrator: true });
    const dashboard = await visitAs(chief);
    expect((await dashboard.get('/rules')).status).toBe(200);
    await harness.root.call(operations.editUser, {
      params: { username: chief },
      body: { login_name: chief, source_id: 0, admin: false },
    });
    expect((await dashboard.get('/rules')).status).toBe(200);

    nowMs += 60_001;

    expect((await dashboard.get('/rules')).status).toBe(403);
    expect((await dashboard.get('/deliveries')).text).not.toContain(demo);
  });

  it('can be ended while the forge is unavailable', async () => {
    const dashboard = await visitAs(eve);
    const before = harness.proxy.decide;
    const { text } = await dashboard.get('/');
    harness.proxy.decide = () => ({ kind: 'reset' });
    nowMs += 60_001;

    const left = await dashboard.post(
      'sign-out',
      /sign-out"><input type="hidden" name="mark" value="(\w+)"/.exec(text)?.[1] ?? '',
    );

    expect(left.status).toBe(303);
    harness.proxy.decide = before;
    expect((await dashboard.get('/')).status).toBe(401);
  });

  it('shows other repositories if the forge fails for one', async () => {
    const dashboard = await visitAs(eve);
    const before = harness.proxy.decide;
    harness.proxy.decide = ({ path }) =>
      path.startsWith(`/api/v1/repos/${demo}`)
        ? { kind: 'answer', status: 500, body: '{}' }
        : { kind: 'pass' };
    nowMs += 60_001;

    const { status, text } = await dashboard.get('/deliveries');

    harness.proxy.decide = before;
    expect(status).toBe(200);
    expect(text).toContain('the forge did not say whether you may see them');
    expect(text).not.toContain(demo);
  });

  it('shows nothing while the forge does not answer, and signs no one out', async () => {
    const dashboard = await visitAs(eve);
    const before = harness.proxy.decide;
    harness.proxy.decide = () => ({ kind: 'reset' });
    nowMs += 60_001;

    const answer = await dashboard.get('/deliveries');

    expect([502, 504]).toContain(answer.status);
    expect(answer.text).not.toContain(at.owner);
    harness.proxy.decide = before;
    expect((await dashboard.get('/deliveries')).status).toBe(200);
  });
});
