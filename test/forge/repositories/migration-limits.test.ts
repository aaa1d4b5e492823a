import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createForgeInstance, type ForgeInstance } from '../../../src/forge/forge.ts';
import { basic, freshName } from '../../support/contract-forge.ts';
import { launcher } from '../../support/launcher.ts';
import { passwordCost } from '../../support/privilege-setup.ts';
import { waitFor } from '../../support/shared-repository.ts';

const mebibyte = 1024 * 1024;
const limits = { pushBytes: 4 * mebibyte, objectBytes: 2 * mebibyte };
const credentials = basic('root', 'password');

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

const packetLine = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text;

/** Serves a repository as `git http-backend` does or, with `isDumb`, as plain files. */
function serving(folder: string, isDumb = false): Answering {
  return (request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split('?');
    if (isDumb) {
      try {
        response.end(readFileSync(join(folder, path.replace(/^\/x\.git/, ''))));
      } catch {
        response.writeHead(404).end();
      }
      return;
    }
    const isAdvertisement = query !== '';
    const kind = isAdvertisement ? 'advertisement' : 'result';
    response.writeHead(200, { 'content-type': `application/x-git-upload-pack-${kind}` });
    if (isAdvertisement) response.write(`${packetLine('# service=git-upload-pack\n')}0000`);
    const how = isAdvertisement ? ['--advertise-refs'] : [];
    const child = spawn('git', ['upload-pack', '--stateless-rpc', ...how, folder]);
    request.pipe(child.stdin);
    child.stdout.pipe(response);
  };
}

/** Files that together exceed the push limit, although each of them is small enough. */
const largeFiles = (): Record<string, Buffer> =>
  Object.fromEntries(['x', 'y', 'z', 'w'].map((name) => [`${name}.bin`, randomBytes(1.4 * mebibyte)]));

/** Returns whether a file is a temporary file of a fetch. */
const isLeftover = (name: string): boolean => /tmp_|remote-/.test(name);

