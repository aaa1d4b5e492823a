import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { payloadShapes } from '../../../src/contract/events/payloads.ts';
import { type Account, type Answer, startEmbedded } from '../../support/contract-forge.ts';
import { type HookReceiver, startReceiver } from '../../support/hook-receiver.ts';

let forge: Awaited<ReturnType<typeof startEmbedded>>;
let ada: Account;
let receiver: HookReceiver;
let repository: string;
let hook: number;

beforeAll(async () => {
  forge = await startEmbedded();
  ada = await forge.makeUser();
});
afterAll(() => forge.close());
beforeEach(async () => {
  receiver = await startReceiver();
  repository = await forge.makeRepository(ada, { auto_init: true });
  await ask('POST', '/contents/a', { content: 'eA==', new_branch: 'topic' });
  await ask('POST', '/branches', { new_branch_name: 'next' });
  const config = { url: receiver.url, content_type: 'json' };
  const events = ['pull_request', 'fork', 'repository', 'push'];
  hook = (await ask('POST', '/hooks', { type: 'gitea', config, events, active: true })).json.id;
});
afterEach(() => receiver.close());

const ask = (method: string, path: string, body?: unknown, as: Account = ada): Promise<Answer> =>
  forge.ask(method, `/repos/${repository}${path}`, { as, body });
const open = (more: object = {}): Promise<Answer> =>
  ask('POST', '/pulls', { title: 'A change', head: 'topic', base: 'main', ...more });

/** Returns the deliveries since the last call, in the order they were sent. */
async function news(): Promise<{ type: string; payload: Record<string, unknown> }[]> {
  await forge.forge.deliveries.idle();
  const tasks = [...forge.forge.deliveries.list(hook, 1_000)].reverse();
  return tasks.map((task) => ({ type: task.event_type, payload: JSON.parse(task.payload) }));
}
const actionsOf = (all: Awaited<ReturnType<typeof news>>): string[] =>
  all.map(({ type, payload }) => `${type} ${payload.action}`);

describe('a pull request', () => {
  test('sends an opened event with every field of its payload', async () => {
    const { json } = await open({ body: 'why' });

    const [event] = await news();
    expect(Object.keys(event?.payload ?? {})).toEqual([
      'action',
      'number',
      'pull_request',
      'requested_reviewer',
      'repository',
      'sender',
      'commit_id',
      'review',
    ]);
    expect(event).toMatchObject({
      type: 'pull_request',
      payload: {
        action: 'opened',
        number: 1,
        requested_reviewer: null,
        review: null,
        commit_id: '',
        sender: { login: ada.name },
        repository: { full_name: repository, permissions: { admin: true } },
      },
    });
    const received = event?.payload.pull_request as Record<string, unknown>;
    expect(Object.keys(received).sort()).toEqual(Object.keys(json).sort());
    expect(received).toMatchObject({
      mergeable: false,
      head: { sha: json.head.sha },
      merge_base: json.merge_base,
    });
    expect(payloadShapes.pull_request.safeParse(event?.payload).success).toBe(true);
  });

  test("sends the events of its creation in Gitea's order: reviewers, opened, labels, milestone, assignees", async () => {
    const bob = await forge.makeUser();
    await forge.share(repository, ada, { with: bob, permission: 'write' });
    const label = (await ask('POST', '/labels', { name: 'bug', color: '#ff0000' })).json.id;
    const milestone = (await ask('POST', '/milestones', { title: 'one' })).json.id;

    await open({ labels: [label], milestone, assignees: [ada.name, bob.name], reviewers: [bob.name] });

    const all = await news();
    expect(actionsOf(all)).toEqual([
      'pull_request_review_request review_requested',
      'pull_request opened',
      'pull_request_label label_updated',
      'pull_request_milestone milestoned',
      'pull_request_assign assigned',
      'pull_request_assign assigned',
    ]);
    expect(all[0]?.payload).toMatchObject({ requested_reviewer: { login: bob.name } });
  });

  test('is created without an event if its reviewer is refused', async () => {
    const answer = await open({ reviewers: [ada.name] });

    expect([422, 500]).toContain(answer.status);
    expect((await ask('GET', '/pulls/1')).status).toBe(200);
    expect(await news()).toEqual([]);
  });

  test('sends the previous values in edited events, but the new value of the base', async () => {
    await open({ body: 'old body' });

    await ask('PATCH', '/pulls/1', { title: 'New', body: 'new body' });
    await ask('PATCH', '/pulls/1', { base: 'next' });
    await ask('PATCH', '/pulls/1', { title: 'New', base: 'next' });

    const changes = (await news()).slice(1).map(({ payload }) => [payload.action, payload.changes]);
    const lists = { added_labels: null, removed_labels: null };
    expect(changes).toEqual([
      ['edited', { title: { from: 'A change' }, ...lists }],
      ['edited', { body: { from: 'old body' }, ...lists }],
      ['edited', { ref: { from: 'next' }, ...lists }],
    ]);
  });

  test('sends no event for labels set by an edit, but sends events for closing, reopening and merging', async () => {
    await open();
    const label = (await ask('POST', '/labels', { name: 'bug', color: '#ff0000' })).json.id;

    await ask('PATCH', '/pulls/1', { labels: [label] });
    await ask('PATCH', '/pulls/1', { state: 'closed' });
    await ask('PATCH', '/pulls/1', { state: 'open' });
    await ask('POST', '/pulls/1/merge', { do: 'merge' });

    const all = await news();
    expect(actionsOf(all).slice(1)).toEqual([
      'pull_request closed',
      'pull_request reopened',
      'push undefined',
      'pull_request closed',
    ]);
    expect(all.at(-1)?.payload.pull_request).toMatchObject({
      merged: true,
      state: 'closed',
      labels: [{ name: 'bug' }],
    });
  });

  test('follows its branch after it is reopened', async () => {
    await open();
    await ask('PATCH', '/pulls/1', { state: 'closed' });
    const { json } = await ask('POST', '/contents/b', { content: 'eA==', branch: 'topic' });

    await ask('PATCH', '/pulls/1', { state: 'open' });

    await expect.poll(async () => (await ask('GET', '/pulls/1')).json.head.sha).toBe(json.commit.sha);
  });
});

