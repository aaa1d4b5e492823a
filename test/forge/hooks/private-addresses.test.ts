import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { start, waitForExit } from '../../support/command.ts';
import { type Account, basic, freshName, startEmbedded } from '../../support/contract-forge.ts';
import { type HookReceiver, startReceiver } from '../../support/hook-receiver.ts';

const secret = 'the answer of an internal service';

describe('webhooks to private addresses', () => {
  let forge: Awaited<ReturnType<typeof startEmbedded>>;
  let root: Account;
  let ada: Account;
  const receivers: HookReceiver[] = [];
  beforeAll(async () => {
    // The allowlist contains a different address of this machine. The listener on 127.0.0.1 represents an internal
    // service.
    forge = await startEmbedded({ hookHosts: ['127.0.0.2'] });
    root = { name: 'root', password: 'correct horse', token: forge.adminToken };
    ada = await forge.makeUser();
  });
  afterAll(() => forge.close());
  afterEach(async () => {
    for (const receiver of receivers.splice(0)) await receiver.close();
  });

  async function internal(): Promise<HookReceiver> {
    const receiver = await startReceiver(() => ({ status: 200, body: secret }));
    receivers.push(receiver);
    return receiver;
  }

  const hookTo = (url: string) => ({
    type: 'gitea',
    config: { url, content_type: 'json' },
    events: ['push'],
    active: true,
  });
  async function addHook(path: string, url: string, as: Account): Promise<number> {
    const answer = await forge.ask('POST', path, { as, body: hookTo(url) });
    expect(answer.status).toBe(201);
    return answer.json.id;
  }
  async function push(repository: string, as: Account = ada): Promise<void> {
    const body = { content: 'eA==', message: 'x' };
    const path = `/repos/${repository}/contents/${freshName('file')}`;
    expect((await forge.ask('POST', path, { as, body })).status).toBe(201);
    await forge.forge.deliveries.idle();
  }
  async function page(path: string, { name, password }: Account): Promise<string> {
    const answer = await fetch(`${forge.url}${path}`, { headers: basic(name, password) });
    expect(answer.status).toBe(200);
    return answer.text();
  }
  const newest = (hook: number) => forge.forge.deliveries.list(hook)[0];

  it.each([
    ['127.0.0.1', (port: string) => `http://127.0.0.1:${port}/`],
    ['a host name', (port: string) => `http://localhost:${port}/`],
    ['a decimal number', (port: string) => `http://2130706433:${port}/`],
    ['a hexadecimal number', (port: string) => `http://0x7f.1:${port}/`],
    ['an IPv4 address mapped to IPv6', (port: string) => `http://[::ffff:127.0.0.1]:${port}/`],
    ['an unspecified address', (port: string) => `http://0.0.0.0:${port}/`],
  ])('are not sent if the account is not a site administrator: %s', async (_, addressOf) => {
    const receiver = await internal();
    const repository = await forge.makeRepository(ada, { auto_init: true });
    const url = addressOf(new URL(receiver.url).port);
    const hook = await addHook(`/repos/${repository}/hooks`, url, ada);

    await push(repository);

    expect(receiver.received).toEqual([]);
    expect(newest(hook)).toMatchObject({ state: 'failed', response_status: 0, is_answer_private: 0 });
    expect(await page(`/${repository}/settings/hooks/${hook}`, ada)).toContain('not public, and not listed');
  });

  it('are not sent from hooks of accounts and organizations, including tests and redeliveries', async () => {
    const receiver = await internal();
    const organization = await forge.makeOrganization(ada);
    const repository = await forge.makeRepository(ada, { auto_init: true, in: organization });
    const hooks = [
      await addHook('/user/hooks', receiver.url, ada),
      await addHook(`/orgs/${organization}/hooks`, receiver.url, ada),
      await addHook(`/repos/${repository}/hooks`, receiver.url, ada),
    ];
    await push(repository);
    await push(await forge.makeRepository(ada, { auto_init: true }));
    await forge.ask('POST', `/repos/${repository}/hooks/${hooks[2]}/tests`, { as: ada });
    forge.forge.deliveries.redeliver(newest(hooks[2] ?? 0)?.uuid ?? '');
    await forge.forge.deliveries.idle();

    expect(receiver.received).toEqual([]);
    for (const hook of hooks) expect(newest(hook)?.state).toBe('failed');
    await forge.ask('DELETE', `/user/hooks/${hooks[0]}`, { as: ada });
  });

  it('follow no redirect to a private address', async () => {
    const receiver = await internal();
    const listed = createServer((_, response) => response.writeHead(307, { location: receiver.url }).end());
    await new Promise<void>((resolve) => listed.listen(0, '127.0.0.2', resolve));
    const { port } = listed.address() as AddressInfo;
    const repository = await forge.makeRepository(ada, { auto_init: true });
    const hook = await addHook(`/repos/${repository}/hooks`, `http://127.0.0.2:${port}/`, ada);

    await push(repository);
    await new Promise((resolve) => listed.close(resolve));

    expect(receiver.received).toEqual([]);
    expect(newest(hook)).toMatchObject({ state: 'failed', response_status: 0 });
  });

  it('are sent if a site administrator set the URL, until another account changes the URL', async () => {
    const receiver = await internal();
    const repository = await forge.makeRepository(ada, { auto_init: true });
    await forge.share(repository, ada, { with: root, permission: 'admin' });
    const path = `/repos/${repository}/hooks`;
    const hook = await addHook(path, receiver.url, root);
    await push(repository);
    expect(receiver.received).toHaveLength(1);

    await forge.ask('PATCH', `${path}/${hook}`, { as: ada, body: hookTo(receiver.url) });
    await push(repository);
    expect(receiver.received).toHaveLength(2);

    await forge.ask('PATCH', `${path}/${hook}`, { as: ada, body: hookTo(`${receiver.url}/other`) });
    await push(repository);
    expect(receiver.received).toHaveLength(2);

    await forge.ask('PATCH', `${path}/${hook}`, { as: root, body: hookTo(`${receiver.url}/other`) });
    await push(repository);
    expect(receiver.received).toHaveLength(3);
  });

  it('are no longer sent after the account that set the URL has lost the administrator role', async () => {
    const receiver = await internal();
    const ben = await forge.makeUser();
    const setAdmin = (admin: boolean) =>
      forge.ask('PATCH', `/admin/users/${ben.name}`, {
        as: root,
        body: { source_id: 0, login_name: ben.name, admin },
      });
    await setAdmin(true);
    const repository = await forge.makeRepository(ben, { auto_init: true });
    await addHook(`/repos/${repository}/hooks`, receiver.url, ben);
    await push(repository, ben);
    expect(receiver.received).toHaveLength(1);

    await setAdmin(false);
    await push(repository, ben);

    expect(receiver.received).toHaveLength(1);
  });

  it('are sent from a copy of a default hook, but not from a copy created with a template', async () => {
    const receiver = await internal();
    const defaultHook = await forge.ask('POST', '/admin/hooks', { as: root, body: hookTo(receiver.url) });
    const template = await forge.makeRepository(ada, { auto_init: true, template: true });
    await forge.ask('DELETE', `/admin/hooks/${defaultHook.json.id}`, { as: root });
    await push(template);
    expect(receiver.received).toHaveLength(1);
    const body = { owner: ada.name, name: freshName('made'), git_content: true, webhooks: true };
    expect((await forge.ask('POST', `/repos/${template}/generate`, { as: ada, body })).status).toBe(201);

    await push(`${ada.name}/${body.name}`);

    expect(receiver.received).toHaveLength(1);
  });

  it('show their responses only to site administrators', async () => {
    const receiver = await internal();
    const repository = await forge.makeRepository(ada, { auto_init: true });
    await forge.share(repository, ada, { with: root, permission: 'admin' });
    const answered = await addHook(`/repos/${repository}/hooks`, receiver.url, root);
    const refused = await addHook(`/repos/${repository}/hooks`, 'http://127.0.0.1:1/', root);
    await push(repository);
    const read = (as: Account) =>
      Promise.all([answered, refused].map((hook) => page(`/${repository}/settings/hooks/${hook}`, as)));

    const [adas, roots] = [await read(ada), await read(root)];

    expect(roots[0]).toContain(secret);
    expect(roots[1]).toContain('ECONNREFUSED');
    expect(adas[0]).not.toContain(secret);
    expect(adas[1]).not.toContain('ECONNREFUSED');
    for (const text of adas) expect(text).toContain('Only site administrators see the answer');
  });
});

it.each(['10.0.0.0/99', 'http://a', ''])('`reeve forge --hook-hosts "%s"` is a usage error', async (text) => {
  const { status, error } = await waitForExit(start(['forge', '--port', '0', '--hook-hosts', text]));

  expect([status, error]).toEqual([2, expect.stringContaining('--hook-hosts')]);
});
