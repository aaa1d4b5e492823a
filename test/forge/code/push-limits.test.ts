import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createForgeInstance, type ForgeInstance } from '../../../src/forge/forge.ts';
import { start, waitForExit } from '../../support/command.ts';
import { basic } from '../../support/contract-forge.ts';
import { cloneRepository, type GitClone } from '../../support/git-client.ts';
import { passwordCost } from '../../support/privilege-setup.ts';

const mebibyte = 1024 * 1024;
const type = 'application/x-git-receive-pack-request';
const credentials = basic('root', 'password');

/** Returns the total size of all files below a folder. */
function sizeOf(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sizes = names.map((name) => statSync(join(folder, name))).filter((stat) => stat.isFile());
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

describe('a push beyond the limits', () => {
  let data: string;
  let scratch: string;
  let forge: ForgeInstance;
  let before: string | undefined;
  const clones: GitClone[] = [];
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'limits-'));
    scratch = mkdtempSync(join(tmpdir(), 'limits-scratch-'));
    // Git keeps the quarantine folder of a push here until it accepts the push.
    before = process.env.TMPDIR;
    process.env.TMPDIR = scratch;
    const limits = { pushBytes: 4 * mebibyte, objectBytes: 2 * mebibyte };
    forge = await createForgeInstance({ passwordCost, clock: () => new Date(), data, limits });
    await forge.listen();
    await forge.createAdministrator({ name: 'root', password: 'password' });
  });
  afterAll(async () => {
    await forge.close();
    process.env.TMPDIR = before;
    if (before === undefined) delete process.env.TMPDIR;
    for (const folder of [data, scratch]) rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => {
    for (const clone of clones.splice(0)) clone.remove();
  });

  let name: string;
  let id: number;
  beforeEach(async () => {
    name = `repo-${randomBytes(4).toString('hex')}`;
    id = (await post('/user/repos', { name, auto_init: true })).id;
  });

  async function post(path: string, body: object): Promise<{ id: number }> {
    const response = await fetch(`${forge.url}/api/v1${path}`, {
      method: 'POST',
      headers: { ...credentials, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { id: number };
  }

  async function branches(): Promise<readonly string[]> {
    const response = await fetch(`${forge.url}/api/v1/repos/root/${name}/branches`, { headers: credentials });
    return ((await response.json()) as { name: string }[]).map((branch) => branch.name);
  }

  async function clone(): Promise<GitClone> {
    const url = new URL(`${forge.url}/root/${name}.git`);
    Object.assign(url, { username: 'root', password: 'password' });
    const made = await cloneRepository(url.href);
    clones.push(made);
    return made;
  }

  const push = (body: Buffer | ReadableStream, headers: Record<string, string> = {}) =>
    fetch(`${forge.url}/root/${name}.git/git-receive-pack`, {
      method: 'POST',
      headers: { ...credentials, 'content-type': type, ...headers },
      body: body as BodyInit,
      duplex: 'half',
    } as RequestInit);

  it('A6: is refused with 413 if it decompresses beyond them, and leaves nothing behind', async () => {
    const packed = gzipSync(Buffer.alloc(256 * mebibyte));

    const answer = await push(packed, { 'content-encoding': 'gzip' });

    expect([answer.status, await answer.text()]).toEqual([413, expect.stringContaining('4194304 bytes')]);
    expect(packed.length).toBeLessThan(mebibyte);
    // The socket of the launcher process exists as long as the forge runs.
    expect(readdirSync(scratch).filter((name) => !name.startsWith('reeve-git-'))).toEqual([]);
  });

  it('A6: is refused with 413 if it is too long, with and without a content length', async () => {
    const bytes = Buffer.alloc(5 * mebibyte);

    const known = await push(bytes);
    const unknown = await push(new Blob([bytes]).stream());

    expect([known.status, unknown.status]).toEqual([413, 413]);
  });

  it('A6: is refused before it has been sent completely', async () => {
    const socket = connect(Number(new URL(forge.url).port), '127.0.0.1');
    const answer = new Promise<string>((resolve) => socket.once('data', (piece) => resolve(String(piece))));
    const head = [`POST /root/${name}.git/git-receive-pack HTTP/1.1`, 'Host: x', `Content-Type: ${type}`];
    const auth = `Authorization: ${credentials.authorization}`;
    socket.write([...head, auth, 'Transfer-Encoding: chunked', '', ''].join('\r\n'));
    const piece = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(mebibyte), Buffer.from('\r\n')]);
    for (let at = 0; at < 8; at += 1) socket.write(piece);

    expect(await answer).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  it('A6: is refused with 400 if it is not gzip', async () => {
    const answer = await push(Buffer.from('0000'), { 'content-encoding': 'gzip' });

    expect(answer.status).toBe(400);
  });

  it('A6: is refused as a whole, and the next push is accepted', async () => {
    const work = await clone();
    writeFileSync(join(work.folder, 'large.bin'), randomBytes(5 * mebibyte));
    await work.commit({ 'a.txt': 'a' });

    await expect(work.git('push', '--quiet', 'origin', 'HEAD:large')).rejects.toThrow('413');
    await work.git('reset', '--quiet', '--hard', 'HEAD~1');
    await work.commit({ 'a.txt': 'a' });
    await work.git('push', '--quiet', 'origin', 'HEAD:small');

    expect(await branches()).toEqual(expect.arrayContaining(['main', 'small']));
    expect(await branches()).not.toContain('large');
  });

  it.each([
    ['no protections', undefined],
    ['a branch protection', { rule_name: 'main', required_approvals: 1 }],
  ])('A6: is refused for an object that decompresses to more, with %s', async (_, protection) => {
    if (protection) await post(`/repos/root/${name}/branch_protections`, protection);
    const work = await clone();
    // Compresses to a few kilobytes in a pack.
    writeFileSync(join(work.folder, 'zeros.bin'), Buffer.alloc(3 * mebibyte));
    await work.commit({ 'a.txt': 'a' });

    await expect(work.git('push', '--quiet', 'origin', 'HEAD:bomb')).rejects.toThrow(/unpack/);

    expect(await branches()).toEqual(['main']);
  });

  it('A6: is refused for a delta that expands to a larger object', async () => {
    const work = await clone();
    const half = randomBytes(1.5 * mebibyte);
    writeFileSync(join(work.folder, 'x.bin'), half);
    await work.commit({ 'a.txt': 'a' });
    await work.git('push', '--quiet', 'origin', 'HEAD:main');
    writeFileSync(join(work.folder, 'x.bin'), Buffer.concat([half, half]));
    await work.commit({ 'a.txt': 'b' });

    await expect(work.git('push', '--quiet', 'origin', 'HEAD:double')).rejects.toThrow(/unpack/);

    expect(await branches()).toEqual(['main']);
  });

  it('A6: uses no more space in the repository than its own size, no matter how much its deltas expand', async () => {
    const work = await clone();
    const bytes = randomBytes(mebibyte);
    for (let at = 0; at < 20; at += 1) {
      bytes[at] = (bytes[at] ?? 0) ^ 0xff;
      writeFileSync(join(work.folder, 'x.bin'), bytes);
      await work.commit({ 'a.txt': String(at) });
    }

    await work.git('push', '--quiet', 'origin', 'HEAD:many');

    expect(await branches()).toContain('many');
    expect(sizeOf(join(data, 'repositories', `${id}.git`))).toBeLessThan(3 * mebibyte);
  });

  it('a pull request from a fork uses no more space in its target than the size of its pack', async () => {
    const organization = `org-${randomBytes(4).toString('hex')}`;
    await post('/orgs', { username: organization });
    await post(`/repos/root/${name}/forks`, { organization });
    const url = new URL(`${forge.url}/${organization}/${name}.git`);
    Object.assign(url, { username: 'root', password: 'password' });
    const work = await cloneRepository(url.href);
    clones.push(work);
    const bytes = randomBytes(mebibyte);
    for (let at = 0; at < 20; at += 1) {
      bytes[at] = (bytes[at] ?? 0) ^ 0xff;
      writeFileSync(join(work.folder, 'x.bin'), bytes);
      await work.commit({ 'a.txt': String(at) });
    }
    await work.git('push', '--quiet', 'origin', 'HEAD:many');

    await post(`/repos/root/${name}/pulls`, { title: 'Many', head: `${organization}:many`, base: 'main' });

    expect(sizeOf(join(data, 'repositories', `${id}.git`))).toBeLessThan(3 * mebibyte);
  });

  it('A6: is refused if one of its paths is another spelling of .git', async () => {
    const work = await clone();
    const blob = (await work.git('hash-object', '-w', 'README.md')).trim();
    for (const path of ['git~1', '.g\u200cit']) {
      const tree = execFileSync('git', ['mktree', '-z'], {
        cwd: work.folder,
        input: `100644 blob ${blob}\t${path}\0`,
        env: { PATH: process.env.PATH },
      });
      const commit = await work.git('commit-tree', '-m', 'x', tree.toString().trim());

      await expect(work.git('push', '--quiet', 'origin', `${commit.trim()}:refs/heads/x`)).rejects.toThrow(
        /hasDotgit/,
      );
    }

    expect(await branches()).toEqual(['main']);
  });
});

it.each(['0', '1.5'])('`reeve forge --max-push %s` is a usage error', async (text) => {
  const { status, error } = await waitForExit(start(['forge', '--port', '0', '--max-push', text]));

  expect([status, error]).toEqual([2, expect.stringContaining('--max-push takes a number of MiB')]);
});
