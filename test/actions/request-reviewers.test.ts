import { describe, expect, it } from 'vitest';
import type { Action } from '../../src/actions/action.ts';
import { requestReviewers } from '../../src/actions/request-reviewers.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const pull = { id: 1, number: 7, title: 'x', state: 'open', user: { id: 5, login: 'Author' } };
const review = (login: string, state: string, more: object = {}) => ({
  id: 1,
  state,
  user: { id: 1, login },
  ...more,
});
const ofTeam = (name: string) => ({ id: 2, state: 'REQUEST_REVIEW', user: null, team: { id: 3, name } });
/** A timeline entry: whose review was requested or withdrawn, and by which account (ours is 9). */
const entry = (login: string, by: number, isRemoved: boolean) => ({
  id: 1,
  type: 'review_request',
  user: { id: by, login: `user${by}` },
  assignee: { id: 1, login },
  removed_assignee: isRemoved,
});
type Given = Parameters<typeof requestReviewers.plan>[0];

async function planned(given: Given, facts: Record<string, unknown> = {}): Promise<readonly string[]> {
  const known = makeFacts({ pull_request: pull, reviews: [], timeline: [], ...facts });
  const changes = await requestReviewers.plan(given, known, makeContext());
  return changes.map(({ target, already }) => `${target}${already ? ' (already)' : ''}`);
}

describe('the plan', () => {
  const cases: readonly [string, Given, Record<string, unknown>, readonly string[]][] = [
    [
      'users and teams',
      { users: ['ada'], teams: ['release'] },
      {},
      ['reviewer:ada', 'team-reviewer:release'],
    ],
    [
      'the owners of the changed files, including teams only of the organization',
      { users: ['ada'], from: 'codeowners' },
      {
        codeowners: [
          { file: 'a.ts', users: ['Ada', 'grace'], teams: ['acme/release', 'other/core'] },
          { file: 'b.ts', users: ['author', 'grace'], teams: ['Acme/Release'] },
        ],
      },
      ['reviewer:ada', 'reviewer:grace', 'team-reviewer:release'],
    ],
    ['no reviewer if no file has an owner', { from: 'codeowners' }, { codeowners: [] }, []],
    ['no reviewer while `when` does not hold', { users: ['ada'], when: false }, {}, []],
    [
      'no reviewer for a closed pull request',
      { users: ['ada'] },
      { pull_request: { ...pull, state: 'closed' } },
      [],
    ],
    ['no review from the author', { users: ['author', 'ada'] }, {}, ['reviewer:ada']],
    ['no account twice', { users: ['ada', 'ADA'] }, {}, ['reviewer:ada']],
    [
      'no reviewer who is already requested',
      { users: ['ada'] },
      { reviews: [review('Ada', 'REQUEST_REVIEW')] },
      ['reviewer:ada (already)'],
    ],
    [
      'no reviewer who has reviewed',
      { users: ['ada'] },
      { reviews: [review('Ada', 'APPROVED', { dismissed: true })] },
      ['reviewer:ada (already)'],
    ],
    [
      'a reviewer who has only a draft',
      { users: ['ada'] },
      { reviews: [review('ada', 'PENDING')] },
      ['reviewer:ada'],
    ],
    [
      'no team that is already requested',
      { teams: ['release'] },
      { reviews: [ofTeam('Release')] },
      ['team-reviewer:release (already)'],
    ],
    [
      'no reviewer whose request a person withdrew',
      { users: ['ada', 'grace'] },
      { timeline: [entry('Ada', 9, false), entry('Ada', 1, true)] },
      ['reviewer:grace'],
    ],
    [
      'a reviewer who was requested again after that',
      { users: ['ada'] },
      { timeline: [entry('ada', 1, true), entry('ada', 1, false)] },
      ['reviewer:ada'],
    ],
    [
      'a reviewer whose request we withdrew ourselves',
      { users: ['ada'] },
      { timeline: [entry('ada', 9, true)] },
      ['reviewer:ada'],
    ],
  ];

  it.each(cases)('requests %s', async (_title, given, facts, expected) => {
    expect(await planned(given, facts)).toEqual(expected);
  });

  it('reads no timeline if no reviewer is missing', async () => {
    const facts = makeFacts({ pull_request: pull, reviews: [review('ada', 'APPROVED')] });
    await requestReviewers.plan({ users: ['ada'] }, facts, makeContext());

    expect(facts.asked).not.toContain('timeline');
  });
});

