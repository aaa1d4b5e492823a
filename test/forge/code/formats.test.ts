import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Account, type ContractForge, startEmbedded } from '../../support/contract-forge.ts';
import { cloneRepository, type GitClone, runGit, tryGit } from '../../support/git-client.ts';
import { startReceiver } from '../../support/hook-receiver.ts';

let forge: ContractForge;
let owner: Account;
const clones: GitClone[] = [];
const folders: string[] = [];
const whole = /^[0-9a-f]{64}$/;

beforeAll(async () => {
  forge = await startEmbedded();
  owner = await forge.makeUser();
});
afterAll(() => forge.close());
afterEach(() => {
  for (const clone of clones.splice(0)) clone.remove();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function addressOf(repository: string): string {
  const url = new URL(`${forge.url}/${repository}.git`);
  return Object.assign(url, { username: owner.name, password: owner.password }).href;
}

async function cloneOf(repository: string): Promise<GitClone> {
  const clone = await cloneRepository(addressOf(repository));
  clones.push(clone);
  return clone;
}

/** Returns an empty folder that is removed after the test. */
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'formats-'));
  folders.push(folder);
  return folder;
}

const ask = async (method: string, path: string, body?: unknown) => {
  const { status, json, text } = await forge.ask(method, path, { as: owner, body });
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
  return json;
};

describe('a SHA-256 repository', () => {
  it('is cloned, pushed to and merged, and shows ids of 64 digits', async () => {
    const repository = await forge.makeRepository(owner, { object_format_name: 'sha256', auto_init: true });
    const path = `/repos/${repository}`;
    const receiver = await startReceiver();
    await ask('POST', `${path}/hooks`, {
      type: 'gitea',
      active: true,
      events: ['push'],
      config: { url: receiver.url, content_type: 'json' },
    });
    const clone = await cloneOf(repository);
    const head = await clone.commit({ 'a.txt': 'a\n' });
    await clone.git('tag', '-a', 'v1', '-m', 'one');
    await clone.git('push', '--quiet', 'origin', 'HEAD:topic', 'v1');

    const pull = await ask('POST', `${path}/pulls`, { title: 'x', head: 'topic', base: 'main' });
    const status = await ask('POST', `${path}/statuses/${head}`, { state: 'success', context: 'ci' });
    await ask('POST', `${path}/pulls/1/reviews`, {
      event: 'COMMENT',
      commit_id: head,
      comments: [{ path: 'a.txt', body: 'here', new_position: 1 }],
    });
    await ask('POST', `${path}/pulls/1/merge`, { Do: 'merge' });
    const merged = await ask('GET', `${path}/pulls/1`);
    await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(3);
    const created = receiver.payloads('push').find(({ ref }) => ref === 'refs/heads/topic');
    await receiver.close();

    expect(head).toMatch(whole);
    expect([pull.head.sha, pull.merge_base.length, status.id > 0]).toEqual([head, 64, true]);
    expect([merged.merged, merged.merge_commit_sha]).toEqual([true, expect.stringMatching(whole)]);
    expect([created.before, created.after]).toEqual(['0'.repeat(64), head]);
    const again = await cloneOf(repository);
    expect((await again.git('rev-parse', 'HEAD')).trim()).toBe(merged.merge_commit_sha);
  });

  it('is read, written, compared and forked through the API', async () => {
    const repository = await forge.makeRepository(owner, { object_format_name: 'sha256', auto_init: true });
    const path = `/repos/${repository}`;
    const content = Buffer.from('one\n').toString('base64');
    const first = await ask('POST', `${path}/contents/a.txt`, { content });
    const sha = first.content.sha as string;
    await ask('PUT', `${path}/contents/a.txt`, { content, sha, branch: 'main', new_branch: 'other' });
    const commit = await ask('GET', `${path}/git/commits/${first.commit.sha}`);
    const tree = await ask('GET', `${path}/git/trees/${commit.commit.tree.sha}`);
    const blob = await ask('GET', `${path}/git/blobs/${sha}`);
    const compared = await ask('GET', `${path}/compare/main...other`);
    await ask('POST', `${path}/tags`, { tag_name: 'v1', target: first.commit.sha });
    const raw = await forge.ask('GET', `${path}/raw/a.txt?ref=${first.commit.sha}`, { as: owner });
    const archive = await forge.ask('GET', `${path}/archive/v1.tar.gz`, { as: owner });
    const organization = await forge.makeOrganization(owner);
    const fork = await ask('POST', `${path}/forks`, { organization });

    expect([sha, first.commit.sha, tree.sha]).toEqual(Array(3).fill(expect.stringMatching(whole)));
    expect([blob.content, compared.total_commits, raw.text, archive.status]).toEqual([
      content,
      1,
      'one\n',
      200,
    ]);
    expect(fork.object_format_name).toBe('sha256');
    const clone = await cloneOf(fork.full_name);
    const head = await clone.commit({ 'b.txt': 'b\n' });
    await clone.git('push', '--quiet', 'origin', 'HEAD:topic');
    const across = await ask('POST', `${path}/pulls`, {
      title: 'x',
      head: `${organization}:topic`,
      base: 'main',
    });
    expect(across.head.sha).toBe(head);
  });

  it('accepts its first push, pushes for review, and protections', async () => {
    const repository = await forge.makeRepository(owner, { object_format_name: 'sha256' });
    const folder = makeFolder();
    await runGit(folder, ['init', '--quiet', '--object-format=sha256', '--initial-branch=main']);
    writeFileSync(join(folder, 'a.txt'), 'a\n');
    await runGit(folder, ['add', '.']);
    await runGit(folder, ['commit', '--quiet', '-m', 'Add a']);
    await runGit(folder, ['push', '--quiet', addressOf(repository), 'main']);
    await ask('POST', `/repos/${repository}/branch_protections`, { rule_name: 'main', enable_push: false });
    await runGit(folder, ['commit', '--quiet', '--allow-empty', '-m', 'Add b']);
    const refused = await tryGit(folder, ['push', addressOf(repository), 'main']);
    const taken = await tryGit(folder, ['push', addressOf(repository), 'HEAD:refs/for/main/topic']);

    expect(refused.complaint).toContain('Not allowed to push to protected branch main');
    expect(taken.complaint).toContain('HEAD -> refs/pull/1/head');
    expect((await ask('GET', `/repos/${repository}/pulls/1`)).head.sha).toMatch(whole);
  });
});

