import { existsSync, readFileSync, statSync } from 'node:fs';
import { chmod, readFile, unlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Prompt } from '../../../src/cli/output/prompt.ts';
import { loadRuleFiles } from '../../../src/rules/sources/folder.ts';
import { readEnvFile } from '../../../src/server/settings/env-file.ts';
import { reeveProcess, start, waitForExit, waitForOutput } from '../../support/command.ts';
import {
  type CommandOutput,
  type CommandSetup,
  entriesOf,
  makeCommandSetup,
} from '../../support/command-setup.ts';
import { type ContractForge, contractForges } from '../../support/contract-forge.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';

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
    expect(access?.text).toMatch(
      /make @\S+ a collaborator with the access that 1 rule needs: admin \(for rule tags, action protect-tags\)$/,
    );
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
    const answers = [forge.url, connection.bot.token, connection.repository, ''];
    const prompt: Prompt = {
      async ask(question, { hidden, standard } = {}) {
        asked.push(hidden ? `${question} [hidden]` : question);
        return answers[asked.length - 1] || (standard ?? '');
      },
    };
    const nothing = { url: undefined, tokenFile: undefined, repository: undefined } as object;

    const result = await connection.setup(nothing, {}, prompt);

    expect(result.status).toBe(0);
    expect(asked).toHaveLength(4);
    expect(asked[1]).toContain('[hidden]');
    expect(readEnvFile(connection.envFile).FORGE_TOKEN).toBe(connection.bot.token);
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

const tagRule = `version: 1
rules:
  tags:
    on: release.published
    steps:
      - uses: protect-tags
        with: { tags: [{ name_pattern: "v*" }] }
`;
