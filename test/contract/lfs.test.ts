import { createHash, randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, basic, type ContractForge, describeContract } from '../support/contract-forge.ts';

const media = 'application/vnd.git-lfs+json';
type Pointer = { readonly oid: string; readonly size: number };
type Sender = Account | { readonly name: string; readonly password: string } | undefined;

function pointerOf(content: Buffer): Pointer {
  return { oid: createHash('sha256').update(content).digest('hex'), size: content.length };
}

function textOf({ oid, size }: Pointer): string {
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;
}

/** Creates a Git LFS client that follows the specification. */
function createClient(forge: ContractForge, repository: string, sender: Sender) {
  const root = `${forge.url}/${repository}.git/info/lfs`;
  const credentials: Record<string, string> = sender ? basic(sender.name, sender.password) : {};
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${root}${path}`, {
      method,
      headers: { accept: media, 'content-type': media, ...credentials, ...headers },
      ...(body === undefined
        ? {}
        : { body: (Buffer.isBuffer(body) ? body : JSON.stringify(body)) as BodyInit }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = response.headers.get('content-type')?.includes('json');
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    const json = (isJson ? JSON.parse(bytes.toString() || 'null') : undefined) as any;
    return { status: response.status, headers: response.headers, bytes, json };
  };
  const batch = (operation: string, ...objects: readonly Pointer[]) =>
    call('POST', '/objects/batch', { operation, transfers: ['basic'], objects });
  return {
    call,
    batch,
    /** Requests an upload, sends the bytes to the returned URL, and verifies them there. */
    async upload(content: Buffer): Promise<readonly number[]> {
      const pointer = pointerOf(content);
      const { actions } = (await batch('upload', pointer)).json.objects[0];
      if (!actions?.upload) return [];
      const send = (
        link: { href: string; header?: Record<string, string> },
        method: string,
        body: BodyInit,
      ) => {
        const { 'Transfer-Encoding': _, ...header } = link.header ?? {};
        return fetch(link.href, { method, headers: { 'content-type': media, ...header }, body });
      };
      const sent = await send(actions.upload, 'PUT', content as unknown as BodyInit);
      actions.verify.header.Accept = media;
      const verified = await send(actions.verify, 'POST', JSON.stringify(pointer));
      return [sent.status, verified.status];
    },
    async download(pointer: Pointer, headers: Record<string, string> = {}) {
      const { actions } = (await batch('download', pointer)).json.objects[0];
      const response = await fetch(actions.download.href, {
        headers: { ...actions.download.header, ...headers },
      });
      return { response, bytes: Buffer.from(await response.arrayBuffer()) };
    },
  };
}

describeContract('Git LFS', (forge: ContractForge) => {
  let owner: Account;
  let stranger: Account;
  let repository: string;
  let content: Buffer;
  let pointer: Pointer;
  const as = (sender: Sender, name = repository) => createClient(forge, name, sender);
  beforeAll(async () => {
    owner = await forge.makeUser();
    stranger = await forge.makeUser();
  });
  beforeEach(async () => {
    repository = await forge.makeRepository(owner, { auto_init: true });
    content = randomBytes(70_000);
    pointer = pointerOf(content);
  });

  describe('objects', () => {
    it('are uploaded once, verified, and downloaded whole or resumed', async () => {
      const client = as(owner);
      const sent = await client.upload(content);
      const again = (await client.batch('upload', pointer)).json;
      const { response, bytes } = await client.download(pointer);
      const part = await client.download(pointer, { range: 'bytes=1000-' });
      const middle = await client.download(pointer, { range: 'bytes=10-19' });
      const beyond = await client.download(pointer, { range: 'bytes=70000-' });

      expect(sent).toEqual([200, 200]);
      expect(again.objects).toEqual([pointer]);
      expect([response.status, response.headers.get('content-length')]).toEqual([200, '70000']);
      expect(bytes.equals(content)).toBe(true);
      expect([part.response.status, part.response.headers.get('content-range')]).toEqual([
        206,
        'bytes 1000-69999/70000',
      ]);
      expect(part.bytes.equals(content.subarray(1000))).toBe(true);
      expect(middle.bytes.equals(content.subarray(10, 20))).toBe(true);
      expect(beyond.response.status).toBe(416);
    });

    it('are offered with the credentials of the request, and refused individually', async () => {
      await as(owner).upload(content);
      const other = pointerOf(randomBytes(10));
      const wrong = { oid: 'x', size: 1 };
      const { status, headers, json } = await as(owner).batch(
        'download',
        pointer,
        other,
        { ...pointer, size: 1 },
        wrong,
      );

      expect([status, headers.get('content-type')]).toEqual([200, media]);
      expect(json.objects).toEqual([
        {
          ...pointer,
          actions: {
            download: {
              href: `${forge.url}/${repository}.git/info/lfs/objects/${pointer.oid}`,
              header: { Authorization: basic(owner.name, owner.password).authorization },
            },
          },
        },
        { ...other, error: { code: 404, message: 'Not Found' } },
        { ...pointer, size: 1, error: { code: 422, message: `Object ${pointer.oid} is not 1 bytes` } },
        { ...wrong, error: { code: 422, message: 'Oid or size are invalid' } },
      ]);
    });

    it('must match the size and hash in their URL', async () => {
      const client = as(owner);
      const put = async (path: string, body: Buffer) => {
        const { status, json } = await client.call('PUT', `/objects/${path}`, body);
        return [status, json.Message];
      };

      expect(await put(`${pointer.oid}/${pointer.size}`, randomBytes(70_000))).toEqual([
        422,
        'content hash does not match OID',
      ]);
      expect(await put(`${pointer.oid}/80000`, content)).toEqual([422, 'content size does not match']);
      expect(await put(`${pointer.oid}/100`, content)).toEqual([422, 'content size does not match']);
      expect((await put(`${pointer.oid.toUpperCase()}/70000`, content))[0]).toBe(422);
      expect((await client.call('POST', '/verify', pointer)).status).toBe(404);
      expect((await client.call('GET', `/objects/${pointer.oid}`)).status).toBe(404);
      expect(await client.upload(content)).toEqual([200, 200]);
    });

    it('of other repositories cannot be used to read content without access', async () => {
      await as(owner).upload(content);
      const mine = await forge.makeRepository(stranger);
      const { json } = await as(stranger, mine).batch('upload', pointer);
      const fetched = await as(stranger, mine).call('GET', `/objects/${pointer.oid}`);

      expect(json.objects[0].actions.upload).toBeDefined();
      expect(fetched.status).toBe(404);
      expect(await as(stranger, mine).upload(content)).toEqual([200, 200]);
    });

    it('reject requests that violate the protocol', async () => {
      const client = as(owner);
      const statuses = [
        await client.call('POST', '/objects/batch', { operation: 'x', objects: [] }),
        await client.call('POST', '/objects/batch', Buffer.from('{')),
        await client.call('POST', '/objects/batch', {}, { accept: 'application/json' }),
        await client.call('POST', '/verify', Buffer.from('x')),
        await client.call('POST', '/verify', { oid: 'x', size: 1 }),
        await client.call('GET', '/nothing'),
      ].map(({ status }) => status);

      expect(statuses).toEqual([400, 400, 415, 422, 422, 404]);
    });

    it('are copied to a fork, and stay there when the original repository is deleted', async () => {
      await as(owner).upload(content);
      const fork = `${stranger.name}/${repository.split('/')[1]}`;
      await forge.ask('POST', `/repos/${repository}/forks`, { as: stranger, body: {} });
      await forge.ask('DELETE', `/repos/${repository}`, { as: owner });
      const { bytes } = await as(stranger, fork).download(pointer);

      expect(bytes.equals(content)).toBe(true);
      expect((await as(owner).batch('download', pointer)).status).not.toBe(200);
    });
  });

  describe('access', () => {
    it('to a public repository requires write access only for uploads', async () => {
      await as(owner).upload(content);
      const statuses = [
        (await as(undefined).batch('download', pointer)).status,
        (await as(stranger).batch('download', pointer)).status,
        (await as(undefined).batch('upload', pointer)).status,
        (await as(stranger).batch('upload', pointer)).status,
        (await as(stranger).call('PUT', `/objects/${pointer.oid}/${pointer.size}`, content)).status,
        (await as(stranger).call('POST', '/verify', pointer)).status,
      ];

      expect(statuses).toEqual([200, 200, 401, 401, 401, 401]);
      const { headers } = await as(undefined).batch('upload', pointer);
      expect(headers.get('www-authenticate')).toBe('Basic realm="gitea-lfs"');
    });

    it('to a private repository requires permission to see it', async () => {
      const hidden = await forge.makeRepository(owner, { private: true, auto_init: true });
      await as(owner, hidden).upload(content);
      await forge.share(hidden, owner, { with: stranger, permission: 'read' });
      const reader = await as(stranger, hidden).batch('download', pointer);
      const writer = await as(stranger, hidden).batch('upload', pointer);
      const other = await forge.makeUser();

      expect([reader.status, writer.status]).toEqual([200, 401]);
      expect((await as(other, hidden).batch('download', pointer)).status).toBe(401);
      expect((await as(undefined, hidden).call('GET', `/objects/${pointer.oid}`)).status).toBe(401);
    });

    it('by a token requires the matching scope', async () => {
      const tokenOf = async (scope: string) => {
        const answer = await forge.ask('POST', `/users/${owner.name}/tokens`, {
          body: { name: scope, scopes: [scope] },
          headers: basic(owner.name, owner.password),
        });
        return { name: owner.name, password: answer.json.sha1 as string };
      };
      const reading = as(await tokenOf('read:repository'));
      const writing = as(await tokenOf('write:repository'));
      const foreign = as(await tokenOf('write:issue'));

      expect(await writing.upload(content)).toEqual([200, 200]);
      expect((await reading.batch('download', pointer)).status).toBe(200);
      expect((await reading.batch('upload', pointer)).status).toBe(403);
      expect((await foreign.batch('download', pointer)).status).toBe(403);
    });
  });

  describe('locks', () => {
    it('are created once for a path, listed, and removed by their owner', async () => {
      const client = as(owner);
      const made = await client.call('POST', '/locks', { path: 'a/../b/File.bin' });
      const again = await client.call('POST', '/locks', { path: 'b/file.bin' });
      const listed = await client.call('GET', '/locks');
      const byPath = await client.call('GET', '/locks?path=b/File.bin');
      const byId = await client.call('GET', `/locks?id=${made.json.lock.id}`);
      const unlocked = await client.call('POST', `/locks/${made.json.lock.id}/unlock`, {});

      expect([made.status, made.json.lock]).toEqual([
        201,
        {
          id: expect.stringMatching(/^\d+$/),
          path: 'b/File.bin',
          locked_at: expect.any(String),
          owner: { name: owner.name },
        },
      ]);
      expect([again.status, again.json.message, again.json.lock.id]).toEqual([
        409,
        'already created lock',
        made.json.lock.id,
      ]);
      for (const { json } of [listed, byPath, byId]) {
        expect(json.locks.map(({ id }: { id: string }) => id)).toEqual([made.json.lock.id]);
      }
      expect([unlocked.status, unlocked.json.lock.path]).toEqual([200, 'b/File.bin']);
      expect((await client.call('GET', '/locks')).json).toEqual({ locks: [] });
    });

    it('of others are listed separately, and are removed only with force', async () => {
      await forge.share(repository, owner, { with: stranger, permission: 'write' });
      const { json } = await as(owner).call('POST', '/locks', { path: 'ours' });
      await as(stranger).call('POST', '/locks', { path: 'theirs' });
      const verified = await as(owner).call('POST', '/locks/verify', {});
      const refused = await as(stranger).call('POST', `/locks/${json.lock.id}/unlock`, {});
      const forced = await as(stranger).call('POST', `/locks/${json.lock.id}/unlock`, { force: true });

      const paths = (locks: { path: string }[]) => locks.map(({ path }) => path);
      expect([paths(verified.json.ours), paths(verified.json.theirs)]).toEqual([['ours'], ['theirs']]);
      expect([refused.status, refused.json.message]).toEqual([
        500,
        'unable to delete lock : Internal Server Error',
      ]);
      expect(forced.status).toBe(200);
    });

    it('are paged if a limit is given', async () => {
      const client = as(owner);
      for (const path of ['a', 'b', 'c']) await client.call('POST', '/locks', { path });
      const first = (await client.call('GET', '/locks?limit=2')).json;
      const second = (await client.call('GET', '/locks?limit=2&cursor=2')).json;

      expect([first.locks.length, first.next_cursor]).toEqual([2, '1']);
      expect([second.locks.map(({ path }: { path: string }) => path), second.next_cursor]).toEqual([
        ['c'],
        undefined,
      ]);
    });

    it('require read access to list, and write access to create', async () => {
      const calls = (sender: Sender) => [
        as(sender).call('GET', '/locks'),
        as(sender).call('POST', '/locks/verify', {}),
        as(sender).call('POST', '/locks', { path: 'x' }),
        as(sender).call('POST', '/locks/1/unlock', {}),
      ];
      const statuses = async (sender: Sender) =>
        (await Promise.all(calls(sender))).map(({ status }) => status);

      expect(await statuses(undefined)).toEqual([401, 401, 401, 401]);
      expect(await statuses(stranger)).toEqual([200, 401, 401, 401]);
      const { json } = await as(stranger).call('POST', '/locks', { path: 'x' });
      expect(json.message).toBe('You must have push access to create locks');
    });
  });

  it('resolves a pointer in the media operation, and describes it in the contents', async () => {
    await as(owner).upload(content);
    const body = { content: Buffer.from(textOf(pointer)).toString('base64') };
    await forge.ask('POST', `/repos/${repository}/contents/large.bin`, { as: owner, body });
    const lost = { content: Buffer.from(textOf(pointerOf(randomBytes(5)))).toString('base64') };
    await forge.ask('POST', `/repos/${repository}/contents/lost.bin`, { as: owner, body: lost });
    const bytesOf = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${forge.url}/api/v1/repos/${repository}${path}`, {
        headers: { authorization: `token ${owner.token}`, ...headers },
      });
      return { response, bytes: Buffer.from(await response.arrayBuffer()) };
    };

    const { bytes, response } = await bytesOf('/media/large.bin');
    const etag = response.headers.get('etag') ?? '';
    expect(bytes.equals(content)).toBe(true);
    expect(etag).toBe(`"${pointer.oid}"`);
    expect((await bytesOf('/media/large.bin', { 'if-none-match': etag })).response.status).toBe(304);
    expect((await bytesOf('/raw/large.bin')).bytes.toString()).toBe(textOf(pointer));
    expect((await bytesOf('/media/lost.bin')).bytes.toString()).toContain('git-lfs');
    const { json } = await forge.ask('GET', `/repos/${repository}/contents/large.bin`, { as: owner });
    expect([json.lfs_oid, json.lfs_size, json.size]).toEqual([pointer.oid, 70_000, textOf(pointer).length]);
  });
});
