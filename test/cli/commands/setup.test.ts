import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adviceOf } from '../../../src/cli/connection/steps/steps.ts';
import type { Prompt } from '../../../src/cli/output/prompt.ts';
import { ReeveError } from '../../../src/platform/errors.ts';
import { packageRoot } from '../../../src/platform/package.ts';
import { loadRuleFiles } from '../../../src/rules/sources/folder.ts';
import { readEnvFile } from '../../../src/server/settings/env-file.ts';
import { builtProgram } from '../../support/built-program.ts';
import { reeveProcess, start, waitForExit, waitForOutput } from '../../support/command.ts';
import {
  type CommandOutput,
  type CommandSetup,
  entriesOf,
  makeCommandSetup,
} from '../../support/command-setup.ts';
import { type ContractForge, contractForges } from '../../support/contract-forge.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import { watchProcess } from '../../support/processes.ts';

it.each([
  'token does not have at least one of required scope(s): [write:repository]',
  'token does not have at least one of required scope(s), required=[write:repository], token scope=read:issue',
  'token does not have at least one of required scope(s): write:repository; this needs administrator access',
])('the remedy of a 403 names the scope that the forge names: %s', (message) => {
  const advice = adviceOf(new ReeveError('forge-forbidden', message, { status: 403 }));

  expect(advice).toBe(
    'create a token that also has the scope write:repository, and use it: a token cannot be changed',
  );
});

const stateOf = (result: CommandOutput, id: string) => entriesOf(result, id).map(({ state }) => state);