describe('a migration with the limits of a push', () => {
  let data: string;
  let forge: ForgeInstance;
  let source: string;
  const closing: (() => void)[] = [];
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'migration-limits-'));
    const features = { localMirrors: true };
    const clock = () => new Date();
    forge = await createForgeInstance({ passwordCost, launcher, clock, data, limits, features });
    await forge.listen();
    await forge.createAdministrator({ name: 'root', password: 'password' });
  });
  afterAll(async () => {
    await forge.close();
    rmSync(data, { recursive: true, force: true });
  });
  beforeEach(() => {
    source = mkdtempSync(join(tmpdir(), 'migration-source-'));
    git('init', '--quiet', '--initial-branch=main');
    commit({ 'a.txt': Buffer.from('a') });
  });
  afterEach(() => {
    for (const close of closing.splice(0)) close();
    rmSync(source, { recursive: true, force: true });
  });

  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args], {
      cwd: source,
      stdio: 'pipe',
    }).toString();
  function commit(files: Record<string, Buffer>): void {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(source, name), content);
    git('add', '.');
    git('commit', '--quiet', '-m', 'x');
  }

  async function serve(answer: Answering): Promise<string> {
    const server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.git`;
  }
  async function ask(method: string, path: string, body?: object) {
    const response = await fetch(`${forge.url}/api/v1${path}`, {
      method,
      headers: { ...credentials, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: text === '' ? undefined : JSON.parse(text) };
  }
  const migrate = (clone_addr: string, more: object = {}) =>
    ask('POST', '/repos/migrate', { clone_addr, repo_name: freshName('copy'), ...more });

  /** Returns the files below the repositories folder, with their sizes. */
  function filesOf(folder = join(data, 'repositories')): Map<string, number> {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const found = names.map((name) => [name, statSync(join(folder, name))] as const);
    return new Map(found.filter(([, stat]) => stat.isFile()).map(([name, { size }]) => [name, size]));
  }

  it.each([
    ['a pack over the limit', () => largeFiles(), /sends more than 4194304 bytes/],
    [
      'an object that decompresses to more',
      () => ({ 'x.bin': Buffer.alloc(3 * mebibyte) }),
      /fetch ended with/,
    ],
  ])('is refused for %s, and leaves nothing behind', async (_, files, reason) => {
    const address = await serve(serving(source));
    expect((await migrate(address)).status).toBe(201);
    const before = filesOf();
    commit(files());

    const { status, json } = await migrate(address);

    expect([status, json.message]).toEqual([422, expect.stringMatching(reason)]);
    expect(filesOf()).toEqual(before);
  });

  it('is refused for a delta that expands to a larger object', async () => {
    const half = randomBytes(1.5 * mebibyte);
    commit({ 'x.bin': half });
    commit({ 'x.bin': Buffer.concat([half, half]) });
    git('repack', '-adq');

    expect((await migrate(await serve(serving(source)))).status).toBe(422);
  });

  it('uses no more space than its own size, no matter how much its deltas expand', async () => {
    const bytes = randomBytes(mebibyte);
    for (let at = 0; at < 20; at += 1) {
      bytes[at] = (bytes[at] ?? 0) ^ 0xff;
      commit({ 'x.bin': bytes });
    }
    git('repack', '-adq');

    const { status, json } = await migrate(await serve(serving(source)));

    expect(status).toBe(201);
    const files = filesOf(join(data, 'repositories', `${json.id}.git`));
    expect([...files.values()].reduce((sum, size) => sum + size, 0)).toBeLessThan(3 * mebibyte);
  });

  it('is refused for a path that a file system treats as .git', async () => {
    const blob = git('hash-object', '-w', 'a.txt').trim();
    const input = `100644 blob ${blob}\t.g\u200cit\0`;
    const tree = execFileSync('git', ['mktree', '-z'], { cwd: source, input }).toString().trim();
    git('update-ref', 'refs/heads/main', git('commit-tree', '-m', 'x', tree).trim());
    git('update-server-info');

    const smart = await migrate(await serve(serving(source)));
    const dumb = await migrate(await serve(serving(join(source, '.git'), true)));

    expect([smart.status, smart.json.message]).toEqual([422, expect.stringContaining('hasDotgit')]);
    expect([dumb.status, dumb.json.message]).toEqual([
      422,
      expect.stringContaining('does not speak the protocol of git'),
    ]);
  });

  it('is aborted if the responses of the server never end', async () => {
    const id = git('rev-parse', 'main').trim();
    let sent = 0;
    /** Writes repeatedly as long as the other side reads. */
    const forever = (response: ServerResponse, next: () => Buffer): void => {
      const write = (): void => {
        if (response.destroyed) return;
        const piece = next();
        sent += piece.length;
        response.write(piece, () => setImmediate(write));
      };
      write();
    };
    const header = `${packetLine('# service=git-upload-pack\n')}0000`;
    const first = packetLine(`${id} refs/heads/main\0ofs-delta side-band-64k\n`);
    const type = (kind: string) => ({ 'content-type': `application/x-git-upload-pack-${kind}` });
    const list = Buffer.from(packetLine(`${id} refs/heads/main\n`).repeat(1000));
    const endlessRefs = await serve((_, response) => {
      response.writeHead(200, type('advertisement'));
      response.write(header + first);
      forever(response, () => list);
    });
    const endlessPack = await serve((request, response) => {
      if (request.method === 'GET') {
        response.writeHead(200, type('advertisement')).end(`${header}${first}0000`);
        return;
      }
      response.writeHead(200, type('result'));
      response.write(packetLine('NAK\n'));
      const start = Buffer.concat([Buffer.from('PACK'), Buffer.from([0, 0, 0, 2, 0, 0, 0x4e, 0x20])]);
      const band = (piece: Buffer): Buffer =>
        Buffer.concat([Buffer.from(`${(piece.length + 5).toString(16).padStart(4, '0')}\u0001`), piece]);
      response.write(band(start));
      // The pack header announces 20,000 objects. Each is a blob of 1,000 bytes: type 3, size 1,000 in two bytes, and
      // the content.
      const blob = () => Buffer.concat([Buffer.from([0xb8, 0x3e]), deflateSync(randomBytes(1000))]);
      forever(response, () => band(Buffer.concat(Array.from({ length: 20 }, blob))));
    });

    const answers = [await migrate(endlessRefs), await migrate(endlessPack)];

    // A list of refs also counts as an allocation, and exceeds the limit of one object.
    const refused = [422, expect.stringMatching(/sends more than 4194304 bytes|over limit 2097152/)];
    expect(answers.map(({ status, json }) => [status, json.message])).toEqual([refused, refused]);
    // The connection buffers hold additional data in transit.
    expect(sent).toBeLessThan(64 * mebibyte);
  });

  it('is refused if the responses are compressed', async () => {
    const packed = gzipSync(Buffer.alloc(64 * mebibyte));
    const address = await serve((_, response) => {
      const type = 'application/x-git-upload-pack-advertisement';
      response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).end(packed);
    });

    const { status, json } = await migrate(address);

    expect([status, json.message]).toEqual([422, expect.stringContaining('compresses its responses')]);
  });

  it('is checked at each synchronization of a mirror, which resumes once the remote is within the limits again', async () => {
    const mirror = await migrate(await serve(serving(source)), { mirror: true, mirror_interval: '0' });
    const { full_name, id } = mirror.json;
    const folder = join(data, 'repositories', `${id}.git`);
    const before = filesOf(folder);
    const readTip = async () => (await ask('GET', `/repos/${full_name}/branches/main`)).json?.commit?.id;
    const tip = await readTip();
    const sync = () => ask('POST', `/repos/${full_name}/mirror-sync`);
    git('checkout', '--quiet', '-b', 'large');
    commit(largeFiles());
    await sync();
    git('checkout', '--quiet', 'main');
    git('branch', '--quiet', '-D', 'large');
    commit({ 'b.txt': Buffer.from('b') });
    const wanted = git('rev-parse', 'main').trim();

    await sync();

    expect(await waitFor(readTip, (found) => found === wanted)).toBe(wanted);
    expect(tip).not.toBe(wanted);
    const leftover = async () =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isLeftover);
    expect(await waitFor(leftover, (names) => names.length === 0)).toEqual([]);
    const after = filesOf(folder);
    expect(Math.max(...after.values()) - Math.max(...before.values())).toBeLessThan(mebibyte);
  });
});
