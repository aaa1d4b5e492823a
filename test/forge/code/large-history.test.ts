import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createForgeInstance, type ForgeInstance } from '../../../src/forge/forge.ts';
import { basic } from '../../support/contract-forge.ts';
import { cloneRepository, type GitClone } from '../../support/git-client.ts';
import { passwordCost } from '../../support/privilege-setup.ts';

const headers = { ...basic('root', 'password'), 'content-type': 'application/json' };
/** Paths of the history. The changed-path filters hash a path with non-ASCII bytes differently. */
const paths = ['file-7.txt', 'ä-ß.txt', 'side.txt', 'both.txt'];

describe('a push of many objects', () => {
  let data: string;
  let forge: ForgeInstance;
  let work: GitClone | undefined;
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'history-'));
    forge = await open();
    await forge.createAdministrator({ name: 'root', password: 'password' });
  });
  afterAll(async () => {
    work?.remove();
    await forge.close();
    rmSync(data, { recursive: true, force: true });
  });

  async function open(): Promise<ForgeInstance> {
    const opened = await createForgeInstance({ passwordCost, clock: () => new Date(), data });
    await opened.listen();
    return opened;
  }

  async function ask(path: string, method = 'GET', body?: object) {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${forge.url}/api/v1${path}`, { method, headers, ...sent });
    return JSON.parse(await response.text());
  }

  it('indexes the history without changing the last commits of paths', async () => {
    const { id } = await ask('/user/repos', 'POST', { name: 'large', auto_init: true });
    const graph = join(data, 'repositories', `${id}.git`, 'objects/info/commit-graphs/commit-graph-chain');
    const url = new URL(`${forge.url}/root/large.git`);
    Object.assign(url, { username: 'root', password: 'password' });
    work = await cloneRepository(url.href);
    const { git, commit } = work;
    await commit({ 'both.txt': '0', 'ä-ß.txt': '0' });
    await git('push', '--quiet', 'origin', 'main');
    const many = Array.from({ length: 1_000 }, (_, at) => [`file-${at}.txt`, `${at}`]);
    const first = await commit(Object.fromEntries(many));
    const umlauts = await commit({ 'ä-ß.txt': '1' });
    await git('checkout', '--quiet', '-b', 'side');
    await commit({ 'side.txt': '1', 'both.txt': '1' });
    await git('checkout', '--quiet', 'main');
    await commit({ 'both.txt': '2' });
    await git('merge', '--quiet', '-s', 'ours', '--no-edit', 'side');
    await git('checkout', 'side', '--', 'side.txt');
    const both = await commit({ 'both.txt': '3' });
    const wanted = [first, umlauts, both, both];
    const seen = () =>
      Promise.all(
        paths.map(async (path) => {
          const { last_commit_sha: last } = await ask(
            `/repos/root/large/contents/${encodeURIComponent(path)}`,
          );
          return last;
        }),
      );

    const isIndexedEarly = existsSync(graph);
    await git('push', '--quiet', 'origin', 'main');
    const before = await seen();
    // Closing a forge waits for its background work.
    await forge.close();
    const isIndexed = existsSync(graph);
    forge = await open();

    expect([isIndexedEarly, isIndexed]).toEqual([false, true]);
    expect(before).toEqual(wanted);
    expect(await seen()).toEqual(wanted);
  });
});
