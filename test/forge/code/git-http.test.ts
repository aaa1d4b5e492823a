import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Account, basic, type ContractForge, startEmbedded } from '../../support/contract-forge.ts';
import { cloneRepository, type GitClone, runGit } from '../../support/git-client.ts';

let forge: ContractForge;
let owner: Account;
const clones: GitClone[] = [];

beforeAll(async () => {
  forge = await startEmbedded();
  owner = await forge.makeUser();
});
afterAll(() => forge.close());
afterEach(() => {
  for (const clone of clones.splice(0)) clone.remove();
});

function addressOf(repository: string, account?: { name: string; password: string }): string {
  const url = new URL(`${forge.url}/${repository}.git`);
  if (account) Object.assign(url, { username: account.name, password: account.password });
  return url.href;
}

async function cloneOf(repository: string, account?: { name: string; password: string }): Promise<GitClone> {
  const clone = await cloneRepository(addressOf(repository, account));
  clones.push(clone);
  return clone;
}

const branchesOf = async (repository: string): Promise<string[]> => {
  const answer = await forge.ask('GET', `/repos/${repository}/branches`, { as: owner });
  return (answer.json ?? []).map((branch: { name: string }) => branch.name);
};

describe('git over HTTP', () => {
  test('clones what the forge committed and accepts a push', async () => {
    const repository = await forge.makeRepository(owner, { auto_init: true });
    const clone = await cloneOf(repository, owner);

    const head = await clone.commit({ 'a.txt': 'hello\n' });
    await clone.git('push', '--quiet', 'origin', 'HEAD:main');

    const branch = await forge.ask('GET', `/repos/${repository}/branches/main`, { as: owner });
    expect(branch.json.commit.id).toBe(head);
    const again = await cloneOf(repository, owner);
    expect((await again.git('rev-parse', 'HEAD')).trim()).toBe(head);
  });

  test('creates no lock file with a path that is too long', async () => {
    const repository = await forge.makeRepository(owner);
    const media = 'application/vnd.git-lfs+json';
    const lock = (path: string) =>
      fetch(`${forge.url}/${repository}.git/info/lfs/locks`, {
        method: 'POST',
        headers: { ...basic(owner.name, owner.password), accept: media, 'content-type': media },
        body: JSON.stringify({ path }),
      });

    expect([(await lock('x'.repeat(4_001))).status, (await lock('x'.repeat(4_000))).status]).toEqual([
      400, 201,
    ]);
  });

  test('accepts the first push into an empty repository and makes its branch the default', async () => {
    const repository = await forge.makeRepository(owner);
    const clone = await cloneOf(repository, owner);
    await clone.commit({ 'a.txt': 'hello\n' });

    await clone.git('push', '--quiet', 'origin', 'HEAD:trunk');

    const { json } = await forge.ask('GET', `/repos/${repository}`, { as: owner });
    expect([json.empty, json.default_branch, json.branch_count]).toEqual([false, 'trunk', 1]);
  });

  test('force-pushes, tags, and deletes branches', async () => {
    const repository = await forge.makeRepository(owner, { auto_init: true });
    const clone = await cloneOf(repository, owner);
    await clone.commit({ 'a.txt': '1\n' });
    await clone.git('push', '--quiet', 'origin', 'HEAD:topic');
    await clone.git('commit', '--quiet', '--amend', '-m', 'other');
    const head = (await clone.git('rev-parse', 'HEAD')).trim();

    await expect(clone.git('push', '--quiet', 'origin', 'HEAD:topic')).rejects.toThrow('rejected');
    await clone.git('push', '--quiet', '--force', 'origin', 'HEAD:topic');
    await clone.git('tag', '-a', 'v1', '-m', 'one');
    await clone.git('push', '--quiet', 'origin', 'v1');
    const topic = await forge.ask('GET', `/repos/${repository}/branches/topic`, { as: owner });
    await clone.git('push', '--quiet', 'origin', ':topic');

    expect(topic.json.commit.id).toBe(head);
    expect(await branchesOf(repository)).toEqual(['main']);
    const contents = await forge.ask('GET', `/repos/${repository}/contents/a.txt?ref=v1`, { as: owner });
    expect(contents.status).toBe(200);
  });

  test('allows anonymous reads of a public repository and requires credentials to push', async () => {
    const repository = await forge.makeRepository(owner, { auto_init: true });
    const clone = await cloneOf(repository);
    await clone.commit({ 'a.txt': 'x' });

    await expect(clone.git('push', '--quiet', 'origin', 'HEAD:main')).rejects.toThrow(
      /could not read Username/,
    );
    const answer = await fetch(`${forge.url}/${repository}.git/info/refs?service=git-receive-pack`);
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="Gitea"']);
  });

  test('hides a private repository from strangers and accepts a token as a password', async () => {
    const repository = await forge.makeRepository(owner, { auto_init: true, private: true });
    const stranger = await forge.makeUser();

    await expect(cloneOf(repository)).rejects.toThrow(/could not read Username/);
    await expect(cloneOf(repository, stranger)).rejects.toThrow(/not found/);
    await cloneOf(repository, { name: owner.name, password: owner.token });
    await cloneOf(repository, { name: owner.token, password: 'x-oauth-basic' });
    await expect(cloneOf(repository, { name: owner.name, password: 'wrong' })).rejects.toThrow(
      /Authentication failed/,
    );
  });

  test('refuses pushes by readers and pushes into an archived repository', async () => {
    const repository = await forge.makeRepository(owner, { auto_init: true });
    const reader = await forge.makeUser();
    const clone = await cloneOf(repository, reader);
    await clone.commit({ 'a.txt': 'x' });

    await expect(clone.git('push', '--quiet', 'origin', 'HEAD:main')).rejects.toThrow(
      'User permission denied for writing.',
    );
    await forge.ask('PATCH', `/repos/${repository}`, { as: owner, body: { archived: true } });
    const own = await cloneOf(repository, owner);
    await own.commit({ 'a.txt': 'x' });
    await expect(own.git('push', '--quiet', 'origin', 'HEAD:main')).rejects.toThrow('403');
  });

  test("rejects pushes to the forge's internal refs", async () => {
    const repository = await forge.makeRepository(owner, { auto_init: true });
    const clone = await cloneOf(repository, owner);
    await clone.commit({ 'a.txt': 'x' });
    const own = ['HEAD:refs/reeve/agit/x', 'HEAD:refs/pull/7/head'];

    for (const refs of [own, [...own, 'HEAD:refs/for/main/topic']]) {
      await expect(clone.git('push', 'origin', ...refs)).rejects.toThrow(
        /refs\/reeve\/agit\/x \(deny updating a hidden ref\).*refs\/pull\/7\/head \(deny updating a hidden ref\)/s,
      );
    }
    const left = (await clone.git('ls-remote', 'origin')).match(/refs\/\S+/g);
    expect(left).toEqual(['refs/heads/main', 'refs/pull/1/head']);
  });

  test('redirects from the old name of a repository to the new one', async () => {
    const repository = await forge.makeRepository(owner, { auto_init: true });
    const name = `${repository.split('/')[1]}-renamed`;

    await forge.ask('PATCH', `/repos/${repository}`, { as: owner, body: { name } });

    const clone = await cloneOf(repository, owner);
    expect(await clone.git('ls-files')).toBe('README.md\n');
  });

  test('completes concurrent pushes', async () => {
    const repository = await forge.makeRepository(owner, { auto_init: true });
    const many = await Promise.all(Array.from({ length: 6 }, () => cloneOf(repository, owner)));

    await Promise.all(
      many.map(async (clone, at) => {
        await clone.commit({ [`file-${at}`]: `${at}` });
        await clone.git('push', '--quiet', 'origin', `HEAD:topic-${at}`);
      }),
    );

    expect((await branchesOf(repository)).sort()).toEqual([
      'main',
      ...Array.from({ length: 6 }, (_, at) => `topic-${at}`),
    ]);
  });

  test('accepts pushes only to branches and tags, and never to pull request refs', async () => {
    const repository = await forge.makeRepository(owner, { auto_init: true });
    const clone = await cloneOf(repository, owner);

    await expect(clone.git('push', '--quiet', 'origin', 'HEAD:refs/pull/1/head')).rejects.toThrow(
      'hidden ref',
    );
    await expect(clone.git('push', '--quiet', 'origin', 'HEAD:refs/reeve/x')).rejects.toThrow('hidden ref');
  });

  test('accepts the compressed request of a client with many branches', async () => {
    const repository = await forge.makeRepository(owner, { auto_init: true });
    const clone = await cloneOf(repository, owner);
    // Enough refs to make git compress its list of haves and wants.
    for (let at = 0; at < 60; at += 1) await clone.git('branch', `many-${at}-${'x'.repeat(40)}`);
    await clone.commit({ a: '1' });
    await clone.git('push', '--quiet', 'origin', '--all');

    const other = await cloneOf(repository, owner);
    await clone.commit({ a: '2' });
    await clone.git('push', '--quiet', 'origin', '--all');
    await other.git('fetch', '--quiet', '--all');

    expect((await runGit(other.folder, ['branch', '-r'])).split('\n').length).toBeGreaterThan(60);
  });
});
