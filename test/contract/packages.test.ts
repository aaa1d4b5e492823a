import { createHash, randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, basic, describeContract, freshName } from '../support/contract-forge.ts';

describeContract('packages', (forge) => {
  let ada: Account;
  let stranger: Account;
  let organization: string;
  beforeAll(async () => {
    [ada, stranger] = await Promise.all([forge.makeUser(), forge.makeUser()]);
    organization = await forge.makeOrganization(ada, { visibility: 'private' });
  });

  type Sending = { as?: Account | undefined; body?: string | Buffer; headers?: Record<string, string> };
  async function send(method: string, path: string, { as, body, headers }: Sending = {}) {
    const response = await fetch(`${forge.url}/api/packages/${path}`, {
      method,
      headers: { ...(as ? basic(as.name, as.token) : {}), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, bytes, headers: response.headers };
  }
  const put = (path: string, body: string | Buffer, as: Account | undefined = ada) =>
    send('PUT', path, { as, body });

  it('hold files with their digests', async () => {
    const name = freshName('tool');
    const bytes = randomBytes(300_000);
    const digest = (kind: string) => createHash(kind).update(bytes).digest('hex');

    const made = await put(`${ada.name}/generic/${name}/1.0/tool.bin`, bytes);
    const more = await put(`${ada.name}/generic/${name}/1.0/read me.txt`, 'text');
    const twice = await put(`${ada.name}/generic/${name.toUpperCase()}/1.0/TOOL.bin`, 'other');

    const at = `/packages/${ada.name}/generic/${name}/1.0`;
    const version = await forge.ask('GET', at, { as: stranger });
    const files = await forge.ask('GET', `${at}/files`, { as: stranger });
    expect([made.status, more.status, twice.status]).toEqual([201, 201, 409]);
    expect(version.json).toMatchObject({
      type: 'generic',
      name,
      version: '1.0',
      repository: null,
      owner: { login: ada.name },
      creator: { login: ada.name },
      html_url: `${forge.url}/${ada.name}/-/packages/generic/${name}/1.0`,
    });
    expect(files.json.map((file: { name: string }) => file.name)).toEqual(['read me.txt', 'tool.bin']);
    expect(files.json[1]).toMatchObject({
      name: 'tool.bin',
      size: bytes.length,
      md5: digest('md5'),
      sha1: digest('sha1'),
      sha256: digest('sha256'),
      sha512: digest('sha512'),
    });
  });

  it('serve their files, whole and by range', async () => {
    const path = `${ada.name}/generic/${freshName('tool')}/1.0/a.txt`;
    await put(path, '0123456789');

    const whole = await send('GET', path);
    const part = await send('GET', path, { headers: { range: 'bytes=2-4' } });
    const head = await send('HEAD', path);
    const missing = await send('GET', `${path}x`);

    expect([whole.status, whole.bytes.toString()]).toEqual([200, '0123456789']);
    expect(whole.headers.get('content-disposition')).toContain('a.txt');
    expect([part.status, part.bytes.toString()]).toEqual([206, '234']);
    expect([head.status, head.headers.get('content-length'), missing.status]).toEqual([200, '10', 404]);
  });

  it('are listed newest first, and filtered by type and by a part of the name', async () => {
    const owner = await forge.makeUser();
    for (const path of ['alpha/1', 'alpha/2', 'beta/1']) {
      await put(`${owner.name}/generic/${path}/f`, 'x', owner);
    }
    const list = async (query: string) => {
      const answer = await forge.ask('GET', `/packages/${owner.name}?${query}`, { as: stranger });
      const total = answer.headers.get('x-total-count');
      return [
        total,
        answer.json.map((one: { name: string; version: string }) => `${one.name}/${one.version}`),
      ];
    };

    expect(await list('')).toEqual(['3', ['beta/1', 'alpha/2', 'alpha/1']]);
    expect(await list('q=ALPH&limit=1&page=1')).toEqual(['2', ['alpha/2']]);
    expect(await list('q=alpha&limit=1&page=2')).toEqual(['2', ['alpha/1']]);
    expect(await list('type=npm')).toEqual(['0', []]);
  });

  it('are deleted by version, and a version is deleted with its last file', async () => {
    const name = freshName('tool');
    for (const path of ['1/a', '1/b', '2/a', '3/a']) await put(`${ada.name}/generic/${name}/${path}`, 'x');
    const at = (version: string) => `/packages/${ada.name}/generic/${name}/${version}`;
    const statusOf = async (version: string) => (await forge.ask('GET', at(version), { as: ada })).status;

    const statuses = [
      (await forge.ask('DELETE', at('3'), { as: ada })).status,
      (await send('DELETE', `${ada.name}/generic/${name}/2`, { as: ada })).status,
      (await send('DELETE', `${ada.name}/generic/${name}/1/a`, { as: ada })).status,
      await statusOf('1'),
      (await send('DELETE', `${ada.name}/generic/${name}/1/b`, { as: ada })).status,
    ];

    expect(statuses).toEqual([204, 204, 204, 200, 204]);
    expect([await statusOf('1'), await statusOf('2'), await statusOf('3')]).toEqual([404, 404, 404]);
    expect((await forge.ask('DELETE', at('3'), { as: ada })).status).toBe(404);
    expect((await forge.ask('GET', `${at('1')}/files`, { as: ada })).status).toBe(404);
  });

  it.each([
    ['the package', 'a b/1/f'],
    ['the package', '..%2F/1/f'],
    ['the package', '-/1/f'],
    ['the file', 'tool/1/a%2Fb'],
    ['the file', 'tool/1/%20x'],
    ['the file', 'tool/1/a%00b'],
    ['the version', 'tool/%201/f'],
  ])('refuse an invalid name of %s, such as %s', async (_, path) => {
    expect((await put(`${ada.name}/generic/${path}`, 'x')).status).toBe(400);
  });

  describe('require', () => {
    it('write access for changes', async () => {
      const path = `${ada.name}/generic/${freshName('tool')}/1/f`;
      await put(path, 'x');
      const api = `/packages/${path.replace(/\/f$/, '')}`;

      const statuses = [
        (await put(`${path}2`, 'x', stranger)).status,
        (await send('PUT', `${path}3`, { body: 'x' })).status,
        (await send('DELETE', path, { as: stranger })).status,
        (await send('DELETE', path)).status,
        (await forge.ask('DELETE', api, { as: stranger })).status,
        (await forge.ask('DELETE', api)).status,
        (await forge.ask('GET', api)).status,
      ];

      expect(statuses).toEqual([401, 401, 401, 401, 403, 401, 401]);
      expect((await send('GET', path)).status).toBe(200);
    });

    it('membership in a team with access if the organization is private', async () => {
      const [reader, writer] = await Promise.all([forge.makeUser(), forge.makeUser()]);
      for (const [member, permission] of [
        [reader, 'read'],
        [writer, 'write'],
      ] as const) {
        const body = { name: freshName('team'), permission, units: ['repo.code', 'repo.packages'] };
        const team = await forge.ask('POST', `/orgs/${organization}/teams`, { as: ada, body });
        await forge.ask('PUT', `/teams/${team.json.id}/members/${member.name}`, { as: ada });
      }
      const path = `${organization}/generic/${freshName('tool')}/1/f`;

      const writes = [
        (await put(path, 'x', stranger)).status,
        (await put(path, 'x', reader)).status,
        (await put(path, 'x', writer)).status,
      ];
      const reads = [
        (await send('GET', path)).status,
        (await send('GET', path, { as: stranger })).status,
        (await send('GET', path, { as: reader })).status,
        (await forge.ask('GET', `/packages/${organization}`, { as: stranger })).status,
        (await forge.ask('GET', `/packages/${organization}`, { as: reader })).status,
      ];

      expect(writes).toEqual([401, 401, 201]);
      expect(reads).toEqual([401, 401, 200, 403, 200]);
    });

    it('a token with the package scope', async () => {
      const tokenOf = async (scopes: string[]): Promise<Account> => {
        const headers = basic(ada.name, ada.password);
        const body = { name: freshName('token'), scopes };
        const { json } = await forge.ask('POST', `/users/${ada.name}/tokens`, { headers, body });
        return { ...ada, token: json.sha1 };
      };
      const [other, reading, open] = [
        await tokenOf(['read:repository']),
        await tokenOf(['read:package']),
        await tokenOf(['write:package', 'public-only']),
      ];
      const path = `${ada.name}/generic/${freshName('tool')}/1/f`;
      await put(path, 'x');
      const list = `/packages/${ada.name}`;
      const hidden = `/packages/${organization}`;

      expect([
        (await forge.ask('GET', list, { as: other })).status,
        (await forge.ask('GET', list, { as: reading })).status,
        (await put(`${path}2`, 'x', other)).status,
        (await put(`${path}2`, 'x', reading)).status,
        (await put(`${path}2`, 'x', open)).status,
        (await forge.ask('GET', hidden, { as: open })).status,
      ]).toEqual([403, 200, 401, 401, 201, 403]);
    });
  });

  it('prevent the deletion of their owner', async () => {
    const owner = await forge.makeOrganization(ada);
    const path = `${owner}/generic/tool/1/f`;
    await put(path, 'x');

    const refused = await forge.ask('DELETE', `/orgs/${owner}`, { as: ada });
    await send('DELETE', path, { as: ada });
    const removed = await forge.ask('DELETE', `/orgs/${owner}`, { as: ada });

    expect([refused.status, removed.status]).toEqual([expect.toBeOneOf([422, 500]), 204]);
  });
});