describe('a pick', () => {
  const users = ['a', 'b', 'c', 'd', 'e'];
  const open = async (given: Given, facts: Record<string, unknown> = {}) =>
    (await planned(given, facts)).filter((one) => !one.endsWith('(already)'));
  const requests = (...logins: readonly string[]) => ({
    review_requests: logins.map((login, day) => ({
      number: day,
      login,
      requested_at: `2026-01-0${day + 1}T00:00:00Z`,
    })),
  });

  it('is the same every time for a pull request', async () => {
    expect(await open({ users, pick: 2 })).toHaveLength(2);
    expect(await open({ users, pick: 2 })).toEqual(await open({ users, pick: 2 }));
  });

  it('counts accounts that are requested or have reviewed', async () => {
    const reviews = [review('b', 'REQUEST_REVIEW'), review('c', 'APPROVED')];

    expect(await open({ users, pick: 2 }, { reviews })).toEqual([]);
    expect(await open({ users, pick: 3 }, { reviews })).toHaveLength(1);
  });

  it('replaces the author and accounts whose request was withdrawn', async () => {
    const timeline = [entry('a', 1, true), entry('b', 1, true)];
    const facts = { timeline, pull_request: { ...pull, user: { id: 5, login: 'c' } } };

    expect((await open({ users, pick: 2 }, facts)).toSorted()).toEqual(['reviewer:d', 'reviewer:e']);
  });

  it('chooses the accounts requested least often', async () => {
    const facts = requests('a', 'b', 'c', 'd', 'a', 'B');

    expect(await open({ users, pick: 1, by: 'least-requested' }, facts)).toEqual(['reviewer:e']);
    const three = await open({ users, pick: 3, by: 'least-requested' }, facts);
    expect(three.toSorted()).toEqual(['reviewer:c', 'reviewer:d', 'reviewer:e']);
  });

  it('chooses the accounts requested longest ago', async () => {
    const facts = requests('e', 'd', 'c', 'b', 'a', 'e');

    expect(await open({ users, pick: 2, by: 'round-robin' }, facts)).toEqual(['reviewer:d', 'reviewer:c']);
  });

  it('reads no other pull request if the whole pool is requested', async () => {
    const facts = makeFacts({ pull_request: pull, reviews: [], timeline: [] });
    await requestReviewers.plan({ users: ['a'], pick: 1, by: 'round-robin' }, facts, makeContext());

    expect(facts.asked).not.toContain('review_requests');
  });
});

it('request-reviewers sends one request for all reviewers', async () => {
  const facts = makeFacts({ pull_request: pull, reviews: [], timeline: [] });
  const changes = await requestReviewers.plan(
    { users: ['ada', 'grace'], teams: ['release'] },
    facts,
    makeContext(),
  );

  expect(new Set(changes.map(({ joins }) => joins)).size).toBe(1);
  expect((await requestReviewers.join?.(changes, facts))?.body).toEqual({
    reviewers: ['ada', 'grace'],
    team_reviewers: ['release'],
  });
});

it.each([
  ['an empty pool', { pick: 1 }, 'name at least one reviewer'],
  ['a method without a number', { users: ['a'], by: 'hash' }, 'by requires pick'],
])('refuses %s', (_title, written, words) => {
  const parsed = (requestReviewers as Action).arguments.safeParse(written);
  expect(JSON.stringify(parsed.error?.issues)).toContain(words);
});
