import { describe, expect, it } from 'vitest';
import { openPullRequest } from '../../src/actions/open-pull-request.ts';
import { typedAsk } from '../../src/facts/fact.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

type Given = Parameters<typeof openPullRequest.plan>[0];
const given: Given = { head: 'develop', base: 'main', title: 'Merge develop' };
const between = (commits: number) => ({
  'main...develop': { total_commits: commits, commits: [], files: [] },
});
const open = (more: object = {}) => ({
  id: 1,
  number: 4,
  title: 'Merge develop',
  body: 'All.',
  state: 'open',
  user: { id: 9, login: 'reeve' },
  requested_reviewers: [],
  labels: [],
  ...more,
});
const plan = (more: object, pull: unknown, facts: Record<string, unknown> = {}) => {
  const all = { compare: between(1), label_definitions: ['bug', 'release'], ...facts };
  const asked = makeFacts(all, { subject: { kind: 'repository' } });
  const ask = typedAsk((request) =>
    request.name === 'open_pull' ? Promise.resolve(pull) : asked.ask(request),
  );
  return openPullRequest.plan({ ...given, ...more }, { ...asked, ask }, makeContext());
};

describe('the plan', () => {
  it.each([
    [
      'opens a missing pull request',
      {},
      null,
      {},
      'pull.create',
      { head: 'develop', base: 'main', title: 'Merge develop' },
    ],
    [
      'opens a pull request with all given fields',
      { body: 'All.', labels: ['release'], reviewers: ['ada'], team_reviewers: ['core'] },
      null,
      {},
      'pull.create',
      {
        head: 'develop',
        base: 'main',
        title: 'Merge develop',
        body: 'All.',
        labels: [2],
        reviewers: ['ada'],
        team_reviewers: ['core'],
      },
    ],
    ['opens no pull request without a difference', {}, null, { compare: between(0) }, undefined, undefined],
    [
      'leaves a pull request with the same text unchanged',
      { body: 'All.' },
      open(),
      {},
      'already',
      undefined,
    ],
    ['keeps the text if none is given', {}, open({ body: 'Mine' }), {}, 'already', undefined],
    [
      'edits a pull request of its own',
      { body: 'New.' },
      open(),
      {},
      'pull.edit',
      { title: 'Merge develop', body: 'New.' },
    ],
    [
      'leaves a pull request that a person opened unchanged',
      { body: 'New.' },
      open({ user: { id: 1, login: 'ada' } }),
      {},
      'already',
      undefined,
    ],
  ])('%s', async (_title, more, pull, facts, what, body) => {
    const [change, ...others] = await plan(more, pull, facts);

    expect(others).toEqual([]);
    expect(change?.already ? 'already' : change?.operation).toBe(what);
    if (body) expect(change?.input.body).toEqual(body);
  });

  it('fails for a label that does not exist', async () => {
    await expect(plan({ labels: ['nope'] }, null)).rejects.toThrow('no label "nope"');
  });

  it('declares that reviewers need a forge that supports them on creation', async () => {
    const [change] = await plan({ reviewers: ['ada'] }, null);

    expect(change?.requires).toEqual(['pull_reviewers_on_create']);
  });
});

it('open-pull-request reports what a forge dropped from the opened pull request', async () => {
  const [change] = await plan({ labels: ['bug'], reviewers: ['Ada'] }, null);
  if (!change) throw new Error('no change');
  const label = { id: 1, name: 'bug', color: 'ff0000' };
  const ada = { id: 2, login: 'ada' };

  expect(
    openPullRequest.confirm?.(change, open({ labels: [label], requested_reviewers: [ada] })),
  ).toBeUndefined();
  expect(openPullRequest.confirm?.(change, open({ labels: [label] }))).toContain(
    'did not request a review from Ada',
  );
  expect(openPullRequest.confirm?.(change, open({ requested_reviewers: [ada] }))).toContain(
    'dropped a label',
  );
});

it.each([
  [{ head: 'a', base: 'a' }, false],
  [{ head: 'a..b', base: 'main' }, false],
  [{ head: 'a b', base: 'main' }, false],
  [{ head: 'owner:feature/x', base: 'release/1.x' }, true],
])('open-pull-request requires two valid, different branches: %o', (written, ok) => {
  expect(openPullRequest.arguments.safeParse({ ...given, ...written }).success).toBe(ok);
});
