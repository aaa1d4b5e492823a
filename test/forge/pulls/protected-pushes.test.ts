import { execFileSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type Account,
  type Answer,
  basic,
  type ContractForge,
  startEmbedded,
} from '../../support/contract-forge.ts';
import { cloneRepository, type GitClone } from '../../support/git-client.ts';

let forge: ContractForge;
let ada: Account;
let bob: Account;
let repository: string;
let clone: GitClone;

beforeAll(async () => {
  forge = await startEmbedded();
  [ada, bob] = [await forge.makeUser(), await forge.makeUser()];
});
afterAll(() => forge.close());
beforeEach(async () => {
  repository = await forge.makeRepository(ada, { auto_init: true });
  await forge.share(repository, ada, { with: bob, permission: 'write' });
  clone = await cloneAs(bob);
});
afterEach(() => clone.remove());

const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
  forge.ask(method, `/repos/${repository}${path}`, { as: ada, body });
const protect = (rule_name: string, terms: object = {}): Promise<Answer> =>
  ask('POST', '/branch_protections', { rule_name, ...terms });
const headOf = async (branch: string): Promise<string | undefined> =>
  (await ask('GET', `/branches/${branch}`)).json.commit?.id;
const push = (...refs: string[]): Promise<string> => clone.git('push', 'origin', ...refs);

async function cloneAs({ name, password }: Account): Promise<GitClone> {
  const url = new URL(`${forge.url}/${repository}.git`);
  Object.assign(url, { username: name, password });
  return await cloneRepository(url.href);
}

describe('a push to a protected branch', () => {
  test('is refused as a whole, and the pusher sees the reason', async () => {
    await protect('main');
    const before = await headOf('main');
    await clone.commit({ 'a.txt': 'x' });

    const attempt = push('HEAD:main', 'HEAD:free');

    await expect(attempt).rejects.toThrow('Not allowed to push to protected branch main');
    await expect(push('HEAD:main')).rejects.toThrow(/remote rejected.*HEAD -> main/);
    expect(await headOf('main')).toBe(before);
    expect((await ask('GET', '/branches/free')).status).toBe(404);
    await push('HEAD:free');
    expect((await ask('GET', '/branches/free')).status).toBe(200);
  });

  test.each([
    ['a capability with a value', 'report-status push-options=1'],
    ['capabilities separated by a tab', 'report-status\tpush-options'],
    ['push options without the capability', 'report-status'],
  ])('is refused if its pack follows %s', async (_, words) => {
    await protect('main');
    const before = await headOf('main');
    const after = await clone.commit({ 'a.txt': 'x' });
    const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
    const head = `${line(`${before} ${after} refs/heads/main\0 ${words}`)}0000${line('x=1\n')}0000`;
    const pack = execFileSync('git', ['pack-objects', '--revs', '--stdout', '--quiet'], {
      cwd: clone.folder,
      input: `${after}\n^${before}\n`,
      env: { PATH: process.env.PATH },
    });

    const answer = await fetch(`${forge.url}/${repository}.git/git-receive-pack`, {
      method: 'POST',
      headers: { ...basic(bob.name, bob.password), 'content-type': 'application/x-git-receive-pack-request' },
      body: Buffer.concat([Buffer.from(head), pack]),
    });

    expect(await answer.text()).toContain('ng refs/heads/main pre-receive hook declined');
    expect(await headOf('main')).toBe(before);
  });

  test('is accepted if pushing is enabled, and only from the allowlist if there is one', async () => {
    await protect('main', { enable_push: true });
    const head = await clone.commit({ 'a.txt': 'x' });
    await push('HEAD:main');
    expect(await headOf('main')).toBe(head);
    const list = { enable_push: true, enable_push_whitelist: true, push_whitelist_usernames: [ada.name] };
    await ask('PATCH', '/branch_protections/main', list);
    await clone.commit({ 'a.txt': 'y' });

    await expect(push('HEAD:main')).rejects.toThrow('protected branch main');
  });

  test('never deletes the branch', async () => {
    await push('HEAD:work');
    await protect('work', { enable_push: true, enable_force_push: true });

    await expect(push(':work')).rejects.toThrow('protected from deletion');
  });

  test('rewrites history only if force-push is enabled and allowed for the pusher', async () => {
    await protect('main', { enable_push: true });
    await clone.git('commit', '--quiet', '--amend', '-m', 'other');

    await expect(push('+HEAD:main')).rejects.toThrow('protected from force push');
    await ask('PATCH', '/branch_protections/main', {
      enable_force_push: true,
      enable_force_push_allowlist: true,
      force_push_allowlist_usernames: [ada.name],
    });
    await expect(push('+HEAD:main')).rejects.toThrow('Not allowed to force-push');
    await ask('PATCH', '/branch_protections/main', { force_push_allowlist_usernames: [bob.name] });
    await push('+HEAD:main');
    expect(await headOf('main')).toBe((await clone.git('rev-parse', 'HEAD')).trim());
  });

  test('changes no protected file, for any pusher and in any commit of a push', async () => {
    await protect('main', { enable_push: true, protected_file_patterns: '.github/**;*.lock' });
    await clone.commit({ 'free.txt': 'x' });
    await push('HEAD:main');
    await clone.commit({ 'Package.lock': 'x' });
    await clone.commit({ 'free.txt': 'y' });

    await expect(push('HEAD:main')).rejects.toThrow('protected from changing file Package.lock');
  });

  test('is accepted without push permission if only unprotected files change', async () => {
    await protect('main', { unprotected_file_patterns: 'notes.*' });
    await clone.commit({ 'notes.txt': 'x' });
    await push('HEAD:main');
    await clone.commit({ 'notes.txt': 'y', 'code.txt': 'x' });

    await expect(push('HEAD:main')).rejects.toThrow('Not allowed to push');
  });

  test('is refused by the matching pattern, even if the branch is new', async () => {
    await protect('release/*');

    await expect(push('HEAD:release/1')).rejects.toThrow('protected branch release/1');
    await push('HEAD:release/1/2');
    await expect(push('HEAD:refs/heads/release/1')).rejects.toThrow('release/1');
  });

  test('is refused if signatures are required and the forge cannot verify a commit', async () => {
    await protect('main', { enable_push: true, require_signed_commits: true });
    const head = await clone.commit({ 'a.txt': 'x' });

    await expect(push('HEAD:main')).rejects.toThrow(
      `branch main is protected from unverified commit ${head}`,
    );
    const other = await push('HEAD:other').then(() => headOf('other'));
    expect(other).toBe(head);
  });

  test('is also refused for the owner', async () => {
    await protect('main');
    const own = await cloneAs(ada);
    await own.commit({ 'a.txt': 'x' });

    await expect(own.git('push', 'origin', 'HEAD:main')).rejects.toThrow('protected branch main');
    own.remove();
  });
});

