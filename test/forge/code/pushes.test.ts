import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Account, startEmbedded } from '../../support/contract-forge.ts';
import { cloneRepository, type GitClone } from '../../support/git-client.ts';
import { type HookReceiver, startReceiver } from '../../support/hook-receiver.ts';

let forge: Awaited<ReturnType<typeof startEmbedded>>;
let owner: Account;
let receiver: HookReceiver;
let repository: string;
let clone: GitClone;
let hook: number;
const zero = '0'.repeat(40);

beforeAll(async () => {
  forge = await startEmbedded();
  owner = await forge.makeUser();
});
afterAll(() => forge.close());
beforeEach(async () => {
  receiver = await startReceiver();
  repository = await forge.makeRepository(owner, { auto_init: true });
  const url = new URL(`${forge.url}/${repository}.git`);
  Object.assign(url, { username: owner.name, password: owner.password });
  clone = await cloneRepository(url.href);
});
afterEach(async () => {
  clone.remove();
  await receiver.close();
});

async function addHook(options: Record<string, unknown> = {}): Promise<void> {
  const events = ['push', 'create', 'delete', 'pull_request'];
  const config = { url: receiver.url, content_type: 'json' };
  const body = { type: 'gitea', config, events, active: true, ...options };
  const answer = await forge.ask('POST', `/repos/${repository}/hooks`, { as: owner, body });
  expect(answer.status).toBe(201);
  hook = answer.json.id;
}

const push = (...refs: string[]): Promise<string> =>
  clone.git('push', '--quiet', '--force', 'origin', ...refs);

async function openPull(head = 'topic'): Promise<number> {
  const body = { title: 'A change', head, base: 'main' };
  const answer = await forge.ask('POST', `/repos/${repository}/pulls`, { as: owner, body });
  expect(answer.status).toBe(201);
  return answer.json.number;
}

/** Returns the types of the deliveries in the order they were sent, because they may arrive in another order. */
function receivedTypes(): string[] {
  const tasks = [...forge.forge.deliveries.list(hook)].reverse();
  return tasks.map(({ event_type, payload }) => {
    const { action } = JSON.parse(payload);
    return action === undefined ? event_type : `${event_type} ${action}`;
  });
}

/** Returns the newest payload with the given Event-Type. */
async function payloadOf(type: string) {
  await forge.forge.deliveries.idle();
  return receiver.payloads(type).at(-1);
}