describe.each(contractForges)('setup on $name', ({ name, start: startForge }) => {
  let forge: ContractForge;
  let connection: CommandSetup;
  beforeAll(async () => {
    forge = await startForge();
  });
  afterAll(() => forge.close());
  beforeEach(async () => {
    connection = await makeCommandSetup(forge);
  });
  afterEach(() => connection.close());

  it('connects a repository when run as a process, and changes nothing in a second run', async () => {
    const { repository, folder, path, port, bot } = connection;
    const args = ['setup', '--url', forge.url, '--token-file', 'token', '--repository', repository];

    const first = await reeveProcess(args, { cwd: folder, environment: { PORT: String(port) } });
    const files = [readFileSync(path('reeve.env'), 'utf8'), readFileSync(path('reeve.yml'), 'utf8')];
    const made = await connection.hooks();
    const second = await reeveProcess(['setup'], { cwd: folder });

    expect({ status: first.status, error: first.error }).toEqual({ status: 0, error: '' });
    expect(first.out).toMatch(/✓ delivery +a delivery by the hook of repository .* arrived and was verified/);
    expect(first.out).toContain('Connected.');
    expect(statSync(path('reeve.env')).mode & 0o777).toBe(0o600);
    expect(second).toMatchObject({ status: 0, error: '' });
    expect(second.out).toContain('Connected; nothing had to be changed.');
    expect([readFileSync(path('reeve.env'), 'utf8'), readFileSync(path('reeve.yml'), 'utf8')]).toEqual(files);
    // Gitea records a delivery in the hook itself, so `updated_at` differs.
    const same = made.map((hook) => ({
      ...hook,
      events: expect.arrayContaining(hook.events),
      updated_at: expect.anything(),
    }));
    expect(await connection.hooks()).toEqual(same);
    expect(made).toMatchObject([
      { active: true, config: { url: `http://127.0.0.1:${port}/webhook`, content_type: 'json' } },
    ]);
    const secrets = readEnvFile(path('reeve.env'));
    for (const canary of [bot.token, secrets.WEBHOOK_SECRET, secrets.WEBHOOK_AUTHORIZATION]) {
      expect(`${first.out}${second.out}`).not.toContain(canary);
    }
  });

  it('C3: is not connected while no repository is served, or while a served repository has no hook', async () => {
    const { repository, bot, owner } = connection;
    await connection.setup();
    await forge.ask('DELETE', `/user/starred/${repository}`, { as: bot });
    const none = await connection.setup();
    expect(none.status).toBe(1);
    expect(entriesOf(none, 'served-hooks')).toMatchObject([
      { state: 'wrong', text: expect.stringContaining('no repository is served') },
    ]);
    const said = await reeveProcess(['setup'], { cwd: connection.folder });
    expect(said.out).toContain('Not connected yet');
    expect(said.out).not.toMatch(/^Connected/m);

    const other = await forge.makeRepository(owner, { auto_init: true });
    for (const one of [repository, other]) await forge.ask('PUT', `/user/starred/${one}`, { as: bot });
    const unheard = await connection.setup();
    expect(unheard.status).toBe(1);
    expect(entriesOf(unheard, 'served-hooks')).toMatchObject([
      { state: 'wrong', text: expect.stringContaining(`no hook delivers from ${other}, of 2`) },
    ]);
  });

  it('--plan writes nothing anywhere', async () => {
    const proxy = await startFaultProxy(forge.url);

    const result = await connection.setup({ url: proxy.url, plan: true });
    await proxy.close();

    expect(result.status).toBe(0);
    expect(stateOf(result, 'hook')).toEqual(['planned']);
    expect(proxy.passed.map(({ method }) => method).filter((method) => method !== 'GET')).toEqual([]);
    expect(await connection.hooks()).toEqual([]);
    for (const made of ['reeve.env', 'reeve.yml', 'data'])
      expect(existsSync(connection.path(made))).toBe(false);
  });

  it('--serve serves a repository without a star, and refuses one that cannot be read', async () => {
    const { repository, bot } = connection;
    await forge.ask('DELETE', `/user/starred/${repository}`, { as: bot });

    const hidden = await connection.setup({ serve: ['missing/nothing'] });
    const left = existsSync(connection.path('reeve.yml'));
    const served = await connection.setup({ serve: [repository] });
    const again = await connection.setup();

    expect(hidden.status).toBe(2);
    expect(entriesOf(hidden, 'serve')[0]?.text).toContain('missing/nothing: there is no such repository');
    expect(left).toBe(false);
    expect(served.status).toBe(0);
    expect(entriesOf(served, 'served-hooks')[0]?.text).toContain('each of 1 served repository');
    expect(readFileSync(connection.path('reeve.yml'), 'utf8')).toContain(`repositories:\n  - ${repository}`);
    expect(again.status).toBe(0);
  });

  it('leaves no trace of failed runs in the operator file', async () => {
    const { repository, path } = connection;
    const file = () => (existsSync(path('reeve.yml')) ? readFileSync(path('reeve.yml'), 'utf8') : undefined);

    const stopped = await connection.setup({}, { LOG_LEVEL: 'loud' });
    expect(entriesOf(stopped, 'settings')).toMatchObject([{ state: 'wrong' }]);
    expect(file()).toBeUndefined();
    const failed = await connection.setup({ repository: ['missing/nothing'] });
    const afterFailure = file();
    const half = await connection.setup({ repository: [repository, 'missing/nothing'] });
    const afterHalf = file();
    const whole = await connection.setup({ repository: [] });

    expect([failed.status, half.status, whole.status]).toEqual([1, 1, 0]);
    expect(afterFailure).toBeUndefined();
    expect(entriesOf(half, 'operator-file').at(-1)?.text).toContain('repository missing/nothing removed');
    expect(afterHalf).toContain(repository);
    expect(afterHalf).not.toContain('missing/nothing');
    expect(file()).toBe(afterHalf);
  });

  it('creates no second hook if the hook of the organization covers the repository', async () => {
    const { organization, owner, repository } = connection;
    const adminTokenFile = await connection.tokenFile(owner, ['all']);
    const hooksOfOrganization = async () =>
      (await forge.ask('GET', `/orgs/${organization}/hooks`, { as: owner })).json;
    await connection.setup();
    expect(await connection.hooks()).toHaveLength(1);

    const wider = await connection.setup({ repository: [], organization: [organization], adminTokenFile });
    expect(wider.status).toBe(0);
    expect(entriesOf(wider, 'hook').at(-1)).toMatchObject({
      state: 'changed',
      text: `hook of repository ${repository}: removed, organization ${organization} has one`,
    });
    expect([await connection.hooks(), await hooksOfOrganization()]).toEqual([[], [expect.anything()]]);

    await unlink(connection.path('reeve.yml'));
    const forgotten = await connection.setup({ adminTokenFile });
    expect(forgotten.status).toBe(0);
    expect(entriesOf(forgotten, 'hook')[0]?.text).toContain(`organization ${organization} has a hook`);
    expect([await connection.hooks(), await hooksOfOrganization()]).toEqual([[], [expect.anything()]]);
    const doctor = await connection.doctor({ SETUP_TOKEN_FILE: adminTokenFile });
    expect(entriesOf(doctor, 'hooks').filter(({ state }) => state === 'wrong')).toEqual([]);
  });

  it('names the missing permission if the forge answers 403', async () => {
    const { organization, bot, owner } = connection;
    const other = await forge.makeRepository(owner, { in: organization, auto_init: true });
    await forge.share(other, owner, { with: bot, permission: 'write' });

    const result = await connection.setup({ repository: [other] });

    expect(entriesOf(result, 'hook')[0]).toMatchObject({
      state: 'wrong',
      text: expect.stringMatching(/403.*this needs administrator access, and a token with read:repository/),
    });
  });

  it('warns of a token file that other users can read', async () => {
    await chmod(connection.path('token'), 0o644);

    const result = await connection.setup();

    expect(entriesOf(result, 'file-modes')).toMatchObject([
      { state: 'warning', advice: `chmod 600 ${connection.path('token')}` },
    ]);
    expect(result.status).toBe(0);
  });

  it('accepts a token file with several line breaks at its end', async () => {
    await writeFile(connection.path('token'), `${connection.bot.token}\r\n\n\n`);

    expect((await connection.setup()).status).toBe(0);
  });

  it('creates the hooks of an organization and a user account with a token that setup does not keep', async () => {
    const { organization, owner } = connection;
    const adminTokenFile = await connection.tokenFile(owner, ['all']);

    const result = await connection.setup({
      repository: [],
      organization: [organization],
      user: true,
      adminTokenFile,
    });

    expect(result.entries.filter(({ state }) => state === 'wrong')).toEqual([]);
    expect(result.status).toBe(0);
    expect(stateOf(result, 'delivery')).toEqual(['ok', 'ok']);
    expect((await forge.ask('GET', `/orgs/${organization}/hooks`, { as: owner })).json).toHaveLength(1);
    expect((await forge.ask('GET', '/user/hooks', { as: owner })).json).toHaveLength(1);
    // Without that token, the hooks are not visible. Setup reports this, and creates no hooks for the bot's own
    // account.
    const blind = await connection.setup({ repository: [] });
    expect(stateOf(blind, 'hook')).toEqual(['skipped', 'skipped']);
    expect(blind.status).toBe(0);
    const rotating = await connection.setup({ repository: [], rotate: true });
    expect(stateOf(rotating, 'hook')).toEqual(['wrong', 'wrong']);
    expect(readEnvFile(connection.envFile).WEBHOOK_SECRET).toContain('\n');
    expect((await forge.ask('GET', '/user/hooks', { as: connection.bot })).json).toEqual([]);
    const repositories = (await forge.ask('GET', '/user/repos', { as: owner })).json as { name: string }[];
    expect(repositories.filter((one) => one.name.startsWith('reeve-try-'))).toEqual([]);
    expect(readFileSync(connection.envFile, 'utf8')).not.toContain(readFileSync(adminTokenFile, 'utf8'));
  });

  it('creates hooks with an administrator token that has only the scopes that docs/connect.md names', async () => {
    const { organization, owner, bot } = connection;
    const connect = readFileSync(join(packageRoot, 'docs/connect.md'), 'utf8');
    const scopesOf = (option: string): readonly string[] => {
      const row = connect.split('\n').find((line) => line.startsWith(`| \`--${option}`)) ?? '';
      return (
        row
          .split('|')
          .at(-2)
          ?.match(/[\w:]+/g) ?? []
      );
    };
    const body = { login_name: owner.name, source_id: 0, admin: true };
    await forge.ask('PATCH', `/admin/users/${owner.name}`, { as: forge.adminToken, body });
    const repository = await forge.makeRepository(owner, { auto_init: true });
    await forge.share(repository, owner, { with: bot, permission: 'write' });
    // On a real forge, a hook of the whole instance would also receive events of tests that run at the same time.
    const system = name === 'the embedded forge' ? { system: true } : {};
    const options = { repository: [repository], organization: [organization], user: true, ...system };

    for (const [option, value] of Object.entries(options)) {
      const adminTokenFile = await connection.tokenFile(owner, scopesOf(option));
      await unlink(connection.path('reeve.yml')).catch(() => undefined);
      const result = await connection.setup({ repository: [], [option]: value, adminTokenFile });

      expect([option, ...stateOf(result, 'delivery')]).toEqual([option, 'ok']);
      expect([option, ...stateOf(result, 'test-repository')]).toEqual([option]);
    }
    const ofInstance = (await forge.ask('GET', '/admin/hooks', { as: forge.adminToken })).json;
    if ('system' in system)
      await forge.ask('DELETE', `/admin/hooks/${ofInstance[0].id}`, { as: forge.adminToken });
  });

  it('refuses the token of a site administrator by default', async () => {
    await writeFile(connection.path('token'), forge.adminToken);

    const refused = await connection.setup();

    expect(refused.status).toBe(2);
    expect(entriesOf(refused, 'administrator')).toMatchObject([{ state: 'wrong' }]);
    expect(existsSync(connection.envFile)).toBe(false);
    expect(await connection.hooks()).toEqual([]);
    await forge.ask('PUT', `/user/starred/${connection.repository}`, {
      headers: { authorization: `token ${forge.adminToken}` },
    });
    expect(await connection.setup({ allowAdmin: true })).toMatchObject({ status: 0 });
    expect(readFileSync(connection.path('reeve.yml'), 'utf8')).toContain('allow-admin: true');
  });

  it('names the scopes that the token lacks, and the purpose of each', async () => {
    await writeFile(connection.path('rules.yml'), tagRule);
    const tokenFile = await connection.tokenFile(connection.bot, [
      'read:user',
      'read:repository',
      'read:organization',
    ]);

    const result = await connection.setup({ tokenFile }, { REEVE_RULES: connection.path('rules.yml') });

    expect(result.status).toBe(1);
    const [scopes] = entriesOf(result, 'scopes');
    expect(scopes?.state).toBe('wrong');
    expect(scopes?.text).toContain('write:issue (to set labels and comment');
    expect(scopes?.text).toContain('write:repository (for rule tags, action protect-tags)');
    expect(scopes?.text).not.toContain('read:user');
    const [access] = entriesOf(result, 'access');
    expect(access).toEqual({
      id: 'access',
      state: 'ok',
      text: 'the account has, in 1 repository, the access that 1 rule needs: admin (for rule tags, action protect-tags)',
    });
  });

  it('warns of the access that the account lacks, compared as doctor does, or says that it is not compared', async () => {
    await writeFile(connection.path('rules.yml'), tagRule);
    const { repository, owner, bot } = connection;
    await forge.share(repository, owner, { with: bot, permission: 'read' });
    const tokens = { adminTokenFile: await connection.tokenFile(owner, ['all']) };
    const rules = { REEVE_RULES: connection.path('rules.yml') };

    const reader = await connection.setup(tokens, rules);
    await forge.ask('DELETE', `/user/starred/${repository}`, { as: bot });
    const unserved = await connection.setup(
      {
        poll: '60',
        repository: [],
        plan: true,
        settings: connection.path('p.env'),
        config: connection.path('p.yml'),
      },
      rules,
    );

    expect(entriesOf(reader, 'access')).toEqual([
      {
        id: 'access',
        state: 'warning',
        text: `in ${repository} the account is reader, and rule tags needs admin for action protect-tags`,
        advice:
          'give the account that permission there, or restrict the rule with in; 1 rule needs: admin (for rule tags, action protect-tags)',
      },
    ]);
    expect(entriesOf(unserved, 'access')).toEqual([
      {
        id: 'access',
        state: 'skipped',
        text: 'no repository is served, so that this is not compared: 1 rule needs: admin (for rule tags, action protect-tags)',
      },
    ]);
  });

  it('puts a folder or file of own rules in force, and says it', async () => {
    const { folder, envFile, path } = connection;
    await mkdir(path('imported-rules'), { recursive: true });
    await writeFile(path('imported-rules/tags.yml'), tagRule);
    await writeFile(path('imported-rules/tags.test.yml'), 'version: 1\n');
    await writeFile(path('imported-rules/README.md'), '# not a rule\n');
    await writeFile(path('one.yml'), tagRule);
    const named = (words: readonly string[]) => connection.setup({ rules: words });
    const rulesOf = () => /^REEVE_RULES=.*$/m.exec(readFileSync(envFile, 'utf8'))?.[0];

    const planned = await connection.setup({ rules: [path('imported-rules')], plan: true });
    const taken = await named([path('imported-rules')]);
    const line = rulesOf();
    const again = await named([path('imported-rules')]);
    const also = await named([path('imported-rules'), 'triage']);
    const file = await named([path('one.yml')]);
    const fileLine = rulesOf();
    const printed = await reeveProcess(
      ['setup', '--settings', 'reeve.env', '--rules', 'imported-rules', '--yes', '--no-test', '--json'],
      { cwd: folder, environment: { PORT: String(connection.port) } },
    );
    const first = (output: Awaited<typeof taken>) => entriesOf(output, 'first-rules')[0];

    expect(first(planned)).toMatchObject({
      state: 'planned',
      text: `REEVE_RULES would be ${path('imported-rules')}`,
    });
    expect(first(taken)).toMatchObject({
      state: 'changed',
      text: `REEVE_RULES is ${path('imported-rules')} now`,
    });
    expect([line, fileLine]).toEqual(["REEVE_RULES='./imported-rules'", "REEVE_RULES='./one.yml'"]);
    expect(first(again)).toMatchObject({ state: 'ok' });
    expect(entriesOf(also, 'first-rules')[1]).toMatchObject({
      state: 'changed',
      text: `triage.yml copied to ${path('imported-rules')}, in mode observe`,
    });
    expect(first(file)).toMatchObject({
      state: 'warning',
      text: `REEVE_RULES is ${path('one.yml')} now, and the rules of ${path('imported-rules')} are no longer in force`,
    });
    expect(JSON.parse(printed.out).steps).toContainEqual(
      expect.objectContaining({
        id: 'first-rules',
        text: expect.stringContaining(`${path('imported-rules')} now`),
      }),
    );
    expect(rulesOf()).toBe("REEVE_RULES='./imported-rules'");
    for (const [words, text] of [
      [['./nowhere'], 'there is no folder or file ./nowhere'],
      [
        ['zzzzzzzzzz'],
        'no rule file "zzzzzzzzzz" ships with Reeve; docs/recipes.md lists those that do; a folder or file of your own has to exist',
      ],
      [[path('one.yml'), path('imported-rules')], 'one folder or one file'],
      [[join(packageRoot, 'rules')], 'every rule that ships with Reeve'],
    ] as const) {
      const refused = await named(words);
      expect(refused.status).toBe(2);
      expect(first(refused)?.text).toContain(text);
    }
    expect(rulesOf()).toBe("REEVE_RULES='./imported-rules'");
  });

  it('names the scope that creating a missing hook needs, and again when the forge refuses the hook for it', async () => {
    const needed = ['read:user', 'read:repository', 'read:organization', 'write:issue'];
    const tokenFile = await connection.tokenFile(connection.owner, needed);

    const result = await connection.setup({ tokenFile });

    expect(result.status).toBe(1);
    expect(entriesOf(result, 'scopes')).toMatchObject([
      {
        state: 'wrong',
        text: `the token lacks the scopes write:repository (to create the hook of repository ${connection.repository})`,
        advice:
          'run reeve setup --admin-token-file FILE with a token that may create it; or create a token with the scopes read:user, read:organization, write:issue, write:repository',
      },
    ]);
    expect(entriesOf(result, 'hook')).toMatchObject([
      { state: 'wrong', advice: expect.stringContaining('also has the scope write:repository') },
    ]);
  });

  it('repairs a hook that was deactivated, redirected, stripped of events or duplicated', async () => {
    await connection.setup();
    const [hook] = await connection.hooks();
    const at = `/repos/${connection.repository}/hooks`;
    const body = { active: false, events: ['push'], config: { url: 'http://127.0.0.1:9/webhook' } };
    await forge.ask('PATCH', `${at}/${hook.id}`, { as: connection.owner, body });
    const double = { type: 'gitea', active: true, config: { ...hook.config, content_type: 'json' } };
    await forge.ask('POST', at, { as: connection.owner, body: double });

    const result = await connection.setup();

    expect(result.status).toBe(0);
    const after = await connection.hooks();
    expect(after).toHaveLength(1);
    expect(after[0]).toMatchObject({ active: true, config: hook.config });
    expect([...after[0].events].sort()).toEqual([...hook.events].sort());
    expect((await connection.setup()).entries.filter(({ state }) => state === 'changed')).toEqual([]);
  });

  it('replaces a hook whose secret setup cannot know, and removes the old hook once the new one works', async () => {
    const config = {
      url: `http://127.0.0.1:${connection.port}/webhook`,
      content_type: 'json',
      secret: 'of another account',
    };
    const at = `/repos/${connection.repository}/hooks`;
    const { json: old } = await forge.ask('POST', at, {
      as: connection.owner,
      body: { type: 'gitea', active: true, config },
    });

    const result = await connection.setup();

    expect(result.status).toBe(0);
    expect(entriesOf(result, 'hook')[0]?.text).toContain('it is unknown what it signs with');
    const ids = (await connection.hooks()).map(({ id }) => id);
    expect(ids).toHaveLength(1);
    expect(ids).not.toContain(old.id);
  });

  it('begins with shipped rules in mode observe, and leaves a file that exists as it is', async () => {
    const folder = connection.path('rules');
    const rules = ['labels', 'welcome'];
    const planned = await connection.setup({ rules, plan: true }, { REEVE_RULES: folder });
    expect(entriesOf(planned, 'first-rules')).toMatchObject([{ state: 'planned' }]);
    const result = await connection.setup({ rules }, { REEVE_RULES: folder });

    expect(entriesOf(result, 'first-rules')).toMatchObject([{ state: 'changed' }]);
    expect(readEnvFile(connection.envFile).REEVE_RULES).toBe(folder);
    const text = await readFile(join(folder, 'labels.yml'), 'utf8');
    expect(text).toMatch(/^version: 1\nmode: observe$/m);
    const files = await loadRuleFiles([folder], { isOperators: true });
    expect(files.map(({ problems }) => problems)).toEqual([[], []]);
    expect(new Set(files.flatMap((file) => file.rules.map(({ mode }) => mode)))).toEqual(
      new Set(['observe']),
    );

    await writeFile(join(folder, 'labels.yml'), text.replace('mode: observe\n', ''));
    expect(entriesOf(await connection.setup({ rules }), 'first-rules')).toMatchObject([{ state: 'ok' }]);
    expect(await readFile(join(folder, 'labels.yml'), 'utf8')).not.toContain('mode: observe');
    const wrong = await connection.setup({ rules: ['lables'] });
    expect([wrong.status, entriesOf(wrong, 'first-rules')[0]?.text]).toEqual([
      2,
      'no rule file "lables" ships with Reeve; did you mean "labels"?',
    ]);
  });

  it('sees at once that the address of the hook refuses connections, and creates no hook', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    await new Promise((resolve) => other.close(resolve));
    const result = await connection.setup({ webhook: `http://127.0.0.1:${port}/webhook` });

    expect(result.status).toBe(2);
    expect(entriesOf(result, 'receiver').at(-1)).toMatchObject({
      state: 'wrong',
      text: `http://127.0.0.1:${port}/webhook refuses connections`,
      advice: expect.stringContaining(`Reeve listens on 127.0.0.1:${connection.port}`),
    });
    expect(await connection.hooks()).toEqual([]);
    // The next run is not stopped by what this one wrote.
    expect((await connection.setup({ webhook: `http://127.0.0.1:${connection.port}/webhook` })).status).toBe(
      0,
    );
  });

  it('subscribes only to the events of the rules on request', async () => {
    await writeFile(connection.path('rules.yml'), tagRule);

    const result = await connection.setup({ events: 'rules' }, { REEVE_RULES: connection.path('rules.yml') });

    expect(result.status).toBe(0);
    const [hook] = await connection.hooks();
    expect([...hook.events].sort()).toEqual(['push', 'release', 'repository']);
  });

  it('registers an OAuth2 application once, and keeps its secret', async () => {
    const first = await connection.setup({ dashboard: 'https://reeve.example.org/' });
    const kept = readEnvFile(connection.envFile).OAUTH2_CLIENT_SECRET;
    const second = await connection.setup();

    expect([...stateOf(first, 'sign-in'), ...stateOf(second, 'sign-in')]).toEqual(['changed', 'ok']);
    const { json } = await forge.ask('GET', '/user/applications/oauth2', { as: connection.bot });
    expect(json).toMatchObject([
      { name: 'Reeve', redirect_uris: ['https://reeve.example.org/sign-in/callback'] },
    ]);
    expect(readEnvFile(connection.envFile).OAUTH2_CLIENT_SECRET).toBe(kept);
    expect(kept).toMatch(/.{20,}/);
  });

  it('rotates the secrets: with a running Reeve, in two runs, before and after a restart', async () => {
    await connection.setup();
    const before = readEnvFile(connection.envFile);
    const [old] = await connection.hooks();
    const serve = () => start(['serve', '--settings', connection.envFile], { cwd: connection.folder });
    let server = serve();
    await waitForOutput(server, /"listening"/);

    const begun = await connection.setup({ rotate: true });
    expect(begun.status).toBe(2);
    expect(entriesOf(begun, 'receiver')[0]?.advice).toContain('restart it');
    expect((await connection.hooks()).map(({ id }) => id)).toEqual([old.id]);
    expect(readEnvFile(connection.envFile).WEBHOOK_SECRET).toMatch(
      new RegExp(`^.{40,}\n${before.WEBHOOK_SECRET}$`),
    );
    server.kill();
    await waitForExit(server);
    server = serve();
    await waitForOutput(server, /"listening"/);
    const ended = await connection.setup({ rotate: true });
    server.kill();
    await waitForExit(server);

    expect(ended.status).toBe(0);
    const after = readEnvFile(connection.envFile);
    expect(after.WEBHOOK_SECRET).not.toContain(before.WEBHOOK_SECRET);
    expect(after.WEBHOOK_AUTHORIZATION).not.toContain('\n');
    const hooks = await connection.hooks();
    expect(hooks).toHaveLength(1);
    expect(hooks[0].id).not.toBe(old.id);
    const settled = (await connection.setup()).entries.filter(({ state }) => state !== 'ok');
    // The remaining finding is about the bot's account, which is not restricted, and is unrelated to the rotation.
    expect(settled.filter(({ id }) => id !== 'restricted')).toEqual([]);
  });

  it('asks the person at the terminal for missing answers', async () => {
    const asked: string[] = [];
    await forge.ask('DELETE', `/user/starred/${connection.repository}`, { as: connection.bot });
    const answers = [forge.url, connection.bot.token, 'triage lables', '', connection.repository, '', 'y'];
    const prompt: Prompt = {
      async ask(question, { hidden, standard } = {}) {
        asked.push(hidden ? `${question} [hidden]` : question);
        return answers[asked.length - 1] || (standard ?? '');
      },
    };
    const nothing = { url: undefined, tokenFile: undefined, repository: undefined } as object;

    const result = await connection.setup(nothing, {}, prompt);

    expect(result.entries.filter(({ state }) => state === 'wrong')).toEqual([]);
    expect(result.status).toBe(0);
    expect(asked).toHaveLength(7);
    expect(asked[1]).toContain('[hidden]');
    expect(asked.slice(2, 4)).toEqual(['Names of rules, or none', 'Names of rules, or none']);
    expect(asked[6]).toContain('Create the missing labels area/docs, area/build, area/tests, size/S');
    expect(readEnvFile(connection.envFile).FORGE_TOKEN).toBe(connection.bot.token);
    const folder = connection.path('reeve-rules');
    expect(readdirSync(folder).sort()).toEqual(['labels.yml', 'triage.yml']);
    expect(readFileSync(join(folder, 'triage.yml'), 'utf8')).toMatch(/^version: 1\nmode: observe$/m);
    expect(await labelNames()).toEqual(expect.arrayContaining(['kind/question', 'size/L']));
    expect(readFileSync(connection.path('reeve.yml'), 'utf8')).toContain(
      `repositories:\n  - ${connection.repository}`,
    );
    // A later run asks nothing.
    expect(await connection.setup(nothing, {}, prompt)).toMatchObject({ status: 0 });
    expect(asked).toHaveLength(7);
  });

  it('--yes asks nothing at a terminal, copies no rules and creates no labels unless flags say so', async () => {
    const prompt: Prompt = {
      ask: async (question) => {
        throw new Error(`asked: ${question}`);
      },
    };
    const bare = await connection.setup({ yes: true }, {}, prompt);
    const withRules = await connection.setup({ yes: true, rules: ['triage'] }, {}, prompt);
    const before = await labelNames();
    const planned = await connection.setup({ yes: true, createLabels: true, plan: true }, {}, prompt);
    const created = await connection.setup({ yes: true, createLabels: true }, {}, prompt);
    const again = await connection.setup({ yes: true, createLabels: true }, {}, prompt);

    expect([bare, withRules, planned, created, again].map(({ status }) => status)).toEqual([0, 0, 0, 0, 0]);
    expect(entriesOf(bare, 'first-rules')).toEqual([]);
    expect(entriesOf(withRules, 'labels')).toMatchObject([
      {
        state: 'warning',
        text: expect.stringContaining(`kind/question, area/api, kind/bug in ${connection.repository}`),
        advice: expect.stringContaining('--create-labels'),
      },
    ]);
    expect(before).not.toContain('kind/question');
    expect(stateOf(planned, 'labels')).toEqual(['planned']);
    expect(stateOf(created, 'labels')).toEqual(['changed']);
    expect(await labelNames()).toEqual(expect.arrayContaining(['kind/question', 'area/api']));
    expect(entriesOf(again, 'labels')).toEqual([]);
  });

  it('names a secret that rules need and that is missing', async () => {
    const rules = { rules: ['notify-chat'], yes: true };
    const without = await connection.setup(rules);
    const given = await connection.setup(rules, { REEVE_SECRET_CHAT_HOOK: 'https://192.0.2.1/hook' });

    expect([without.status, given.status]).toEqual([0, 0]);
    expect(entriesOf(without, 'named-secrets')).toMatchObject([
      { state: 'warning', text: expect.stringContaining('CHAT_HOOK') },
    ]);
  });

  it('does not hang on a pipe that stays open, and says which option is missing', async () => {
    const child = spawn(process.execPath, [builtProgram(), 'setup'], {
      cwd: connection.folder,
      env: { PATH: process.env.PATH, NO_COLOR: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const { status, error } = await waitForExit(watchProcess(child));
    child.stdin.end();

    expect({ status, error }).toEqual({
      status: 2,
      error: 'reeve: URL of the forge: no answer; set it with --url or FORGE_URL\n',
    });
  });

  it('ends with what to do next: serve, how a rule that observes is let act, and the dashboard', async () => {
    const { folder, repository, port } = connection;
    const args = ['setup', '--url', forge.url, '--token-file', 'token', '--repository', repository, '--yes'];
    const environment = { PORT: String(port) };
    const none = await reeveProcess(args, { cwd: folder, environment });
    const some = await reeveProcess([...args, '--rules', 'triage', '--create-labels'], {
      cwd: folder,
      environment,
    });

    expect(none.out).toContain(
      'reeve setup --settings reeve.env --rules triage labels begins with two that ship with Reeve, --rules ./FOLDER uses rule files of your own',
    );
    expect(some).toMatchObject({ status: 0, error: '' });
    const end = some.out.slice(some.out.indexOf('Connected.'));
    expect(end.split('\n').slice(1, -1)).toEqual([
      'Next: reeve serve --settings reeve.env, and leave it running (reeve doctor --settings reeve.env checks everything)',
      'What is open already: reeve apply --settings reeve.env --open --plan shows what the rules would do with it.',
      'Rules: triage-labels, triage only observe. reeve runs --settings reeve.env --changes lists what they would have changed.',
      `To let them act, remove "mode: observe" from ${join('reeve-rules', 'triage.yml')} (line 4); a running Reeve notices.`,
      `Dashboard: http://127.0.0.1:${port}/ with the password that reeve password --settings reeve.env prints`,
    ]);
  });

  it('names the lines with "mode: observe" where rules have it of their own', async () => {
    const { folder, repository, port, path } = connection;
    const step = 'steps: [{ uses: comment, with: { text: a } }]';
    await writeFile(
      path('own.yml'),
      `version: 1
rules:
  acts: { on: issues.opened, ${step} }
  one:
    mode: observe # a comment
    on: issues.opened
    ${step}
  two: { mode: observe, on: issues.opened, ${step} }
  # mode: observe is no mode in a comment
  three:
    mode:
      observe
    on: issues.opened
    ${step}
`,
    );
    const { out } = await reeveProcess(
      [
        'setup',
        '--url',
        forge.url,
        '--token-file',
        'token',
        '--repository',
        repository,
        '--yes',
        '--no-test',
        '--rules',
        './own.yml',
      ],
      { cwd: folder, environment: { PORT: String(port) } },
    );

    expect(out).toContain('Rules: one, two, three only observe.');
    expect(out).toContain(
      'To let them act, remove "mode: observe" from own.yml (lines 5, 8); a running Reeve',
    );
  });

  it('refuses to put every shipped rule in force, and a file as the folder of rules', async () => {
    const shipped = await connection.setup(
      { rules: ['triage'] },
      { REEVE_RULES: join(packageRoot, 'rules') },
    );
    await writeFile(connection.path('one.yml'), tagRule);
    const file = await connection.setup({ rules: ['triage'] }, { REEVE_RULES: connection.path('one.yml') });

    expect([shipped.status, file.status]).toEqual([2, 2]);
    expect(entriesOf(shipped, 'first-rules')[0]?.text).toContain('every rule that ships with Reeve');
    expect(entriesOf(file, 'first-rules')[0]?.text).toContain('set a folder, and move the file into it');
  });

  it('writes paths relative to the env file, so that the folder works at another place', async () => {
    const { folder, envFile } = connection;
    await connection.setup({ rules: ['triage'] }, { REEVE_DATA: undefined });
    const text = readFileSync(envFile, 'utf8');
    const moved = `${folder}-moved`;
    await rename(folder, moved);
    const environment = { PORT: String(connection.port) };
    const there = await reeveProcess(['setup', '--settings', join(moved, 'reeve.env'), '--json'], {
      environment,
      cwd: tmpdir(),
    });
    const password = await reeveProcess(['password', '--settings', join(moved, 'reeve.env')]);
    const isBack = existsSync(folder);
    await rename(moved, folder);

    for (const line of [
      "FORGE_TOKEN_FILE='./token'",
      "REEVE_CONFIG='./reeve.yml'",
      "REEVE_DATA='./data'",
      "REEVE_RULES='./reeve-rules'",
    ])
      expect(text.split('\n')).toContain(line);
    expect(JSON.parse(there.out)).toMatchObject({ ok: true, changed: 0 });
    expect(password.status).toBe(0);
    expect(isBack).toBe(false);
    // A path of an earlier version, which is absolute, stays as it is: a unit may read the file without this folder.
    await writeFile(envFile, text.replace("'./data'", `'${join(folder, 'data')}'`));
    await connection.setup();
    expect(readFileSync(envFile, 'utf8')).toContain(`REEVE_DATA='${join(folder, 'data')}'`);
  });

  it('keeps DATABASE_URL in the env file', async () => {
    const DATABASE_URL = 'postgres://reeve:a-canary@127.0.0.1:9/reeve';
    connection.canaries.push('a-canary');
    const result = await connection.setup({}, { DATABASE_URL });

    expect(result.status).not.toBe(0);
    expect(readEnvFile(connection.envFile)).toMatchObject({ DATABASE_URL });
    await connection.setup({}, { DATABASE_URL_FILE: connection.path('token') });
    const after = readEnvFile(connection.envFile);
    expect([after.DATABASE_URL, after.DATABASE_URL_FILE]).toEqual([undefined, connection.path('token')]);
  });

  it('keeps the served repositories if no hook could be created', async () => {
    const { organization, bot, owner } = connection;
    const other = await forge.makeRepository(owner, { in: organization, auto_init: true });
    await forge.share(other, owner, { with: bot, permission: 'write' });

    const result = await connection.setup({ repository: [other] });

    expect(result.status).toBe(1);
    const file = readFileSync(connection.path('reeve.yml'), 'utf8');
    expect(file).toContain(`repositories:\n  - ${other}`);
    expect(file).not.toContain('webhook');
  });

  it('leaves no delivery behind that would fail, and runs no rule, for its test repository', async () => {
    const { organization, owner, envFile, folder } = connection;
    const adminTokenFile = await connection.tokenFile(owner, ['all']);
    await writeFile(connection.path('rules.yml'), everyRepositoryRule);
    const wide = {
      repository: [],
      organization: [organization],
      serve: [`${organization}/*`],
      adminTokenFile,
    };
    const environment = { REEVE_RULES: connection.path('rules.yml') };
    // Before Reeve runs, and beside it.
    expect((await connection.setup(wide, environment)).status).toBe(0);
    const server = start(['serve', '--settings', envFile], { cwd: folder });
    await waitForOutput(server, /"caught up/);
    expect((await connection.setup(wide, environment)).status).toBe(0);

    const seen = await untilSettled(envFile, 3);
    const runs = await reeveProcess(['runs', '--settings', envFile, '--json']);
    server.kill();
    await waitForExit(server);

    expect(seen.map(({ state, reason }) => ({ state, reason }))).toEqual(
      seen.map(() => ({ state: 'settled', reason: expect.stringMatching(/reeve-try-\w+ tested a hook$/) })),
    );
    expect(runs.out).not.toContain('reeve-try-');
  });

  it('begins with what is there, so that events before the first start are found', async () => {
    const { repository, owner, envFile, folder } = connection;
    const open = async (title: string): Promise<number> => {
      const { json } = await forge.ask('POST', `/repos/${repository}/issues`, { as: owner, body: { title } });
      return Number(Reflect.get(Object(json), 'number'));
    };
    const before = await open('there before setup');
    await writeFile(connection.path('rules.yml'), everyIssueRule);
    expect((await connection.setup({}, { REEVE_RULES: connection.path('rules.yml') })).status).toBe(0);
    const between = await open('before the first start');

    const server = start(['serve', '--settings', envFile], { cwd: folder });
    await waitForOutput(server, /"missed":1/);
    const runs = async () => (await reeveProcess(['runs', '--settings', envFile, '--json'])).out;
    await expect.poll(runs).toContain(`${repository}/issues/${between}/comments`);
    server.kill();
    await waitForExit(server);

    expect(await runs()).not.toContain(`${repository}/issues/${before}/comments`);
  });

  it('--poll connects without hooks and secrets, and serve finds what happens after setup', async () => {
    const { repository, owner, bot, envFile, folder } = connection;
    await forge.ask('DELETE', `/user/starred/${repository}`, { as: bot });
    await writeFile(connection.path('rules.yml'), everyIssueRule);
    const environment = { REEVE_RULES: connection.path('rules.yml') };
    const nothing = { repository: undefined } as object;
    const unserved = await connection.setup({ ...nothing, poll: '30' }, environment);
    const made = await connection.setup({ poll: '30' }, environment);
    const again = await connection.setup(nothing, environment);

    expect([unserved.status, made.status, again.status]).toEqual([1, 0, 0]);
    expect(entriesOf(unserved, 'polling')[0]?.text).toContain('no repository is served');
    expect(entriesOf(made, 'polling')[0]?.text).toBe(
      'Reeve polls 1 repository every 30 s, and needs no hook',
    );
    expect(again.entries.filter(({ state }) => state === 'changed')).toEqual([]);
    expect(await connection.hooks()).toEqual([]);
    const written = readEnvFile(envFile);
    expect(written).toMatchObject({ REEVE_POLL: '30' });
    expect([written.WEBHOOK_SECRET, written.WEBHOOK_AUTHORIZATION]).toEqual([undefined, undefined]);

    const { json } = await forge.ask('POST', `/repos/${repository}/issues`, {
      as: owner,
      body: { title: 'before the first start' },
    });
    const server = start(['serve', '--settings', envFile], { cwd: folder });
    const runs = async () => (await reeveProcess(['runs', '--settings', envFile, '--json'])).out;
    await expect
      .poll(runs, { timeout: 60_000 })
      .toContain(`${repository}/issues/${Reflect.get(Object(json), 'number')}/comments`);
    server.kill();
    await waitForExit(server);
    expect((await connection.doctor()).status).toBe(0);
  });

  it('--poll and doctor warn of hooks to another Reeve, and of rules of the repository that polling does not start', async () => {
    const { repository, owner, envFile } = connection;
    const address = 'https://other.example.org/reeve/webhook';
    const hook = (url: string, active: boolean) =>
      forge.ask('POST', `/repos/${repository}/hooks`, {
        as: owner,
        body: { type: 'gitea', active, events: ['push'], config: { url, content_type: 'json' } },
      });
    await hook(`${address}?key=canary-of-query`, true);
    await hook('https://disabled.example.org/webhook', false);
    await hook('https://ci.example.org/build', true);
    connection.canaries.push('canary-of-query');
    const own = `version: 1
rules:
  on-assigned: { on: { issues: [assigned] }, steps: [{ uses: comment, with: { text: hello } }] }
  on-opened: { on: { issues: [opened] }, steps: [{ uses: comment, with: { text: hello } }] }
`;
    const content = Buffer.from(own).toString('base64');
    await forge.ask('POST', `/repos/${repository}/contents/.reeve.yml`, {
      as: owner,
      body: { content, message: 'rules' },
    });
    const gap = `${repository}/.reeve.yml: on-assigned: polling does not find issues.assigned`;
    const foreign = `a hook of repository ${repository} delivers to ${address}`;

    const made = await connection.setup({ poll: '60' });
    const examined = await connection.doctor();
    const checked = await reeveProcess(['check', '--settings', envFile, 'own.yml'], {
      cwd: await writeFile(connection.path('own.yml'), own).then(() => connection.folder),
    });

    expect([made.status, examined.status, checked.status]).toEqual([0, 0, 0]);
    for (const { entries } of [made, examined]) {
      const texts = Object.fromEntries(entries.map(({ id, state, text }) => [id, `${state}: ${text}`]));
      expect(texts['polling-hooks']).toBe(`warning: ${foreign}`);
      expect(texts.polling).toMatch(/^warning: /);
      expect(texts.polling).toContain(gap);
      expect(texts.polling).not.toContain('on-opened');
    }
    expect(checked.out).toContain('warning: on-assigned: polling does not find issues.assigned');
    expect(checked.out).not.toContain('on-opened: polling');
  });

  it('--poll needs no access to the hooks of the repositories', async () => {
    const { repository, owner, bot } = connection;
    await forge.share(repository, owner, { with: bot, permission: 'write' });

    const made = await connection.setup({ poll: '60' });
    const examined = await connection.doctor();

    expect([made.status, examined.status]).toEqual([0, 0]);
    expect(entriesOf(made, 'polling-hooks')).toEqual([]);
    expect(entriesOf(examined, 'polling-hooks')).toMatchObject([
      { state: 'skipped', text: 'the account cannot read the hooks of the served repositories' },
    ]);
  });

  it('--poll warns that a token without write:repository cannot report problems of rule files', async () => {
    const scopes = ['read:user', 'read:organization', 'write:issue'];
    const reading = await connection.tokenFile(connection.bot, [...scopes, 'read:repository']);
    const writing = await connection.tokenFile(connection.bot, [...scopes, 'write:repository']);

    const warned = await connection.setup({ poll: '60', tokenFile: reading });
    const silent = await connection.setup({ poll: '60', tokenFile: writing });

    expect([warned.status, silent.status]).toEqual([0, 0]);
    expect(entriesOf(warned, 'rule-status')).toMatchObject([
      { state: 'warning', text: expect.stringContaining('without write:repository') },
    ]);
    expect(entriesOf(silent, 'rule-status')).toEqual([]);
  });

  it('--poll sees that another program listens on the port of the dashboard, and that a Reeve does', async () => {
    const environment = { REEVE_DATA: connection.path('data') };
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(connection.port, '127.0.0.1', resolve));
    const taken = await connection.setup({ poll: '60' }, environment);
    await new Promise((resolve) => other.close(resolve));
    const free = await connection.setup({ poll: '60' }, environment);
    const server = start(['serve', '--settings', connection.envFile], { cwd: connection.folder });
    await waitForOutput(server, /"listening"/);
    const running = await connection.setup({ poll: '60' }, environment);
    server.kill();
    await waitForExit(server);

    expect(taken.status).toBe(2);
    expect(entriesOf(taken, 'receiver')).toMatchObject([
      {
        state: 'wrong',
        text: `another program listens on 127.0.0.1:${connection.port}`,
        advice: 'set PORT to a free port, or stop that program',
      },
    ]);
    expect([free.status, running.status]).toEqual([0, 0]);
    expect(entriesOf(running, 'receiver')).toMatchObject([
      { state: 'ok', text: 'a Reeve runs with this store' },
    ]);
  });

  it('refuses polling beside hooks, and too often', async () => {
    const beside = await connection.setup({ poll: '60', organization: ['acme'] }).catch((error) => error);
    const often = await connection.setup({ poll: '5' }).catch((error) => error);
    expect((await connection.setup()).status).toBe(0);
    const later = await connection.setup({ poll: '60' }).catch((error) => error);

    expect(beside.message).toContain('leave out --organization, or polling');
    expect(often.message).toContain('REEVE_POLL (--poll) must be a number of seconds from 30');
    expect(later.message).toContain('the operator file has hooks');
  });

  it('asks for repositories to poll if the answer to the location of the hooks is "poll"', async () => {
    await forge.ask('DELETE', `/user/starred/${connection.repository}`, { as: connection.bot });
    const answers = ['none', 'poll', connection.repository];
    const prompt: Prompt = { ask: async () => answers.shift() ?? '' };

    const result = await connection.setup({ repository: undefined } as object, {}, prompt);

    expect(result.status).toBe(0);
    expect(answers).toEqual([]);
    expect(readEnvFile(connection.envFile).REEVE_POLL).toBe('60');
    expect(await connection.hooks()).toEqual([]);
  });

  it('warns of a test repository that could not be deleted, by name, and deletes it in the next run', async () => {
    const { organization, owner } = connection;
    const adminTokenFile = await connection.tokenFile(owner, ['all']);
    const wide = { repository: [], organization: [organization], adminTokenFile };
    const proxy = await startFaultProxy(forge.url);
    const answer = { kind: 'answer', status: 403, body: '{"message":"no"}' } as const;
    proxy.decide = ({ method, path }) =>
      method === 'DELETE' && path.includes('/reeve-try-') ? answer : { kind: 'pass' };
    const refused = await connection.setup({ ...wide, url: proxy.url });
    await proxy.close();
    const left = await triesOf(organization);
    const next = await connection.setup(wide);

    expect(refused.status).toBe(0);
    expect(left).toHaveLength(1);
    expect(entriesOf(refused, 'test-repository')).toMatchObject([
      { state: 'warning', text: expect.stringContaining(`${organization}/${left[0]}`) },
    ]);
    expect(entriesOf(next, 'test-repository')).toEqual([]);
    expect(await triesOf(organization)).toEqual([]);
  });

  it('says that a running Reeve must be restarted for another forge, and for other settings', async () => {
    const { envFile, folder } = connection;
    await connection.setup();
    const server = start(['serve', '--settings', envFile], { cwd: folder });
    await waitForOutput(server, /"listening"/);
    const same = await connection.setup();
    const other = await forge.makeRepository(connection.owner, { auto_init: true });
    await forge.share(other, connection.owner, { with: connection.bot, permission: 'admin' });
    const more = await connection.setup({ repository: [other], rules: ['triage'] });
    const proxy = await startFaultProxy(forge.url);
    const moved = await connection.setup({ url: proxy.url });
    await proxy.close();
    server.kill();
    await waitForExit(server);

    expect(entriesOf(same, 'restart')).toEqual([]);
    expect([more.status, moved.status]).toEqual([0, 1]);
    expect(entriesOf(more, 'restart')).toMatchObject([
      { state: 'warning', text: expect.stringContaining(': REEVE_RULES, the operator file') },
    ]);
    expect(entriesOf(moved, 'restart')).toMatchObject([
      {
        state: 'wrong',
        text: expect.stringContaining(': FORGE_URL'),
        advice: expect.stringMatching(/^restart it/),
      },
    ]);
  });

  it('reports what prevents a connection: no forge, no visible hook, no terminal', async () => {
    const unreachable = await connection.setup({ url: 'http://127.0.0.1:9' });
    const elsewhere = await connection.setup({ repository: ['missing/nothing'] });

    expect(unreachable.status).toBe(3);
    expect(entriesOf(unreachable, 'forge')).toMatchObject([{ state: 'wrong' }]);
    expect(elsewhere.status).toBe(1);
    expect(entriesOf(elsewhere, 'hook')).toMatchObject([{ state: 'wrong' }]);
    expect(await reeveProcess(['setup'], { cwd: connection.path('') })).toMatchObject({
      status: 2,
      error: expect.stringContaining('set the locations of the hooks'),
    });
    expect(
      await reeveProcess(['setup', '--settings', 'other.env'], { cwd: connection.folder }),
    ).toMatchObject({
      status: 2,
    });
  });

  const labelNames = async (): Promise<readonly string[]> => {
    const path = `/repos/${connection.repository}/labels`;
    const { json } = await forge.ask('GET', path, { as: connection.owner });
    return (json as { name: string }[]).map((label) => label.name);
  };
  const triesOf = async (organization: string): Promise<readonly string[]> => {
    const { json } = await forge.ask('GET', `/orgs/${organization}/repos`, { as: connection.owner });
    return (json as { name: string }[]).map((one) => one.name).filter((one) => one.startsWith('reeve-try-'));
  };

  // On a real forge, a hook of the whole instance would also receive events of tests that run at the same time.
  it.runIf(name === 'the embedded forge')(
    'creates the hook of the instance with an administrator’s token',
    async () => {
      await writeFile(connection.path('admin'), forge.adminToken, { mode: 0o600 });
      const options = { repository: [], system: true, adminTokenFile: connection.path('admin') };

      const result = await connection.setup(options);

      expect(result.status).toBe(0);
      expect(stateOf(result, 'delivery')).toEqual(['ok']);
      expect((await forge.ask('GET', '/admin/hooks', { as: forge.adminToken })).json).toHaveLength(1);
      expect((await connection.setup(options)).entries.filter(({ state }) => state === 'changed')).toEqual(
        [],
      );
    },
  );
});

/** Returns the stored deliveries once there are enough and none waits. */
async function untilSettled(envFile: string, atLeast: number) {
  for (;;) {
    const { out } = await reeveProcess(['deliveries', '--settings', envFile, '--json']);
    const found: { state: string; reason?: string }[] = out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const isWaiting = found.some(({ state }) => state === 'accepted' || state === 'claimed');
    if (found.length >= atLeast && !isWaiting) return found;
  }
}

const everyIssueRule = `version: 1
rules:
  every-issue:
    on: issues.opened
    steps:
      - uses: comment
        with: { key: seen, text: Seen }
`;
const everyRepositoryRule = `version: 1
rules:
  every-repository:
    on: repository.created
    steps:
      - uses: set-labels
        with: { add: [new] }
`;
const tagRule = `version: 1
rules:
  tags:
    on: release.published
    steps:
      - uses: protect-tags
        with: { tags: [{ name_pattern: "v*" }] }
`;