describe('a fork', () => {
  test('is announced to the hooks of its source, with the two repositories reversed', async () => {
    const bob = await forge.makeUser();

    await ask('POST', '/forks', {}, bob);

    const [event] = await news();
    expect(Object.keys(event?.payload ?? {})).toEqual(['forkee', 'repository', 'sender']);
    expect(event).toMatchObject({
      type: 'fork',
      payload: {
        forkee: { full_name: repository },
        repository: { owner: { login: bob.name }, fork: true, parent: { full_name: repository } },
        sender: { login: bob.name },
      },
    });
  });
});

describe('a test delivery', () => {
  test('is a push of one existing commit', async () => {
    const { json: main } = await ask('GET', '/branches/main');

    const { status } = await ask('POST', `/hooks/${hook}/tests`);

    const [event] = await news();
    expect(status).toBe(204);
    expect(event?.payload).toMatchObject({
      ref: 'refs/heads/main',
      before: main.commit.id,
      after: main.commit.id,
      total_commits: 1,
      commits: [
        { id: main.commit.id, added: null, removed: null, modified: null, verification: { verified: false } },
      ],
      head_commit: { id: main.commit.id },
    });
  });

  test.each([
    ['/tests?ref=topic', 204, ['topic']],
    ['/tests?ref=refs/heads/topic', 204, ['refs/heads/topic']],
    // An invalid ref counts as absent.
    ['/tests?ref=nothing', 204, ['refs/heads/main']],
  ])('requested as %s returns %i and refers to %j', async (path, status, refs) => {
    expect((await ask('POST', `/hooks/${hook}${path}`)).status).toBe(status);

    expect((await news()).map(({ payload }) => payload.ref)).toEqual(refs);
  });

  test('is not sent by a hook that does not subscribe to pushes', async () => {
    const config = { url: receiver.url, content_type: 'json' };
    const quiet = { type: 'gitea', config, events: ['issues'], active: true };
    const { json } = await ask('POST', '/hooks', quiet);

    const { status } = await ask('POST', `/hooks/${json.id}/tests`);

    await forge.forge.deliveries.idle();
    expect([status, receiver.received.length]).toEqual([204, 0]);
    expect((await ask('POST', '/hooks/999999/tests')).status).toBe(404);
  });
});
