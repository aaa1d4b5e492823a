import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checks } from '../../../src/cli/commands/doctor.ts';
import { databaseChecks } from '../../../src/cli/connection/checks/database-checks.ts';
import type { Examination } from '../../../src/cli/connection/checks/examination.ts';
import { clockFinding } from '../../../src/cli/connection/checks/forge-checks.ts';
import { nodeFinding, spaceFinding } from '../../../src/cli/connection/checks/machine-checks.ts';
import type { Finding } from '../../../src/cli/connection/finding.ts';
import { ownEventsFinding } from '../../../src/cli/connection/forge-findings.ts';
import type { IncidentKind } from '../../../src/engine/incidents/incident.ts';
import { ReeveError } from '../../../src/platform/errors.ts';
import { rememberServerAccount } from '../../../src/server/server-account.ts';
import type { Variables } from '../../../src/server/settings/config.ts';
import { takeWorkerLock } from '../../../src/store/sqlite/lock.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { type BareServer, json, startBareServer } from '../../support/bare-server.ts';
import { reeve, reeveProcess, start, waitForExit, waitForOutput } from '../../support/command.ts';
import { type CommandSetup, entriesOf, makeCommandSetup } from '../../support/command-setup.ts';
import { basic, type ContractForge, contractForges } from '../../support/contract-forge.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import { isThorough } from '../../support/figure.ts';

/** Breaks a working connection. The returned variables are added to the doctor's environment. */
type Break = (setup: DoctorSetup) => Promise<unknown>;
type DoctorSetup = CommandSetup & {
  /** Changes the hook of the repository. */
  editHook(body: object): Promise<void>;
  /** Writes a rule file of the operator and returns the environment that names it. */
  rules(text: string): Promise<Variables>;
  /** Changes the operator file. */
  editOperatorFile(edit: (text: string) => string): Promise<void>;
  /** Registers a function that runs at the end of the test. */
  later(end: () => Promise<unknown>): void;
  bare(answer: Parameters<typeof startBareServer>[0]): Promise<BareServer>;
};

const strong = 'kR7vQ2mZ9xB4nL6tW1sD8fH3jP5gC0yA';
const ruleOf = (on: string, step: string): string =>
  `version: 1\nrules:\n  one:\n    on: ${on}\n    steps:\n      - ${step}\n`;
const labels = '{ uses: set-labels, with: { add: [x] } }';
const tags = '{ uses: protect-tags, with: { tags: [{ name_pattern: "v*" }] } }';
const overOrganizations = (step: string): string =>
  ruleOf('{ schedule: "17 3 * * *" }\n    each: organization', step);
const syncOrganization = '{ uses: sync-organization, with: { website: https://acme.example.org } }';
const hooksPath = ({ repository }: CommandSetup): string => `/repos/${repository}/hooks`;

/** Exit statuses other than 1: invalid settings, and a forge that cannot be reached. */
const statuses: Readonly<Record<string, number>> = {
  'a short secret': 2,
  'no answer': 3,
  'an hour between': 3,
};

