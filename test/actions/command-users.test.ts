import { describe, expect, it } from 'vitest';
import type { Change } from '../../src/actions/change.ts';
import { requestReviewers } from '../../src/actions/request-reviewers.ts';
import { setIssue } from '../../src/actions/set-issue.ts';
import { createGivenFacts } from '../../src/facts/given-facts.ts';
import { makeContext } from '../support/make-context.ts';

const repository = { id: 1, owner: 'acme', name: 'demo' } as const;
const user = (login: string) => ({ id: login.length, login });
const facts = (given: Record<string, unknown>) =>
  createGivenFacts({
    subject: { kind: 'pull_request', index: 7, repository, comment: 3 },
    given: {
      issue: { id: 70, number: 7, title: 'x', state: 'open', assignees: [user('grace')], milestone: null },
      pull_request: { id: 70, number: 7, title: 'x', state: 'open', user: user('author') },
      comment: { id: 3, body: '/assign', user: user('Linus') },
      assignable: ['Ada', 'grace', 'Linus', 'author'].map(user),
      milestones: [
        { id: 1, title: 'v1', state: 'open' },
        { id: 2, title: 'secret', state: 'open' },
        { id: 3, title: 'v2 final', state: 'open' },
      ],
      reviews: [],
      timeline: [],
      comments: [],
      sender_permission: 'write',
      ...given,
    },
  });

type SetIssue = Parameters<typeof setIssue.plan>[0];
type Requested = Parameters<typeof requestReviewers.plan>[0];

/** Returns the planned changes as `target=value`, and the lines of the reply. */
function shown(changes: readonly Change[]) {
  const made = changes.filter(({ already }) => !already);
  return {
    changes: made
      .filter(({ target }) => !target.startsWith('comment:'))
      .map(({ target, value }) => `${target}=${value}`),
    answer: made
      .filter(({ target }) => target.startsWith('comment:'))
      .flatMap(({ value }) => String(value).split('\n'))
      .filter((line) => line.startsWith('- ')),
  };
}
const set = async (given: SetIssue, more: Record<string, unknown> = {}) =>
  shown(await setIssue.plan(given, facts(more), makeContext()));
const request = async (given: Requested, more: Record<string, unknown> = {}) =>
  shown(await requestReviewers.plan(given, facts(more), makeContext()));
const said = (...command: string[]) => ({ command, found: true });
const silent = { command: [], found: false };
const notThere = 'issues of this repository cannot be assigned to it';

describe('users in a command', () => {
  it.each([
    ['are assigned, whatever their case', { add: said('ada') }, ['assignee:ada=true'], []],
    ['are named once', { add: said('ada', 'ADA') }, ['assignee:ada=true'], []],
    ['are none without the command', { add: silent, from: 'sender' }, [], []],
    ['are none without an argument', { add: said() }, [], []],
    [
      'are the author of the comment with from: sender',
      { add: said(), from: 'sender' },
      ['assignee:linus=true'],
      [],
    ],
    ['are not the author if they are named', { add: said('ada'), from: 'sender' }, ['assignee:ada=true'], []],
    [
      'are the author for the command that has no argument',
      { add: said('ada'), remove: said(), from: 'sender' },
      ['assignee:ada=true'],
      [],
    ],
    ['are unassigned', { remove: said('Grace', 'ada', 'no-one') }, ['assignee:grace=false'], []],
    [
      'are refused if issues cannot be assigned to them, and shown as code',
      { add: said('eve', 'acme/release', '@ada\n# x') },
      [],
      [
        `- \`eve\`: ${notThere}`,
        `- \`acme/release\`: ${notThere}`,
        `- \`@\u200bada #\u200b x\`: ${notThere}`,
      ],
    ],
    [
      'are refused if they are both assigned and unassigned',
      { add: said('ada', 'grace'), remove: said('Grace') },
      ['assignee:ada=true'],
      ['- `grace`: it is both added and removed'],
    ],
    [
      'never override the users of the rule',
      { add: ['ada'], remove: said('ada') },
      ['assignee:ada=true'],
      ['- `ada`: it is both added and removed'],
    ],
  ] as const)('%s', async (_title, assignees, changes, answer) => {
    expect(await set({ assignees: assignees as SetIssue['assignees'] })).toEqual({ changes, answer });
  });

  it('are at most ten; with more, none is used', async () => {
    const names = Array.from({ length: 11 }, (_, place) => `user${place}`);
    const assignable = names.map(user);

    expect((await set({ assignees: { add: said(...names.slice(1)) } }, { assignable })).changes).toHaveLength(
      10,
    );
    const planned = await setIssue.plan(
      { assignees: { add: said(...names) } },
      facts({ assignable }),
      makeContext(),
    );
    expect(planned).toMatchObject([
      { operation: 'comment.create', value: expect.stringContaining('names 11 users, and at most 10') },
    ]);
  });

  it('get no reply for a sender without write access', async () => {
    const given = { assignees: { add: said('ada', 'eve') } };

    expect(await set(given, { sender_permission: 'read' })).toEqual({
      changes: ['assignee:ada=true'],
      answer: [],
    });
  });

  it('who wrote the comment are assigned only if issues can be assigned to them', async () => {
    const comment = { id: 3, user: user('eve') };

    expect((await set({ assignees: { add: said(), from: 'sender' } }, { comment })).answer).toEqual([
      `- \`eve\`: ${notThere}`,
    ]);
    const deleted = { id: 3, user: { id: -1, login: 'Ada' } };
    expect((await set({ assignees: { add: said(), from: 'sender' } }, { comment: deleted })).changes).toEqual(
      [],
    );
  });

  it.each([
    [
      'get a request for review, but not the author',
      said('ada', 'author'),
      undefined,
      ['reviewer:ada=true'],
      [],
    ],
    ['are the author of the comment', said(), 'sender', ['reviewer:linus=true'], []],
    ['are none without the command', silent, 'sender', [], []],
    [
      'are no teams',
      said('release', 'acme/release'),
      undefined,
      [],
      [`- \`release\`: ${notThere}`, `- \`acme/release\`: ${notThere}`],
    ],
  ] as const)('%s', async (_title, users, from, changes, answer) => {
    expect(await request({ users, from })).toEqual({ changes, answer });
  });
});

describe('the milestone of a command', () => {
  it.each([
    ['is set', said('v1'), ['issue.milestone=v1'], []],
    ['may have several words', said('v2', 'final'), ['issue.milestone=v2 final'], []],
    ['is left alone without the command', silent, [], []],
    ['is left alone without argument', said(''), [], []],
    ['is refused if it does not match', said('secret'), [], ['- `secret`: commands may not name it here']],
    ['is refused if it does not exist', said('v9'), [], ['- `v9`: it does not exist']],
  ] as const)('%s', async (_title, milestone, changes, answer) => {
    expect(await set({ milestone, only: ['v*'] })).toEqual({ changes, answer });
  });
});