describe('a push of tags', () => {
  test('is refused for accounts that are not on the list of the rule: creation, move and deletion', async () => {
    await ask('POST', '/tag_protections', { name_pattern: '/^v\\d/', whitelist_usernames: [ada.name] });
    await clone.git('tag', 'v1');
    await clone.git('tag', '-a', 'nightly', '-m', 'x');

    await expect(push('v1')).rejects.toThrow('Tag v1 is protected');
    await push('nightly');
    const own = await cloneAs(ada);
    await own.git('tag', 'v1');
    await own.git('push', 'origin', 'v1');
    await clone.commit({ 'a.txt': 'x' });
    await clone.git('tag', '-f', 'v1');
    await expect(push('+v1')).rejects.toThrow('Tag v1 is protected');
    await expect(push(':v1')).rejects.toThrow('Tag v1 is protected');
    await own.git('push', 'origin', ':v1');
    own.remove();
  });

  test('is refused by an invalid pattern', async () => {
    await ask('POST', '/tag_protections', { name_pattern: '/(/', whitelist_usernames: [ada.name] });
    await clone.git('tag', 'v1');

    await expect(push('v1')).rejects.toThrow('Tag v1 is protected');
  });
});

test('unparsable push commands are refused instead of being passed to git', async () => {
  await protect('main');
  const authorization = `Basic ${Buffer.from(`${bob.name}:${bob.password}`).toString('base64')}`;
  const send = (body: string) =>
    fetch(`${forge.url}/${repository}.git/git-receive-pack`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/x-git-receive-pack-request' },
      body,
    });

  for (const body of ['', '0000', '00', 'zzzz', '000apush-c0000', '00ffshort']) {
    const { status } = await send(body);
    expect([200, 400], body).toContain(status);
  }
  expect((await send('0013push-cert\0\n00000000')).status).toBe(400);
});