/** Id of the check, what is broken, the function that breaks it, and a pattern for the finding or its advice. */
const rows: readonly (readonly [string, string, Break, RegExp])[] = [
  ['settings', 'a short secret', async () => ({ WEBHOOK_SECRET: 'short' }), /at least 24 are needed/],
  [
    'secret-strength',
    'a placeholder',
    async () => ({ WEBHOOK_SECRET: 'change-me-change-me-change-me' }),
    /looks like an example/,
  ],
  [
    'secret-strength',
    'one letter',
    async () => ({ WEBHOOK_SECRET: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' }),
    /few distinct characters/,
  ],
  [
    'secret-strength',
    'one value for both',
    async () => ({ WEBHOOK_SECRET: strong, WEBHOOK_AUTHORIZATION: `Bearer ${strong}` }),
    /header and signature/,
  ],
  ['file-modes', 'an open env file', async ({ envFile }) => chmod(envFile, 0o644), /can read .*reeve\.env/],
  [
    'file-modes',
    'an open password of the dashboard',
    async ({ path }) =>
      writeFile(path('data/dashboard.password'), 'a password of the dashboard\n', { mode: 0o644 }),
    /can read .*dashboard\.password/,
  ],
  [
    'file-modes',
    'an open data folder',
    async ({ path }) => chmod(path('data'), 0o750),
    /can read .*data.*chmod 700 .*data/s,
  ],
  [
    'file-modes',
    'an open folder of the forge of a demo',
    async ({ path }) => {
      await mkdir(path('data/forge/repositories'), { recursive: true, mode: 0o700 });
      await chmod(path('data/forge/repositories'), 0o755);
      await writeFile(path('data/forge/forge.db'), '', { mode: 0o644 });
    },
    /forge\.db.*repositories.*chmod 600 .*forge\.db; chmod 700 .*repositories/s,
  ],
  ['file-modes', 'an open token file', async ({ path }) => chmod(path('token'), 0o604), /chmod 600 .*token/],
  ['bind', 'an open address', async () => ({ HOST: '0.0.0.0' }), /not encrypted/],
  [
    'data-folder',
    'a folder that is gone',
    async ({ path }) => ({ REEVE_DATA: path('gone') }),
    /does not exist/,
  ],
  [
    'data-folder',
    'a folder that takes nothing',
    async () => ({ REEVE_DATA: '/proc/self' }),
    /cannot be written/,
  ],
  ['store', 'a newer schema', async ({ path }) => withStore(path, 'PRAGMA user_version = 99'), /schema 99/],
  ['store', 'junk', async ({ path }) => writeFile(path('data/reeve.db'), 'x'.repeat(8192)), /is not a store/],
  [
    'process',
    'another program',
    async ({ port, later }) => {
      const other = await listenOn(port);
      later(other);
    },
    /another program listens/,
  ],
  [
    'process',
    'a second process',
    async ({ path, later }) => {
      const lock = takeWorkerLock(path('data/reeve.db'));
      later(async () => lock.release());
    },
    /in use by another Reeve/,
  ],
  [
    'restart',
    'a running Reeve that started with another forge',
    async ({ envFile, folder, forge, later }) => {
      const server = start(['serve', '--settings', envFile], { cwd: folder });
      later(async () => {
        server.kill();
        await waitForExit(server);
      });
      await waitForOutput(server, /"listening"/);
      const proxy = await startFaultProxy(forge.url);
      later(() => proxy.close());
      return { FORGE_URL: proxy.url };
    },
    /the running Reeve started with other settings: FORGE_URL.*restart it/,
  ],
  ['rules', 'a broken rule', ({ rules }) => rules(ruleOf('nothing', labels)), /1 problem: /],
  [
    'named-secrets',
    'a rule that names a secret that does not exist',
    ({ rules }) => rules(ruleOf('issues', '{ uses: notify, with: { to: { secret: CHAT }, text: hi } }')),
    /there is no secret named "CHAT".*\(rule one\)/,
  ],
  [
    'heartbeat',
    'a heartbeat that is held',
    async ({ path, editOperatorFile }) => {
      await editOperatorFile((text) => `${text}heartbeat: { to: BEAT }\n`);
      const store = await openSqliteStore({ path: path('data/reeve.db'), role: 'reader' });
      const at = new Date().toISOString();
      await store.remember('heartbeat', { state: 'held', at, since: at, why: 'sees no runner' });
      await store.close();
      return { REEVE_SECRET_BEAT: 'https://127.0.0.1/a-secret-path' };
    },
    /the heartbeat is held since .*: sees no runner/,
  ],
  ['forge', 'no answer', async () => ({ FORGE_URL: 'http://127.0.0.1:9' }), /cannot be reached/],
  [
    'forge',
    'no forge',
    async ({ bare }) => ({ FORGE_URL: (await bare((_, response) => json(response, {}, 404))).url }),
    /is not a forge/,
  ],
  [
    'clock',
    'an hour between',
    async ({ bare }) => {
      const earlier = () => new Date(Date.now() - 3_600_000).toUTCString();
      const { url } = await bare((_, response) =>
        json(response, { version: '1.27.0' }, 200, { date: earlier() }),
      );
      return { FORGE_URL: url };
    },
    // A busy machine may add some seconds.
    /is 3(599|60\d) s ahead of/,
  ],
  [
    'token',
    'a token that was removed',
    async ({ forge, bot, tokenFile }) => {
      const file = await tokenFile(bot, ['all']);
      const token = await readFile(file, 'utf8');
      const tokens = await forge.ask('GET', `/users/${bot.name}/tokens`, {
        headers: basic(bot.name, bot.password),
      });
      const [{ id }] = tokens.json.filter((one: { token_last_eight: string }) =>
        token.endsWith(one.token_last_eight),
      );
      await forge.ask('DELETE', `/users/${bot.name}/tokens/${id}`, {
        headers: basic(bot.name, bot.password),
      });
      return { FORGE_TOKEN: token };
    },
    /create a new access token/,
  ],
  [
    'administrator',
    'an administrator',
    async ({ forge }) => ({ FORGE_TOKEN: forge.adminToken }),
    /site administrator/,
  ],
  [
    'scopes',
    'a token that may read alone',
    async ({ bot, tokenFile }) => {
      const file = await tokenFile(bot, ['read:user', 'read:repository', 'read:organization', 'read:issue']);
      return { FORGE_TOKEN: await readFile(file, 'utf8') };
    },
    /lacks the scopes write:issue \(to set labels/,
  ],
  [
    'scopes',
    'a token that cannot create the missing hook',
    async (setup) => {
      const [{ id }] = await setup.hooks();
      await setup.forge.ask('DELETE', `${hooksPath(setup)}/${id}`, { as: setup.owner });
      const scopes = ['read:user', 'read:repository', 'read:organization', 'write:issue'];
      return { FORGE_TOKEN: await readFile(await setup.tokenFile(setup.bot, scopes), 'utf8') };
    },
    /lacks the scopes write:repository \(to create the hook of repository /,
  ],
  [
    'served',
    'no star',
    async ({ forge, bot, repository }) =>
      void (await forge.ask('DELETE', `/user/starred/${repository}`, { as: bot })),
    /no repository is served/,
  ],
  [
    'account',
    'a server that started as another account',
    async ({ path }) => {
      const store = await openSqliteStore({ path: path('data/reeve.db'), role: 'reader' });
      await rememberServerAccount(store, { id: 987_654, login: 'former-bot' });
      await store.close();
    },
    /the token belongs to @\S+, and the server started as @former-bot.*create a token with @former-bot/s,
  ],
  [
    'served',
    'a repository in the operator file that does not exist',
    ({ editOperatorFile }) => editOperatorFile((text) => `${text}repositories: [acme/nowhere]\n`),
    /acme\/nowhere in the operator file: there is no such repository/,
  ],
  [
    'access',
    'less access',
    async (setup) => {
      await setup.forge.share(setup.repository, setup.owner, { with: setup.bot, permission: 'write' });
      return setup.rules(ruleOf('push', tags));
    },
    /is writer, and rule one needs admin/,
  ],
  [
    'access',
    'an argument that needs more',
    async (world) => {
      await world.forge.share(world.repository, world.owner, { with: world.bot, permission: 'write' });
      return world.rules(ruleOf('issues', '{ uses: set-issue, with: { pinned: true } }'));
    },
    /is writer, and rule one needs admin/,
  ],
  [
    'access',
    'an organization that the account does not own',
    ({ rules }) => rules(overOrganizations(syncOrganization)),
    /the account is no member of the organization \S+, and rule one needs owner for action sync-organization/,
  ],
  [
    'access',
    'a rule that visits organizations and sees none',
    ({ rules }) =>
      rules(
        overOrganizations(
          '{ uses: report-issue, with: { when: "false", repository: acme/ops, key: k, title: t } }',
        ),
      ),
    /rule one sees no organization \(the account is a member of none that in includes\)/,
  ],
  [
    'capabilities',
    'events it never sends',
    ({ rules }) => rules(ruleOf('action_run_failure', '{ uses: set-status, with: { state: success } }')),
    /does not support (the )?hook events?/,
  ],
  [
    'sign-in',
    'no application',
    ({ editOperatorFile }) =>
      editOperatorFile((text) => `${text}dashboard: { url: https://reeve.example.org }\n`),
    /there is none/,
  ],
  [
    'hooks',
    'an address and no place',
    ({ editOperatorFile }) => editOperatorFile((text) => text.replace(/ +repositories:\n.*\n/, '')),
    /does not list a location/,
  ],
  [
    'hook-missing',
    'a removed hook',
    async (setup) => {
      const [{ id }] = await setup.hooks();
      await setup.forge.ask('DELETE', `${hooksPath(setup)}/${id}`, { as: setup.owner });
    },
    /has no hook to/,
  ],
  [
    'hook-elsewhere',
    'another target',
    ({ editHook }) => editHook({ config: { url: 'http://127.0.0.1:9/webhook' } }),
    /now points to another address: http:\/\/127\.0\.0\.1:9.*run reeve setup here only if that one is stopped for good/s,
  ],
  [
    'hook-inactive',
    'a hook switched off',
    ({ editHook }) => editHook({ active: false }),
    /has a disabled hook/,
  ],
  [
    'hook-duplicate',
    'a second hook',
    async (setup) => {
      const [{ config }] = await setup.hooks();
      await setup.forge.ask('POST', hooksPath(setup), {
        as: setup.owner,
        body: { type: 'gitea', active: true, config: { ...config, content_type: 'json' } },
      });
    },
    /has 2 hooks/,
  ],
  [
    'hook-events',
    'a deafened hook',
    ({ editHook }) => editHook({ events: ['push'] }),
    /lacks the events .*issues/,
  ],
  [
    'served-hooks',
    'C3: a served repository without a hook',
    async ({ forge, bot, owner }) => {
      const other = await forge.makeRepository(owner, { auto_init: true });
      await forge.ask('PUT', `/user/starred/${other}`, { as: bot });
    },
    /no hook delivers from .*, of 2 served repositories/,
  ],
  [
    'hook-secret',
    'other secrets in the settings',
    async () => ({ WEBHOOK_SECRET: strong }),
    /created with other secrets/,
  ],
  [
    'webhook-address',
    'an address that leads elsewhere',
    async ({ bare, editOperatorFile }) => {
      const { url } = await bare((_, response) => json(response, { message: 'not here' }, 404));
      await editOperatorFile((text) => text.replace(/url: .*/, `url: ${url}/webhook`));
    },
    /does not reach this Reeve \(it answers 404\)/,
  ],
  [
    'delivery',
    'another header on the hook',
    ({ editHook }) => editHook({ authorization_header: `Bearer ${strong}` }),
    /does not match the settings/,
  ],
  ['dead', 'a delivery that was given up', async ({ path }) => bury(path), /[12] given up/],
  [
    'rule-failed',
    'a rule that failed',
    ({ path }) => raise(path, 'rule-failed'),
    /rules that failed: 4: .*#r0, once, last 2\d{3}-.* UTC: no such thing.*; and 1 more/,
  ],
  [
    'merged-elsewhere',
    'a merge into another branch than planned',
    ({ path }) => raise(path, 'merged-elsewhere'),
    /merges into another branch than planned: 4/,
  ],
  [
    'sweep-failed',
    'a sweep that was refused',
    ({ path }) => raise(path, 'sweep-failed'),
    /did not reach every item: 4/,
  ],
  [
    'account-changed',
    'a login that another account has now',
    ({ path }) => raise(path, 'account-changed'),
    /another account has now: 4/,
  ],
  [
    'file-broken',
    'a broken file of a repository',
    ({ path }) => raise(path, 'file-broken'),
    /invalid rule files: 4/,
  ],
];

async function withStore(path: (name: string) => string, sql: string): Promise<void> {
  const database = new DatabaseSync(path('data/reeve.db'));
  database.exec(sql);
  database.close();
}

async function bury(path: (name: string) => string): Promise<void> {
  const store = await openSqliteStore({ path: path('data/reeve.db'), role: 'worker' });
  const delivery = {
    uuid: 'a',
    eventType: 'push',
    entry: 'environment',
    contentType: 'application/json',
    receivedAt: new Date(),
    body: Buffer.from('{'),
  };
  const { id } = await store.accept(delivery);
  await store.route([
    ...(await store.unrouted(50)).map((one) => ({ id: one.id, to: 'dead', reason: 'not JSON' }) as const),
    { id, to: 'dead', reason: 'not JSON' },
  ]);
  await store.close();
}

async function raise(path: (name: string) => string, kind: IncidentKind): Promise<void> {
  const store = await openSqliteStore({ path: path('data/reeve.db'), role: 'reader' });
  const keys = ['r0', 'r1', 'r2', 'r3'].map((name) => `acme/demo/.reeve.yml#${name}`);
  const about = { kind, reason: 'no such thing', level: 'repository' } as const;
  await store.raise(keys.map((key, at) => ({ ...about, key, at: new Date(Date.now() - at * 1_000) })));
  await store.close();
}

async function listenOn(port: number): Promise<() => Promise<unknown>> {
  const { createServer } = await import('node:http');
  const server = createServer((_request, response) => response.writeHead(404).end('nothing'));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return () => new Promise((resolve) => server.close(resolve));
}

const firstOfEach = (all: typeof rows): typeof rows =>
  all.filter(([id], index) => all.findIndex((one) => one[0] === id) === index);

it('every check is broken by at least one test', () => {
  const alone = [
    'node',
    'forge-tls',
    'dashboard-tls',
    'target',
    'own-events',
    'runners',
    'scope',
    'labels',
    'names',
    'workflows',
    'codeowners',
    'teams',
    'polling',
    'polling-hooks',
    'pauses',
    ...databaseChecks.map(({ id }) => id),
  ];
  const broken = new Set([...rows.map(([id]) => id), ...alone]);

  expect(checks.map(({ id }) => id).filter((id) => !broken.has(id))).toEqual([]);
});

describe.each(contractForges)('lines of CODEOWNERS that match no file on $name', ({ start: startForge }) => {
  let forge: ContractForge;
  let connection: CommandSetup;
  beforeAll(async () => {
    forge = await startForge();
    connection = await makeCommandSetup(forge);
    expect((await connection.setup()).status).toBe(0);
  });
  afterAll(async () => {
    await connection.close();
    await forge.close();
  });
  const look = async (environment: Variables = {}) =>
    entriesOf(await connection.doctor(environment), 'codeowners')[0];
  const write = (path: string, text: string) =>
    forge.ask('POST', `/repos/${connection.repository}/contents/${path}`, {
      as: connection.owner,
      body: { content: Buffer.from(text).toString('base64'), message: path },
    });

  it('cause a warning if a rule of the operator reads the file', async () => {
    expect(await look()).toMatchObject({ state: 'skipped' });
    const rule = 'steps: [{ uses: request-reviewers, with: { from: codeowners } }]';
    const text = `version: 1\nrules:\n  owners: { on: pull_request.opened, ${rule} }\n`;
    const folder = connection.path('rules');
    await mkdir(folder, { recursive: true });
    await writeFile(`${folder}/owners.yml`, text);
    const environment = { REEVE_RULES: folder };
    expect(await look(environment)).toMatchObject({ state: 'ok' });

    await write('lib/a.ts', 'a\n');
    await write('CODEOWNERS', `lib @${connection.owner.name}\nlib/.* @${connection.owner.name}\n`);

    expect(await look(environment)).toMatchObject({
      state: 'warning',
      text: `${connection.repository}: Of CODEOWNERS, no file matches line 1 (lib).`,
      advice: expect.stringContaining('lib/.*'),
    });
  });

  it('and a rule about runners causes a warning if the account sees none', async () => {
    const look = async (environment: Variables) =>
      entriesOf(await connection.doctor(environment), 'runners')[0];
    expect(await look({})).toMatchObject({ state: 'skipped' });
    const folder = connection.path('runner-rules');
    await mkdir(folder, { recursive: true });
    await writeFile(
      `${folder}/runners.yml`,
      `version: 1
rules:
  offline:
    on: { schedule: "*/5 * * * *" }
    each: runner
    steps:
      - uses: report-issue
        with: { when: runner.status == "offline", repository: acme/ops, key: x, title: x, body: x }
`,
    );

    expect(await look({ REEVE_RULES: folder })).toMatchObject({
      state: 'warning',
      text: expect.stringContaining('rule offline: sees no runner'),
      advice: expect.stringContaining('an owner of it'),
    });
  });
});

describe.each(contractForges)('teams with write access on $name', ({ start: startForge }) => {
  it('cause a warning until the account sees their members, if a rule depends on who may write', async () => {
    const forge = await startForge();
    const connection = await makeCommandSetup(forge);
    expect((await connection.setup()).status).toBe(0);
    const { organization, owner, bot, repository } = connection;
    const makeTeam = async (name: string, code: string): Promise<number> => {
      const body = { name, permission: 'read', units_map: { 'repo.code': code, 'repo.pulls': 'read' } };
      const { json } = await forge.ask('POST', `/orgs/${organization}/teams`, { as: owner, body });
      await forge.ask('PUT', `/teams/${json.id}/repos/${repository}`, { as: owner });
      return json.id;
    };
    const folder = connection.path('rules');
    await mkdir(folder, { recursive: true });
    const look = async () => entriesOf(await connection.doctor({ REEVE_RULES: folder }), 'teams')[0];
    const write = (rule: string) =>
      writeFile(`${folder}/one.yml`, `version: 1\nrules:\n  one: { on: pull_request, ${rule} }\n`);

    await write('steps: [{ uses: set-labels, with: { add: [kept] } }]');
    expect(await look()).toMatchObject({ state: 'skipped' });
    await write('steps: [{ uses: merge }]');
    expect(await look()).toMatchObject({ state: 'ok' });
    const writers = await makeTeam('writers', 'write');
    // Every assignable account may write.
    expect(await look()).toMatchObject({ state: 'ok' });
    await makeTeam('readers', 'read');

    expect(await look()).toMatchObject({
      state: 'warning',
      text: expect.stringContaining(
        `in ${repository} the account does not see the members of 1 team with write access (writers), on which rule one depends`,
      ),
      advice: expect.stringContaining('a member of these teams'),
    });
    await forge.ask('PUT', `/teams/${writers}/members/${bot.name}`, { as: owner });
    expect(await look()).toMatchObject({ state: 'ok' });

    await connection.close();
    await forge.close();
  });
});

describe.each(contractForges)('rules about organizations on $name', ({ start: startForge }) => {
  it('fail until the account owns each organization of a served repository that in includes', async () => {
    const forge = await startForge();
    const connection = await makeCommandSetup(forge);
    expect((await connection.setup()).status).toBe(0);
    const { organization, owner, bot } = connection;
    const folder = connection.path('rules');
    await mkdir(folder, { recursive: true });
    const look = async (scope = '') => {
      const text = overOrganizations(syncOrganization).replace('    on:', `${scope}    on:`);
      await writeFile(`${folder}/one.yml`, text);
      return entriesOf(await connection.doctor({ REEVE_RULES: folder }), 'access')[0];
    };
    const joinTeam = async (id: number) => {
      const path = `/teams/${id}/members/${bot.name}`;
      expect((await forge.ask('PUT', path, { as: owner })).status).toBe(204);
    };

    expect(await look()).toMatchObject({
      state: 'wrong',
      text: expect.stringContaining(`the account is no member of the organization ${organization}`),
      advice: expect.stringContaining(`the owners of ${organization}`),
    });
    expect(await look('    in: elsewhere/*\n')).toMatchObject({
      state: 'wrong',
      text: 'rule one sees no organization (elsewhere: the account is not a member of it)',
    });
    const body = { name: 'readers', permission: 'read', units: ['repo.code'] };
    const team = await forge.ask('POST', `/orgs/${organization}/teams`, { as: owner, body });
    await joinTeam(team.json.id);
    expect(await look()).toMatchObject({
      state: 'wrong',
      text: expect.stringContaining(`a member and no owner of the organization ${organization}`),
    });
    const teams = await forge.ask('GET', `/orgs/${organization}/teams`, { as: owner });
    await joinTeam(teams.json.find(({ name }: { name: string }) => name === 'Owners').id);
    expect(await look()).toMatchObject({
      state: 'ok',
      text: expect.stringContaining('in 1 repository and 1 organization, the access'),
    });

    const file = await connection.tokenFile(bot, ['write:organization', 'read:repository']);
    const limited = await connection.doctor({
      REEVE_RULES: folder,
      FORGE_TOKEN: await readFile(file, 'utf8'),
    });
    expect(entriesOf(limited, 'access')[0]?.state).not.toBe('ok');

    await connection.close();
    await forge.close();
  });

  it('are not certified where the forge does not say whether the account is a member', async () => {
    const forge = await startForge();
    const connection = await makeCommandSetup(forge);
    expect((await connection.setup()).status).toBe(0);
    const { organization, bot } = connection;
    const folder = connection.path('rules');
    await mkdir(folder, { recursive: true });
    await writeFile(
      `${folder}/one.yml`,
      ruleOf(
        '{ schedule: "17 3 * * *" }\n    each: repository\n    if: teams.size() > 0',
        '{ uses: report-issue, with: { key: k, title: t } }',
      ),
    );
    const proxy = await startFaultProxy(forge.url);
    proxy.decide = ({ path }) =>
      path.includes(`/users/${bot.name}/orgs/${organization}/permissions`)
        ? { kind: 'answer', status: 403, body: '{"message":"not for you"}' }
        : { kind: 'pass' };

    const output = await connection.doctor({ REEVE_RULES: folder, FORGE_URL: proxy.url });

    expect(entriesOf(output, 'access')[0]).toMatchObject({
      state: 'skipped',
      text: expect.stringContaining(
        `the forge does not say whether the account is a member of ${organization}; 1 rule needs: `,
      ),
    });
    await proxy.close();
    await connection.close();
    await forge.close();
  });

  it('need no organization where a person owns the served repository', async () => {
    const forge = await startForge();
    const connection = await makeCommandSetup(forge);
    expect((await connection.setup()).status).toBe(0);
    const { owner, bot, repository } = connection;
    const other = await forge.makeRepository(owner, { auto_init: true });
    await forge.share(other, owner, { with: bot, permission: 'admin' });
    await forge.ask('PUT', `/user/starred/${other}`, { as: bot });
    await forge.ask('DELETE', `/user/starred/${repository}`, { as: bot });
    const folder = connection.path('rules');
    await mkdir(folder, { recursive: true });
    await writeFile(
      `${folder}/one.yml`,
      overOrganizations(syncOrganization).replace('each: organization', 'each: repository'),
    );

    // Gitea answers for a person as for an organization without members; the embedded forge refuses.
    const proxy = await startFaultProxy(forge.url);
    proxy.decide = ({ path }) =>
      path.includes(`/orgs/${owner.name}/permissions`)
        ? { kind: 'answer', status: 200, body: '{"is_owner":false,"can_read":false}' }
        : { kind: 'pass' };

    for (const environment of [{}, { FORGE_URL: proxy.url }]) {
      const entries = entriesOf(await connection.doctor({ REEVE_RULES: folder, ...environment }), 'access');
      expect(entries[0]).toMatchObject({
        state: 'ok',
        text: expect.stringContaining('in 1 repository, the access'),
      });
    }

    await proxy.close();

    await connection.close();
    await forge.close();
  });
});

it('each pause in force is a warning with its scope, author and start, and the command that ends it', async () => {
  const pauses = checks.find(({ id }) => id === 'pauses');
  const store = await openSqliteStore({ path: ':memory:', role: 'reader' });
  const look = () => pauses?.run({ store: async () => store } as Examination);
  expect(await look()).toEqual({ state: 'ok', text: 'nothing is paused' });

  await store.pause({ kind: 'all' }, 'root by reeve pause');
  await store.pause({ kind: 'rule', name: 'pack/label' }, 'ada by reeve pause');

  expect(await look()).toEqual({
    state: 'warning',
    text: expect.stringMatching(
      /^all writes paused since 2\d{3}-\S+ \S+ UTC by root by reeve pause; rule pack\/label paused since .* UTC by ada by reeve pause$/,
    ),
    advice: "if it is no longer intended: reeve resume all; reeve resume '#pack/label'",
  });
  await store.close();
});

describe.each(contractForges)('rules without effect on $name', ({ start: startForge }) => {
  it('cause warnings: a label that does not exist where they apply, and an in that includes nothing served', async () => {
    const forge = await startForge();
    const connection = await makeCommandSetup(forge);
    expect((await connection.setup()).status).toBe(0);
    const folder = connection.path('rules');
    await mkdir(folder, { recursive: true });
    const steps = 'steps: [{ uses: set-labels, with: { add: [no-such-label] } }]';
    await writeFile(
      `${folder}/labels.yml`,
      `version: 1
rules:
  here: { on: issues.opened, ${steps} }
  elsewhere: { in: nowhere/*, on: issues.opened, ${steps} }
  waiting: { on: issues.opened, if: 'labels.exists(l, l.name == "never-made")', steps: [{ uses: comment, with: { text: a } }] }
`,
    );

    const result = await connection.doctor({ REEVE_RULES: folder });

    expect(entriesOf(result, 'labels')[0]).toMatchObject({
      state: 'warning',
      text: `rule here: there is no label "no-such-label" in ${connection.repository}: the rule fails there; create it, or add create to the step; 1 more`,
    });
    expect(entriesOf(result, 'scope')[0]).toMatchObject({
      state: 'warning',
      text: 'rule elsewhere: in: nowhere/* does not include the served repository: the rule never runs',
    });
    await connection.close();
    await forge.close();
  });
});

describe.each(contractForges)('teams and repositories that rules name on $name', ({ start: startForge }) => {
  it('cause a warning if the account does not find them', async () => {
    const forge = await startForge();
    const connection = await makeCommandSetup(forge);
    expect((await connection.setup()).status).toBe(0);
    const { organization, owner, bot, repository } = connection;
    const folder = connection.path('rules');
    await mkdir(folder, { recursive: true });
    const look = async (team: string, place: string) => {
      await writeFile(
        `${folder}/names.yml`,
        `version: 1
rules:
  tags:
    on: { schedule: "17 3 * * *" }
    each: repository
    steps: [{ uses: protect-tags, with: { tags: [{ name_pattern: "v*", whitelist_teams: [${team}] }] } }]
  report:
    on: { schedule: "27 3 * * *" }
    each: repository
    steps: [{ uses: report-issue, with: { repository: ${place}, key: a, title: b } }]
`,
      );
      return entriesOf(await connection.doctor({ REEVE_RULES: folder }), 'names')[0];
    };
    // Only members may list teams, so nothing is known of them before.
    expect(await look('release', repository)).toMatchObject({
      state: 'skipped',
      text: expect.stringMatching(
        /^steps name teams that the account may not list: .*\/orgs\/\S+\/teams: the forge answered 403/,
      ),
    });
    expect(await look('release', 'acme/ops')).toMatchObject({
      state: 'warning',
      text: 'rule report: there is no repository acme/ops that the account can see: the rule fails there',
    });
    const body = { name: 'Readers', permission: 'read', units: ['repo.code'] };
    const made = await forge.ask('POST', `/orgs/${organization}/teams`, { as: owner, body });
    const path = `/teams/${made.json.id}/members/${bot.name}`;
    expect((await forge.ask('PUT', path, { as: owner })).status).toBe(204);

    expect(await look('release', repository)).toMatchObject({
      state: 'warning',
      text: `rule tags: there is no team "release" in ${organization}: the rule fails there`,
    });
    expect(await look('readers', repository)).toMatchObject({ state: 'ok' });
    await connection.close();
    await forge.close();
  });
});

describe.each(contractForges)('a team that a condition names on $name', ({ start: startForge }) => {
  it('is read as the rule reads it: an account that may not see it is a problem, with the whole remedy', async () => {
    const forge = await startForge();
    const connection = await makeCommandSetup(forge);
    expect((await connection.setup()).status).toBe(0);
    const { organization, owner, bot } = connection;
    const folder = connection.path('rules');
    await mkdir(folder, { recursive: true });
    const write = (text: string) => writeFile(`${folder}/teams.yml`, text);
    const condition = `'!(pull_request.user.login in team("${organization}/core"))'`;
    const rule = `{ on: pull_request.opened, if: ${condition}, ${'steps: [{ uses: comment, with: { text: a } }]'} }`;
    await write(`version: 1\nrules:\n  welcome: ${rule}\n`);
    const look = async () => {
      const output = await connection.doctor({ REEVE_RULES: folder });
      return { status: output.status, finding: entriesOf(output, 'access')[0] };
    };
    const makeTeam = async (body: object) => {
      const made = await forge.ask('POST', `/orgs/${organization}/teams`, {
        as: owner,
        body: { permission: 'read', units: ['repo.code'], ...body },
      });
      return made.json;
    };
    const join = (id: number) => forge.ask('PUT', `/teams/${id}/members/${bot.name}`, { as: owner });
    const core = await makeTeam({ name: 'core', visibility: 'private' });

    const stranger = await look();
    await join((await makeTeam({ name: 'bots' })).id);
    const member = await look();
    await join(core.id);
    const insider = await look();

    const advice = expect.stringMatching(
      /a member of the organization by a team of its own, and .* the visibility limited, or put the account into that team/,
    );
    expect(stranger).toMatchObject({
      status: 1,
      finding: {
        state: 'wrong',
        text: expect.stringMatching(
          new RegExp(`^rule welcome cannot read team\\("${organization}/core"\\): .* the forge answered 403`),
        ),
        advice,
      },
    });
    // Forgejo has no visibility of teams, and shows every team to members.
    if (core.visibility !== undefined)
      expect(member).toMatchObject({
        status: 1,
        finding: {
          state: 'wrong',
          text: `rule welcome cannot read team("${organization}/core"): ${organization} has no team "core" that this account may see`,
          advice,
        },
      });
    expect(insider).toMatchObject({ status: 0, finding: { state: 'ok' } });

    // A rule that does not run where the account works needs nothing there.
    await write(
      `version: 1\nrules:\n  welcome: ${rule.replace('{ on', '{ in: nowhere/*, on').replace('/core', '/none')}\n`,
    );
    expect(await look()).toMatchObject({ status: 0, finding: { state: 'ok' } });
    await connection.close();
    await forge.close();
  });
});

describe.each(contractForges)('A9: workflows of forks on $name', ({ start: startForge }) => {
  let forge: ContractForge;
  let connection: CommandSetup;
  beforeAll(async () => {
    forge = await startForge();
    connection = await makeCommandSetup(forge);
    expect((await connection.setup()).status).toBe(0);
  });
  afterAll(async () => {
    await connection.close();
    await forge.close();
  });
  const look = async () => {
    const result = await connection.doctor();
    return { status: result.status, finding: entriesOf(result, 'workflows')[0] };
  };

  it('cause no warning if no served repository has workflows', async () => {
    expect(await look()).toMatchObject({ status: 0, finding: { state: 'ok' } });
  });

  it('cause a warning if a served repository has workflows and the account is not restricted', async () => {
    await forge.ask('POST', `/repos/${connection.repository}/contents/.gitea/workflows/ci.yml`, {
      as: connection.owner,
      body: { content: Buffer.from('on: pull_request\n').toString('base64'), message: 'ci' },
    });

    expect(await look()).toMatchObject({
      status: 0,
      finding: {
        state: 'warning',
        text: expect.stringContaining(
          `${connection.repository} has workflows, and @${connection.bot.name} is not`,
        ),
        advice: expect.stringContaining('restricted'),
      },
    });
    const printed = await reeveProcess(['doctor', '--settings', connection.envFile, '--no-test'], {
      cwd: connection.folder,
      environment: { PORT: String(connection.port), REEVE_DATA: connection.path('data') },
    });
    expect(printed.out).toMatch(/! workflows /);
    expect(printed.out).toContain('Nothing is wrong; 1 warning.');
    expect(printed.status).toBe(0);
  });

  it('cause no warning once the account is restricted, and setup recommends nothing', async () => {
    const recommended = entriesOf(await connection.setup(), 'restricted');
    await forge.ask('PATCH', `/admin/users/${connection.bot.name}`, {
      as: forge.adminToken,
      body: { login_name: connection.bot.name, source_id: 0, restricted: true },
    });

    expect(recommended).toMatchObject([{ state: 'warning' }]);
    expect(await look()).toMatchObject({ status: 0, finding: { state: 'ok' } });
    expect(entriesOf(await connection.setup(), 'restricted')).toMatchObject([{ state: 'ok' }]);
  });
});

describe('a condition that no test can produce on this machine is classified from given numbers', () => {
  const states = (findings: readonly Finding[]) => findings.map(({ state }) => state);

  it.each([
    [
      'node',
      [nodeFinding('24.1.0'), nodeFinding('22.18.0'), nodeFinding('22.17.9'), nodeFinding('20.19.1')],
      ['ok', 'ok', 'wrong', 'wrong'],
    ],
    [
      'disk',
      [
        spaceFinding('x', 2e8 * 2, 1e12),
        spaceFinding('x', 1e8, 1e12),
        spaceFinding('x', 1e8, 1e9),
        spaceFinding('x', 1e7, 1e9),
      ],
      ['ok', 'wrong', 'ok', 'wrong'],
    ],
    [
      'clock',
      [clockFinding(0, 30_000), clockFinding(0, 30_001), clockFinding(31_000, 0), clockFinding(0, 900)],
      ['ok', 'wrong', 'wrong', 'ok'],
    ],
    [
      'own-events',
      [
        ownEventsFinding('ada', 'changes', true),
        ownEventsFinding('ada', 'account', false),
        ownEventsFinding('ada', 'account', true),
      ],
      ['ok', 'ok', 'warning'],
    ],
  ] as const)('%s', (_, findings, expected) => {
    expect(states(findings)).toEqual(expected);
  });

  it.each([
    [{}, '3 deliveries settled, 0 waiting, 0 given up', 'ok'],
    [{ accepted: 2, claimed: 1 }, '3 deliveries settled, 3 waiting, 0 given up', 'ok'],
    [
      { accepted: 2, retry: 1, deferred: 4, dead: 1 },
      '3 deliveries settled, 7 waiting (1 for a retry, 4 deferred), 1 given up',
      'wrong',
    ],
  ])(
    'deliveries that wait for the forge, for a retry or for a budget are counted: %j',
    async (some, text, state) => {
      const counts = { accepted: 0, claimed: 0, retry: 0, deferred: 0, dead: 0, settled: 3, ...some };
      const store = async () => ({ counts: async () => counts });
      const check = checks.find(({ id }) => id === 'dead');

      expect(await check?.run({ store } as unknown as Examination)).toMatchObject({ state, text });
    },
  );

  it('says whether the clock of this machine is ahead or behind', () => {
    const texts = [
      [31_000, 0],
      [0, 31_000],
      [0, 12_000],
      [900, 0],
    ].map(([forgeMs = 0, ourMs = 0]) => clockFinding(forgeMs, ourMs).text);

    expect(texts).toEqual([
      'this machine’s clock is 31 s behind the forge’s',
      'this machine’s clock is 31 s ahead of the forge’s',
      'this machine’s clock is 12 s ahead of the forge’s',
      'the clocks of this machine and the forge agree',
    ]);
  });

  it.each([
    ['http://93.184.216.34', 'wrong'],
    ['https://93.184.216.34', 'ok'],
    ['http://10.1.2.3', 'ok'],
  ])('a token sent to %s is %s', async (forgeUrl, state) => {
    const check = checks.find(({ id }) => id === 'forge-tls');

    expect(await check?.run({ forgeUrl } as Examination)).toMatchObject({ state });
  });

  const lastPoll = {
    at: new Date().toISOString(),
    repositories: 2,
    found: 0,
    failed: 0,
    requests: 12,
    usualRequests: 12,
  };
  const ofRule = (on: string): unknown => ({
    rules: [{ name: 'one', on: [{ family: 'issues', activities: [on] }], steps: [] }],
  });
  const readAll = { rules: [], read: 1, unread: [], isWhole: true };
  const hasOwn = (on: string) => ({
    ...readAll,
    rules: (ofRule(on) as { rules: object[] }).rules.map((rule) => ({
      ...rule,
      source: 'home/infra/.reeve.yml',
    })),
  });
  it.each([
    ['not configured', undefined, undefined, [], 'skipped', /webhooks announce events/],
    ['before the first poll', 60, undefined, [], 'ok', /there was no poll yet/],
    [
      'in order',
      60,
      lastPoll,
      [ofRule('opened')],
      'ok',
      /every 60 s, about 720 requests an hour.*2 repositories/,
    ],
    ['failing', 60, { ...lastPoll, error: 'no answer' }, [], 'wrong', /failed: no answer/],
    ['too old', 60, { ...lastPoll, at: '2026-01-01T00:00:00Z' }, [], 'warning', /too long ago/],
    [
      'blind for a rule',
      60,
      lastPoll,
      [ofRule('assigned')],
      'warning',
      /one: polling does not find issues.assigned/,
    ],
    [
      'blind for a rule of a repository',
      60,
      lastPoll,
      [],
      'warning',
      /; home\/infra\/\.reeve\.yml: one: polling does not find issues.assigned$/,
      hasOwn('assigned'),
    ],
    ['right for the rule of a repository', 60, lastPoll, [], 'ok', /of 2 repositories$/, hasOwn('opened')],
    [
      'not examined everywhere',
      60,
      lastPoll,
      [],
      'ok',
      /the rule file of a\/b and 1 more cannot be read; only the files of the first 98 repositories were examined$/,
      { ...readAll, read: 98, unread: ['a/b', 'a/c'], isWhole: false },
    ],
    [
      'examined while the forge fails',
      60,
      lastPoll,
      [],
      'ok',
      /the rule files of repositories were not examined$/,
      new ReeveError('forge-unavailable', 'no answer'),
    ],
  ])('polling that is %s', async (_, poll, last, rules, state, text, served: object = readAll) => {
    const check = checks.find(({ id }) => id === 'polling');
    const examination = {
      settings: { poll },
      store: async () => ({ recall: async () => last }),
      rules: async () => rules,
      async servedRules() {
        if (served instanceof Error) throw served;
        return served;
      },
    };

    expect(await check?.run(examination as unknown as Examination)).toMatchObject({
      state,
      text: expect.stringMatching(text),
    });
  });

  it('a data folder that does not exist yet is left to the start of a server that polls', async () => {
    const data = join(await mkdtemp(join(tmpdir(), 'reeve-doctor-')), 'data');
    const connection = { FORGE_URL: 'http://127.0.0.1:9', FORGE_TOKEN: strong, REEVE_DATA: data };
    const find = async (environment: Record<string, string>) => {
      const { out } = await reeve(['doctor', '--no-test', '--json'], { environment });
      const found: readonly { id: string; state: string; text: string }[] = JSON.parse(out).checks;
      return found.filter(({ id }) => id === 'data-folder' || id === 'polling');
    };

    expect(await find({ ...connection, REEVE_POLL: '60' })).toMatchObject([
      { state: 'skipped', text: `${data} does not exist yet: start reeve serve --poll, which creates it` },
      { state: 'ok', text: expect.stringContaining('there was no poll yet') },
    ]);
    expect(existsSync(data)).toBe(false);
    const [folder] = await find({ ...connection, WEBHOOK_SECRET: strong });
    expect(folder).toMatchObject({ id: 'data-folder', text: `${data} does not exist` });
    await rm(dirname(data), { recursive: true });
  });

  it('polling needs no hooks, no secrets and no address', async () => {
    const examination = { settings: { poll: 60, secrets: [] } } as unknown as Examination;
    const needless = checks.filter(
      ({ id }) =>
        id.startsWith('hook') ||
        ['served-hooks', 'process', 'webhook-address', 'delivery', 'target'].includes(id),
    );

    for (const check of needless.filter(({ id }) => id !== 'hook-events'))
      expect({ id: check.id, ...(await check.run(examination)) }).toMatchObject({
        id: check.id,
        state: 'skipped',
      });
  });

  it.each([
    ['http://10.1.2.3:8080', '127.0.0.1', 'wrong'],
    ['http://93.184.216.34/bot', '127.0.0.1', 'wrong'],
    ['https://reeve.example.org', '0.0.0.0', 'ok'],
    ['http://localhost:8080', '127.0.0.1', 'ok'],
    ['http://localhost:8080', '0.0.0.0', 'wrong'],
    [undefined, '::1', 'ok'],
    [undefined, '0.0.0.0', 'wrong'],
  ])('a dashboard at %s, with Reeve on %s, is %s', async (dashboard, host, state) => {
    const check = checks.find(({ id }) => id === 'dashboard-tls');
    const settings = { dashboard, host } as Examination['settings'];

    expect(await check?.run({ settings } as Examination)).toMatchObject({ state });
  });
});

describe.each(contractForges)('doctor on $name', ({ start: startForge }) => {
  let forge: ContractForge;
  let setup: DoctorSetup;
  const ends: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    forge = await startForge();
  });
  afterAll(() => forge.close());
  beforeEach(async () => {
    const connection = await makeCommandSetup(forge);
    expect(await connection.setup()).toMatchObject({ status: 0 });
    setup = {
      ...connection,
      async editHook(body) {
        const [hook] = await connection.hooks();
        const whole = { events: hook.events, ...body };
        const answer = await forge.ask('PATCH', `${hooksPath(connection)}/${hook.id}`, {
          as: connection.owner,
          body: whole,
        });
        expect(answer.status).toBe(200);
      },
      async rules(text) {
        await mkdir(connection.path('rules'));
        await writeFile(connection.path('rules/one.yml'), text);
        return { REEVE_RULES: connection.path('rules') };
      },
      async editOperatorFile(edit) {
        const path = connection.path('reeve.yml');
        await writeFile(path, edit(await readFile(path, 'utf8')));
      },
      later: (end) => void ends.push(end),
      async bare(answer) {
        const server = await startBareServer(answer);
        ends.push(() => server.close());
        return server;
      },
    };
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
    await setup.close();
  });

  it('finds nothing wrong with the result of setup, alone and next to a running Reeve', async () => {
    const alone = await setup.doctor();
    const server = start(['serve', '--settings', setup.envFile], { cwd: setup.folder });
    setup.later(() => {
      server.kill();
      return waitForExit(server);
    });
    await waitForOutput(server, /"listening"/);
    const beside = await reeveProcess(['doctor', '--settings', 'reeve.env', '--all'], { cwd: setup.folder });

    expect(alone.entries.filter(({ state }) => state === 'wrong')).toEqual([]);
    expect(alone.status).toBe(0);
    expect(beside.out).toContain('Nothing is wrong.');
    expect(beside).toMatchObject({ status: 0, error: '' });
    expect(beside.out).toMatch(/✓ delivery +a delivery by the hook .* arrived and was verified/);
    for (const canary of setup.canaries) expect(beside.out).not.toContain(canary);

    await setup.editHook({ authorization_header: `Bearer ${strong}` });
    const refused = await reeveProcess(['doctor', '--settings', 'reeve.env'], { cwd: setup.folder });
    expect(refused.out).toMatch(/✗ delivery +a delivery by the hook .* does not match the settings/);
    expect(refused.out).toMatch(/→ run reeve setup again, which replaces the hook/);
    expect(refused.out).not.toContain('ALLOWED_HOST_LIST');
  });

  it('prints problems first, then what is connected, and counts the rest; --all lists it, JSON has every check', async () => {
    await chmod(setup.envFile, 0o644);
    const environment = { PORT: String(setup.port), REEVE_DATA: setup.path('data') };
    const run = (...flags: readonly string[]) =>
      reeve(['doctor', '--settings', setup.envFile, '--no-test', ...flags], { environment });

    const folded = await run();
    const whole = await run('--all');
    const { checks: entries } = JSON.parse((await run('--json')).out);

    const idsOf = (out: string) =>
      out.split('\n').flatMap((line) => /^[✓✗!–] (\S+) {2,}/.exec(line)?.[1] ?? []);
    expect(idsOf(folded.out)).toEqual(['file-modes', 'rules', 'forge', 'token', 'own-events', 'served']);
    expect(folded.out).toMatch(/^✗ file-modes .*\n +→ .*\n\n– rules +REEVE_RULES is not set/);
    const passed = /^✓ (\d+) other checks passed$/m.exec(folded.out)?.[1];
    const skipped = /^– not checked: (.*)$/m.exec(folded.out)?.[1]?.split(', ');
    expect(skipped).toContain('delivery');
    expect(6 + Number(passed) + (skipped?.length ?? 0)).toBe(entries.length);
    expect(folded.out).toMatch(/--all lists them\n1 thing is wrong\.\n$/);
    expect(whole.out.match(/^[✓✗!–] /gm)).toHaveLength(entries.length);
    expect(idsOf(whole.out)[0]).toBe('file-modes');
    expect(whole.out).not.toContain('other checks');
    expect([folded.status, whole.status, folded.error]).toEqual([1, 1, '']);
  });

  // Runs each check once; further ways to break it run only in a thorough run.
  it.each(isThorough ? rows : firstOfEach(rows))('%s: %s', async (id, title, breaks, words) => {
    const environment = (await breaks(setup)) as Variables | undefined;

    const result = await setup.doctor(environment ?? {});

    const [entry] = entriesOf(result, id);
    expect(entry).toMatchObject({ state: 'wrong', advice: expect.stringMatching(/.{8,}/) });
    expect(`${entry?.text} ${entry?.advice}`).toMatch(words);
    expect(result.status).toBe(statuses[title] ?? 1);
  });

  it('names the forge setting that allows deliveries if the forge sends nothing', async () => {
    const swallow = await setup.bare((_, response) => json(response, {}));
    await setup.editHook({ config: { url: `${swallow.url}/webhook` } });
    await setup.editOperatorFile((text) => text.replace(/url: .*/, `url: ${swallow.url}/webhook`));

    const result = await setup.doctor();

    expect(result.status).toBe(1);
    expect(entriesOf(result, 'delivery')[0]).toMatchObject({
      state: 'wrong',
      text: expect.stringContaining('no delivery'),
    });
    expect(entriesOf(result, 'target')[0]?.advice).toContain(
      'set ALLOWED_HOST_LIST = external,loopback, below [security] on Gitea 1.27 and later, below [webhook] on earlier',
    );
    expect(swallow.requests.some(({ path }) => path === '/webhook')).toBe(true);
  });

  it('recognises a running Reeve with other secrets', async () => {
    const server = start(['serve', '--settings', setup.envFile], { cwd: setup.folder });
    setup.later(() => {
      server.kill();
      return waitForExit(server);
    });
    await waitForOutput(server, /"listening"/);

    const result = await setup.doctor({ WEBHOOK_SECRET: strong });

    expect(entriesOf(result, 'process')[0]).toMatchObject({
      state: 'wrong',
      text: expect.stringContaining('other webhook secrets'),
    });
  });

  it('triggers no test delivery with --no-test, and those of organization hooks only in a thorough examination', async () => {
    const { organization, owner, bot, tokenFile } = setup;
    const adminTokenFile = await tokenFile(owner, ['all']);
    // The hook of the organization covers its own repositories.
    const other = await forge.makeRepository(owner, { auto_init: true });
    await forge.share(other, owner, { with: bot, permission: 'admin' });
    const asked = { organization: [organization], repository: [other], adminTokenFile };
    expect(await setup.setup(asked)).toMatchObject({ status: 0 });
    const environment = { SETUP_TOKEN_FILE: adminTokenFile };

    const untested = await setup.doctor(environment, { test: false });
    const thorough = await setup.doctor(environment, { thorough: true });

    expect(entriesOf(untested, 'delivery')[0]).toMatchObject({ state: 'skipped' });
    expect(untested.status).toBe(0);
    const [hidden] = entriesOf(await setup.doctor({}, { test: false }), 'hooks');
    expect(hidden).toMatchObject({
      state: 'skipped',
      text: expect.stringContaining(`organization ${organization}`),
    });
    expect(entriesOf(thorough, 'delivery')[0]?.text).toMatch(
      /hook of organization .* arrived .*hook of repository .* arrived/,
    );
    expect(thorough.status).toBe(0);
  });
});
