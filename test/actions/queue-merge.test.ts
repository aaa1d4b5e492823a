import { describe, expect, it } from 'vitest';
import type { QueueDesk } from '../../src/actions/queue-desk.ts';
import { queueMerge } from '../../src/actions/queue-merge.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const head = 'a'.repeat(40);
const repo = (id: number) => ({ id, name: 'site', full_name: 'acme/site', owner: { id: 3, login: 'acme' } });
const pull = (more: object = {}) => ({
  id: 1,
  number: 7,
  title: 'Work',
  state: 'open',
  merged: false,
  draft: false,
  head: { ref: 'work', sha: head, repo_id: 1, repo: repo(1) },
  base: { ref: 'main', sha: 'b'.repeat(40), repo_id: 1, repo: repo(1) },
  ...more,
});
const given = { priority: 0, timeout: 60, forks: false, 'after-push': 'anyone' } as const;
const own = (state: string, by = 9) => ({
  id: 1,
  context: 'reeve/queue',
  status: state,
  creator: { id: by },
});

const plan = async (more: object, facts: object = {}, desk?: Partial<QueueDesk>, dryRun = false) => {
  const forgiven: number[] = [];
  const whole: QueueDesk = {
    find: async () => undefined,
    enter: async () => async () => {},
    async forgive({ number }) {
      forgiven.push(number);
    },
    ...desk,
  };
  const repository = { id: 1, owner: 'acme', name: 'site' };
  const context = makeContext({ dryRun, ...(desk ? { queue: { desk: whole, rule: 'r', repository } } : {}) });
  const known = makeFacts({
    pull_request: pull(),
    repository: { ...repo(1), default_merge_style: 'squash', allow_rebase: false },
    statuses: [],
    ...facts,
  });
  const changes = await queueMerge.plan({ ...given, ...more }, known, context);
  return { changes, forgiven };
};
const said = async (...asked: Parameters<typeof plan>) =>
  (await plan(...asked)).changes.map(({ waits, already }) => waits?.why ?? (already ? 'already' : 'enters'));

describe('queue-merge', () => {
  it('writes a pending status on the head, and records the merge options', async () => {
    const { changes } = await plan({ title: 'Work (#7)', priority: 3 });

    expect(changes[0]).toMatchObject({
      target: 'queue:#7',
      input: { params: { sha: head }, body: { context: 'reeve/queue', state: 'pending' } },
      value: {
        place: { base: 'main', number: 7, head },
        wish: { method: 'squash', title: 'Work (#7)', priority: 3, timeoutMs: 3_600_000, forks: false },
      },
      branch: 'main',
      stage: 3,
      reconsiders: true,
    });
  });

  it.each<[string, object, object, Partial<QueueDesk> | undefined, readonly string[]]>([
    ['nothing while `when` is false', { when: false }, {}, {}, []],
    ['nothing for a closed pull request', {}, { pull_request: pull({ state: 'closed' }) }, {}, []],
    ['to wait for a draft', {}, { pull_request: pull({ draft: true }) }, {}, ['it is a draft']],
    ['nothing more for a queued pull request', {}, {}, { find: async () => 'queued' }, ['already']],
    [
      'nothing for a pull request that has left the queue',
      {},
      {},
      { find: async () => ({ why: 'it left' }) },
      ['it left'],
    ],
    ['to enter without a server', {}, {}, undefined, ['enters']],
    [
      'nothing more if its status is already pending',
      {},
      { statuses: [own('pending')] },
      undefined,
      ['already'],
    ],
    [
      'to enter if another account wrote the status',
      {},
      { statuses: [own('pending', 8)] },
      undefined,
      ['enters'],
    ],
    ['to enter if its status says that it has left', {}, { statuses: [own('error')] }, undefined, ['enters']],
  ])('plans %s', async (_title, more, facts, desk, expected) => {
    expect(await said(more, facts, desk)).toEqual(expected);
  });

  it('needs a grant that includes forks only if the head of a fork will be updated', async () => {
    const ofFork = { pull_request: pull({ head: { ref: 'work', sha: head, repo_id: 5, repo: repo(5) } }) };

    expect((await plan({}, ofFork)).changes[0]).not.toHaveProperty('fork');
    expect((await plan({ forks: true }, ofFork)).changes[0]).toMatchObject({ fork: true });
  });

  it('forgets why the pull request left once `when` is false, but not in a dry run', async () => {
    expect((await plan({ when: false }, {}, {})).forgiven).toEqual([7]);
    expect((await plan({ when: false }, {}, {}, true)).forgiven).toEqual([]);
  });

  it('enters the pull request before it sends the status, and withdraws the entry if the forge refuses the status', async () => {
    const calls: string[] = [];
    const desk: QueueDesk = {
      find: async () => undefined,
      forgive: async () => {},
      async enter({ number, repository }, { method }, { rule, delivery }) {
        calls.push(`enter ${repository.owner}#${number} ${method} ${rule} ${delivery}`);
        return async () => {
          calls.push('withdraw');
        };
      },
    };
    const repository = { id: 1, owner: 'acme', name: 'site' };
    const context = makeContext({ queue: { desk, rule: 'r', delivery: '5', repository } });
    const [change] = (await plan({})).changes;
    if (change === undefined) throw new Error('no change');

    const withdraw = await queueMerge.intend?.(change, context);
    await withdraw?.();

    expect(calls).toEqual(['enter acme#7 squash r 5', 'withdraw']);
  });
});
