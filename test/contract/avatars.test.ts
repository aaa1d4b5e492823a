import { crc32 } from 'node:zlib';
import { beforeAll, expect, it } from 'vitest';
import { drawIdenticon } from '../../src/forge/accounts/avatars.ts';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';

const png = drawIdenticon('a test');
const images = {
  'image/png': png.toString('base64'),
  'image/gif': 'R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=',
  'image/webp': 'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA',
  'image/jpeg':
    '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=',
};

/** Returns the image with the given dimensions in its header. */
function withSize(width: number, height: number): string {
  const bytes = Buffer.from(png);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29);
  return bytes.toString('base64');
}

describeContract('avatars', (forge) => {
  let ada: Account;
  let stranger: Account;
  let organization: string;
  let repository: string;
  beforeAll(async () => {
    [ada, stranger] = [await forge.makeUser(), await forge.makeUser()];
    organization = await forge.makeOrganization(ada);
    repository = await forge.makeRepository(ada);
  });
  const ask = (
    method: string,
    path: string,
    body?: unknown,
    as: Account | undefined = ada,
  ): Promise<Answer> => forge.ask(method, path, { as, body });
  const addressAt = async (path: string): Promise<string> => (await ask('GET', path)).json.avatar_url;
  async function load(address: string) {
    const response = await fetch(address);
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, type: response.headers.get('content-type'), bytes, response };
  }

  it('default to a generated image, the same every time', async () => {
    const address = await addressAt('/user');
    const [first, second] = [await load(address), await load(address)];

    expect([first.status, first.type]).toEqual([200, 'image/png']);
    expect(first.bytes.equals(second.bytes)).toBe(true);
    expect(first.bytes.toString('latin1', 1, 4)).toBe('PNG');
    expect((await fetch(address, { method: 'HEAD' })).status).toBe(200);
    expect((await load(await addressAt(`/users/${stranger.name}`))).bytes.equals(first.bytes)).toBe(false);
  });

  it.each(Object.entries(images))(
    'can be set to %s, which is then served at their URL',
    async (type, image) => {
      const before = await addressAt('/user');
      const { status, text } = await ask('POST', '/user/avatar', { image });
      const address = await addressAt('/user');
      const loaded = await load(address);

      expect([status, text]).toEqual([204, '']);
      expect(address).not.toBe(before);
      expect([loaded.status, loaded.type, loaded.bytes.toString('base64')]).toEqual([200, type, image]);
      expect(await addressAt(`/users/${ada.name}`)).toBe(address);
    },
  );

  it('are served without content type sniffing', async () => {
    const { response } = await load(await addressAt('/user'));

    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('can be set to the same file again, and deleted', async () => {
    const image = images['image/png'];
    for (const _time of [1, 2]) expect((await ask('POST', '/user/avatar', { image })).status).toBe(204);
    const set = await addressAt('/user');

    for (const _time of [1, 2]) expect((await ask('DELETE', '/user/avatar')).status).toBe(204);

    const after = await addressAt('/user');
    expect(after).not.toBe(set);
    expect((await load(after)).bytes.toString('base64')).not.toBe(image);
    // The former URL serves a generated image.
    expect((await load(set)).bytes.toString('base64')).not.toBe(image);
  });

  it('are refused if they are not an image or are too large', async () => {
    expect((await ask('POST', '/user/avatar', { image: '***' })).status).toBe(400);
    expect((await ask('POST', '/user/avatar', {})).status).toBe(422);
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64');
    // Gitea and Forgejo return 500.
    for (const image of ['aGVsbG8=', svg, withSize(4097, 1), withSize(1, 4097), withSize(0, 0)])
      expect([422, 500]).toContain((await ask('POST', '/user/avatar', { image })).status);
    expect((await ask('POST', '/user/avatar', { image: withSize(4096, 4096) })).status).toBe(204);
  });

  it('of an organization are changed by its owners', async () => {
    const path = `/orgs/${organization}/avatar`;
    const body = { image: images['image/gif'] };
    const before = await addressAt(`/orgs/${organization}`);

    expect((await ask('POST', path, body, stranger)).status).toBe(403);
    expect((await forge.ask('POST', path, { body })).status).toBe(401);
    expect((await ask('POST', path, body)).status).toBe(204);
    expect((await load(await addressAt(`/orgs/${organization}`))).type).toBe('image/gif');
    expect((await ask('DELETE', path)).status).toBe(204);
    expect((await load(before)).type).toBe('image/png');
  });

  it('of a repository are changed by its administrators, and are not set by default', async () => {
    const path = `/repos/${repository}/avatar`;
    const body = { image: images['image/gif'] };

    expect(await addressAt(`/repos/${repository}`)).toBe('');
    expect((await ask('DELETE', path)).status).toBe(204);
    expect((await ask('POST', path, body, stranger)).status).toBe(403);
    expect((await ask('POST', path, body)).status).toBe(204);
    expect((await load(await addressAt(`/repos/${repository}`))).type).toBe('image/gif');
    expect((await ask('DELETE', path)).status).toBe(204);
    expect(await addressAt(`/repos/${repository}`)).toBe('');
    const hidden = await forge.makeRepository(ada, { private: true });
    expect((await ask('POST', `/repos/${hidden}/avatar`, body, stranger)).status).toBe(404);
  });
});