describe('a clone', () => {
  async function makeHistory(): Promise<string> {
    const repository = await forge.makeRepository(owner, { auto_init: true });
    const work = await cloneOf(repository);
    for (const text of ['1', '2', '3', '4']) await work.commit({ 'a.txt': text, [`${text}.txt`]: text });
    await work.git('push', '--quiet', 'origin', 'HEAD:main');
    return repository;
  }

  it.each(['0', '1', '2'])(
    'may be shallow, deepened and pushed from, with protocol version %s',
    async (version) => {
      const repository = await makeHistory();
      const folder = makeFolder();
      const git = (...args: string[]) => runGit(folder, ['-c', `protocol.version=${version}`, ...args]);
      await git('clone', '--quiet', '--depth=2', addressOf(repository), '.');
      const count = async () => Number(await git('rev-list', '--count', 'HEAD'));
      const shallow = await count();
      await git('fetch', '--quiet', '--deepen=1');
      const deeper = await count();
      writeFileSync(join(folder, 'b.txt'), 'b');
      await git('add', '.');
      await git('commit', '--quiet', '-m', 'b');
      await git('push', '--quiet', 'origin', 'HEAD:main');
      await git('push', '--quiet', 'origin', 'HEAD~1:refs/for/main/topic').catch(() => {});
      await git('fetch', '--quiet', '--unshallow');

      expect([shallow, deeper, await count()]).toEqual([2, 3, 6]);
      const branch = await ask('GET', `/repos/${repository}/branches/main`);
      expect(branch.commit.id).toBe((await git('rev-parse', 'HEAD')).trim());
    },
  );

  it('may omit blobs and trees, and fetches them on demand', async () => {
    const repository = await makeHistory();
    const folder = makeFolder();
    const git = (...args: string[]) => runGit(folder, args);
    await git('clone', '--quiet', '--filter=blob:none', '--no-checkout', addressOf(repository), '.');
    const missing = (await git('rev-list', '--objects', '--missing=print', 'HEAD'))
      .split('\n')
      .filter((line) => line.startsWith('?'));
    const text = await git('show', 'HEAD:4.txt');
    const trees = makeFolder();
    await runGit(trees, ['clone', '--quiet', '--filter=tree:0', addressOf(repository), '.']);

    expect(missing.length).toBe(5);
    expect(text).toBe('4');
    expect((await runGit(trees, ['log', '--oneline', '--', '1.txt'])).trim().split('\n')).toHaveLength(1);
  });

  it('may be limited to one branch, to commits since a date, or to one commit by id', async () => {
    const repository = await makeHistory();
    const one = makeFolder();
    await runGit(one, [
      'clone',
      '--quiet',
      '--single-branch',
      '--branch',
      'main',
      addressOf(repository),
      '.',
    ]);
    const since = makeFolder();
    await runGit(since, ['clone', '--quiet', '--shallow-since=2000-01-01', addressOf(repository), '.']);
    const id = (await runGit(one, ['rev-parse', 'HEAD~2'])).trim();
    const bare = makeFolder();
    await runGit(bare, ['init', '--quiet']);
    await runGit(bare, ['fetch', '--quiet', '--depth=1', addressOf(repository), id]);

    expect(Number(await runGit(since, ['rev-list', '--count', 'HEAD']))).toBe(5);
    expect((await runGit(bare, ['rev-parse', 'FETCH_HEAD'])).trim()).toBe(id);
  });

  it('can use protocol version 2 with its object format and filters', async () => {
    const repository = await forge.makeRepository(owner, { object_format_name: 'sha256', auto_init: true });
    const response = await fetch(`${forge.url}/${repository}.git/info/refs?service=git-upload-pack`, {
      headers: { 'git-protocol': 'version=2' },
    });
    const text = await response.text();

    expect(text).toContain('version 2');
    for (const word of ['ls-refs', 'fetch=shallow', 'filter', 'object-format=sha256'])
      expect(text).toContain(word);
  });
});