describe('a push', () => {
  test('is sent with every field of its payload', async () => {
    await addHook();
    const before = (await clone.git('rev-parse', 'HEAD')).trim();
    const after = await clone.commit({ 'a.txt': 'a', 'README.md': 'changed' }, 'two files');
    await push('HEAD:main');

    const payload = await payloadOf('push');

    const commit = {
      id: after,
      message: 'two files\n',
      url: `${forge.url}/${repository}/commit/${after}`,
      author: { name: 'Ada', email: 'ada@example.org', username: '' },
      committer: { name: 'Ada', email: 'ada@example.org', username: '' },
      verification: null,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      added: ['a.txt'],
      removed: [],
      modified: ['README.md'],
    };
    const user = expect.objectContaining({ login: owner.name, username: owner.name, active: false });
    expect(payload).toEqual({
      ref: 'refs/heads/main',
      before,
      after,
      compare_url: `${forge.url}/${repository}/compare/${before}...${after}`,
      commits: [commit],
      total_commits: 1,
      head_commit: commit,
      repository: expect.objectContaining({
        full_name: repository,
        permissions: { admin: true, push: true, pull: true },
      }),
      pusher: user,
      sender: user,
    });
    expect(Object.keys(payload)).toEqual([
      'ref',
      'before',
      'after',
      'compare_url',
      'commits',
      'total_commits',
      'head_commit',
      'repository',
      'pusher',
      'sender',
    ]);
    expect(receiver.received.at(-1)?.body).toMatch(/^\{\n {2}"ref"/);
  });

  test('includes the newest five commits, newest first, and the count of all commits', async () => {
    await addHook();
    const ids = [];
    for (let at = 0; at < 7; at += 1) ids.unshift(await clone.commit({ a: `${at}` }));
    await push('HEAD:main');

    const payload = await payloadOf('push');

    expect(payload.commits.map((commit: { id: string }) => commit.id)).toEqual(ids.slice(0, 5));
    expect([payload.total_commits, payload.head_commit.id]).toEqual([7, ids[0]]);
  });

  test('counts at most ten commits of a new branch, and is sent after the creation event', async () => {
    await addHook();
    for (let at = 0; at < 12; at += 1) await clone.commit({ a: `${at}` });
    await push('HEAD:topic');

    const payload = await payloadOf('push');

    expect(receivedTypes()).toEqual(['create', 'push']);
    expect([payload.before, payload.total_commits, payload.commits.length]).toEqual([zero, 10, 5]);
    const creation = receiver.payloads('create')[0];
    expect(Object.keys(creation)).toEqual(['sha', 'ref', 'ref_type', 'repository', 'sender']);
    expect(creation).toMatchObject({ sha: payload.after, ref: 'topic', ref_type: 'branch' });
  });

  test('of a tag is sent before the creation event, and the removal of a tag before the deletion event', async () => {
    await addHook();
    const head = (await clone.git('rev-parse', 'HEAD')).trim();
    await clone.git('tag', 'v1');
    await push('v1');
    const made = await payloadOf('push');
    await push(':v1');
    const gone = await payloadOf('push');

    expect(receivedTypes()).toEqual(['push', 'create', 'push', 'delete']);
    expect(made).toMatchObject({
      ref: 'refs/tags/v1',
      before: zero,
      after: head,
      commits: [],
      total_commits: 0,
    });
    expect(made.head_commit.id).toBe(head);
    expect(gone).toMatchObject({
      before: head,
      after: zero,
      commits: [],
      total_commits: 0,
      head_commit: null,
    });
    const deletion = receiver.payloads('delete')[0];
    expect(Object.keys(deletion)).toEqual(['ref', 'ref_type', 'pusher_type', 'repository', 'sender']);
    expect(deletion).toMatchObject({ ref: 'v1', ref_type: 'tag', pusher_type: 'user' });
  });

  test('that deletes a branch sends only the deletion event', async () => {
    await push('HEAD:topic');
    await addHook();

    await push(':topic');

    expect(receivedTypes()).toEqual(['delete']);
  });

  test('has the old head in `before` if it is forced', async () => {
    await addHook();
    const before = await clone.commit({ a: '1' });
    await push('HEAD:main');
    await clone.git('commit', '--quiet', '--amend', '-m', 'again');
    const after = (await clone.git('rev-parse', 'HEAD')).trim();

    await push('HEAD:main');

    expect(await payloadOf('push')).toMatchObject({ before, after, total_commits: 1 });
  });

  test.each([
    ['main', ['push main']],
    ['feature/*', ['create feature/a/b', 'push feature/a/b']],
    ['{main,refs/tags/v*}', ['push main', 'push v1', 'create v1']],
    ['[!m]ain', []],
    ['', ['create feature/a/b', 'push feature/a/b', 'push main', 'push v1', 'create v1']],
  ])('passes the branch filter "%s" as %j', async (branch_filter, expected) => {
    await addHook({ branch_filter });
    await clone.commit({ a: '1' });
    await clone.git('tag', 'v1');

    await push('HEAD:main', 'HEAD:feature/a/b', 'v1');

    const tasks = [...forge.forge.deliveries.list(hook)].reverse();
    const seen = tasks.map(({ event_type, payload }) => {
      return `${event_type} ${JSON.parse(payload).ref.replace(/^refs\/(heads|tags)\//, '')}`;
    });
    expect(seen).toEqual(expected);
  });

  test('also results from a commit through the contents API', async () => {
    await addHook();
    const body = { content: Buffer.from('hi').toString('base64'), message: 'by hand', new_branch: 'topic' };
    await forge.ask('POST', `/repos/${repository}/contents/docs/a.md`, { as: owner, body });

    expect(receivedTypes()).toEqual(['create', 'push']);
    expect(await payloadOf('push')).toMatchObject({
      ref: 'refs/heads/topic',
      // Commits that other branches contain are not included again.
      commits: [{ added: ['docs/a.md'] }],
      total_commits: 1,
    });
  });

  test('is also delivered to the hooks of the owner, as separate deliveries', async () => {
    const config = { url: receiver.url, content_type: 'json' };
    const other = await forge.makeUser();
    const own = await forge.makeRepository(other, { auto_init: true });
    const body = { type: 'gitea', config, events: ['push'], active: true };
    await forge.ask('POST', '/user/hooks', { as: other, body });
    await forge.ask('POST', `/repos/${own}/hooks`, { as: other, body });

    const change = { content: '', message: 'x' };
    await forge.ask('POST', `/repos/${own}/contents/a`, { as: other, body: { ...change, content: 'YQ==' } });
    await forge.forge.deliveries.idle();

    const targets = receiver.received.map((entry) => entry.headers['x-gitea-hook-installation-target-type']);
    expect(targets.sort()).toEqual(['repository', 'user']);
    expect(new Set(receiver.received.map((entry) => entry.headers['x-gitea-delivery'])).size).toBe(2);
  });
});

describe('pull requests from a pushed branch', () => {
  beforeEach(async () => {
    await clone.git('checkout', '--quiet', '-b', 'topic');
    await clone.commit({ 'a.txt': 'one\n' });
    await push('HEAD:topic');
  });

  test('follow their head, with both commit ids of the push', async () => {
    const number = await openPull();
    await addHook();
    const before = (await clone.git('rev-parse', 'HEAD')).trim();
    const after = await clone.commit({ 'b.txt': 'two\nlines\n' });

    await push('HEAD:topic');

    expect(receivedTypes()).toEqual(['push', 'pull_request_sync synchronized']);
    const payload = await payloadOf('pull_request_sync');
    expect(payload).toMatchObject({ action: 'synchronized', before, after, number });
    expect(payload.pull_request.head).toMatchObject({ ref: 'topic', sha: after });
    const { json } = await forge.ask('GET', `/repos/${repository}/pulls/${number}`, { as: owner });
    expect([json.head.sha, json.additions, json.changed_files, json.mergeable]).toEqual([after, 3, 2, true]);
    expect(receiver.received.at(-1)?.headers['x-gitea-event']).toBe('pull_request');
    const fetched = await clone.git('ls-remote', 'origin', `refs/pull/${number}/head`);
    expect(fetched).toContain(after);
  });

  test('detect when a push to their base causes a conflict, and when the conflict is resolved', async () => {
    const number = await openPull();
    const stateOf = async (): Promise<unknown[]> => {
      const { json } = await forge.ask('GET', `/repos/${repository}/pulls/${number}`, { as: owner });
      return [json.mergeable, json.base.sha];
    };
    await clone.git('checkout', '--quiet', 'main');
    const clash = await clone.commit({ 'a.txt': 'other\n' });

    await push('HEAD:main');
    expect(await stateOf()).toEqual([false, clash]);
    await clone.git('checkout', '--quiet', 'topic');
    await clone.git('merge', '--quiet', '-X', 'ours', '--no-edit', 'main');
    await push('HEAD:topic');

    expect(await stateOf()).toEqual([true, clash]);
  });

  test('close when their head branch is deleted', async () => {
    const number = await openPull();
    await addHook();

    await push(':topic');

    expect(receivedTypes()).toEqual(['delete', 'pull_request closed']);
    const { json } = await forge.ask('GET', `/repos/${repository}/pulls/${number}`, { as: owner });
    expect([json.state, json.merged, json.head.ref]).toEqual(['closed', false, `refs/pull/${number}/head`]);
  });

  test('stay open when merged manually, unless the repository detects manual merges', async () => {
    const first = await openPull();
    await clone.git('checkout', '--quiet', 'main');
    await clone.git('merge', '--quiet', '--no-ff', '--no-edit', 'topic');
    await push('HEAD:main');
    await clone.git('checkout', '--quiet', '-b', 'second');
    await clone.commit({ c: '1' });
    await push('HEAD:second');
    const second = await openPull('second');
    const settings = { autodetect_manual_merge: true, allow_manual_merge: true };
    await forge.ask('PATCH', `/repos/${repository}`, { as: owner, body: settings });
    await addHook();
    await clone.git('checkout', '--quiet', 'main');
    await clone.git('merge', '--quiet', '--no-ff', '--no-edit', 'second');
    const merge = (await clone.git('rev-parse', 'HEAD')).trim();

    await push('HEAD:main');

    const stateOf = async (number: number): Promise<unknown[]> => {
      const { json } = await forge.ask('GET', `/repos/${repository}/pulls/${number}`, { as: owner });
      return [json.state, json.merged, json.merge_commit_sha];
    };
    expect(await stateOf(second)).toEqual(['closed', true, merge]);
    expect((await payloadOf('pull_request')).pull_request).toMatchObject({ merged: true, number: second });
    expect((await stateOf(first))[0]).toBe('open');
  });
});
