import { describe, expect, it } from 'vitest';
import type { Action } from '../../src/actions/action.ts';
import { setIssue } from '../../src/actions/set-issue.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const issue = (more: object = {}) => ({
  id: 70,
  number: 7,
  title: 'Crash',
  state: 'open',
  assignees: [{ id: 1, login: 'Ada' }],
  milestone: { id: 3, title: 'now' },
  due_date: '2026-12-31T23:59:59Z',
  is_locked: false,
  pin_order: 0,
  ...more,
});
const milestones = [
  { id: 3, title: 'now', state: 'open' },
  { id: 4, title: 'next', state: 'open' },
  { id: 5, title: 'twice', state: 'open' },
  { id: 6, title: 'twice', state: 'open' },
  { id: 7, title: 'again', state: 'closed' },
  { id: 8, title: 'again', state: 'open' },
];
type Given = Parameters<typeof setIssue.plan>[0];

const factsOf = (live: object = {}) => makeFacts({ issue: issue(live), milestones, timeline: [] });

/** Returns the plan as `target=value`, with `(already)` if the value is already set. */
async function planned(given: Given, live: object = {}, context = makeContext()): Promise<readonly string[]> {
  const changes = await setIssue.plan(given, factsOf(live), context);
  return changes.map(
    ({ target, value, already }) => `${target}=${JSON.stringify(value)}${already ? ' (already)' : ''}`,
  );
}

async function body(given: Given, live: object = {}): Promise<unknown> {
  const changes = await setIssue.plan(given, factsOf(live), makeContext());
  return (
    await setIssue.join?.(
      changes.filter(({ already }) => !already),
      factsOf(live),
    )
  )?.body;
}

describe('the plan', () => {
  const cases: readonly [string, Given, object, readonly string[]][] = [
    ['another title', { title: 'Crash at start ' }, {}, ['issue.title="Crash at start"']],
    ['the existing title, as already set', { title: 'Crash' }, {}, ['issue.title="Crash" (already)']],
    ['another state', { state: 'closed' }, {}, ['issue.state="closed"']],
    ['nothing while `when` does not hold', { state: 'closed', title: 'x', when: false }, {}, []],
    ['another milestone', { milestone: 'next' }, {}, ['issue.milestone="next"']],
    ['the existing milestone, as already set', { milestone: 'now' }, {}, ['issue.milestone="now" (already)']],
    ['no milestone', { milestone: null }, {}, ['issue.milestone=null']],
    [
      'no milestone if there is none',
      { milestone: null },
      { milestone: null },
      ['issue.milestone=null (already)'],
    ],
    ['another day', { due_date: '2027-01-01' }, {}, ['issue.due_date="2027-01-01"']],
    [
      "the existing day in the server's time zone, as already set",
      { due_date: '2026-12-31' },
      { due_date: '2027-01-01T00:59:59+01:00' },
      ['issue.due_date="2026-12-31" (already)'],
    ],
    [
      'the day that contains a time',
      { due_date: '2026-12-31T12:00:00.5Z' },
      {},
      ['issue.due_date="2026-12-31" (already)'],
    ],
    ['no due date', { due_date: null }, {}, ['issue.due_date=null']],
    ['a lock', { locked: true, pinned: false }, {}, ['issue.locked=true', 'issue.pinned=false (already)']],
    ['a removed pin', { pinned: false }, { pin_order: 2 }, ['issue.pinned=false']],
    [
      'assignees, whatever the case of their names',
      { assignees: { add: ['ada', 'Grace', 'GRACE'], remove: ['linus'] } },
      {},
      ['assignee:ada=true (already)', 'assignee:grace=true', 'assignee:linus=false (already)'],
    ],
    [
      'no more assignees than to be picked, counting those already assigned',
      { assignees: { add: ['ada', 'grace', 'linus'], pick: 1 } },
      {},
      ['assignee:ada=true (already)'],
    ],
    [
      'no state for a merged pull request',
      { state: 'open' },
      { state: 'closed', pull_request: { merged: true } },
      ['issue.state="open" (already)'],
    ],
  ];

  it.each(cases)('contains %s', async (_title, given, live, expected) => {
    expect(await planned(given, live)).toEqual(expected);
  });

  it.each([
    ['an unknown milestone', { milestone: 'never' }, 'there is no milestone "never"'],
    ['a day that does not exist', { due_date: '2026-02-31' }, '"2026-02-31" is not a date'],
    ['a text that is not a date', { due_date: 'tomorrow' }, '"tomorrow" is not a date'],
  ])('fails for %s', async (_title, given, words) => {
    await expect(planned(given)).rejects.toThrow(words);
  });

  it('picks the same accounts for an issue every time, and others for other issues', async () => {
    const add = ['a', 'b', 'c', 'd', 'e', 'f'];
    const pick = (index: number) =>
      setIssue
        .plan(
          { assignees: { add, pick: 2 } },
          makeFacts({ issue: issue({ assignees: null }) }, { subject: { index } }),
          makeContext(),
        )
        .then((changes) => changes.map(({ target }) => target));

    expect(await pick(7)).toHaveLength(2);
    expect(await pick(7)).toEqual(await pick(7));
    const chosen = await Promise.all(Array.from({ length: 40 }, (_, index) => pick(index)));
    expect(new Set(chosen.flat()).size).toBe(add.length);
  });
});

describe('the single request', () => {
  it.each([
    ['keeps the assignees of others', { assignees: { add: ['grace'] } }, {}, { assignees: ['Ada', 'grace'] }],
    ['removes only the named assignees', { assignees: { remove: ['ADA'] } }, {}, { assignees: [] }],
    ['removes a milestone', { milestone: null }, {}, { milestone: 0 }],
    ['uses the open milestone of two with the same name', { milestone: 'again' }, {}, { milestone: 8 }],
    ['removes a due date', { due_date: null }, {}, { unset_due_date: true }],
    [
      'has all fields',
      { title: 'x', milestone: null, due_date: '2027-01-01' },
      {},
      { title: 'x', milestone: 0, due_date: '2027-01-01T23:59:59Z' },
    ],
  ])('%s', async (_title, given, live, expected) => {
    expect(await body(given, live)).toEqual(expected);
  });

  it('is not sent if two open milestones have the name', async () => {
    await expect(body({ milestone: 'twice' })).rejects.toThrow('several milestones "twice"');
  });
});

describe('a person who reopens an issue', () => {
  const closed = { state: 'closed' };
  const entry = (type: string, id: number) => ({ id: 1, type, user: { id, login: `user${id}` } });
  /** Facts of an issue with these timeline entries. Our account is 9. */
  const course = (...entries: readonly [string, number][]) =>
    makeFacts({ issue: issue(), milestones, timeline: entries.map(([type, id]) => entry(type, id)) });
  const isWanted = async (facts: ReturnType<typeof course>, context = makeContext(), when = true) =>
    (await setIssue.plan({ state: 'closed', when }, facts, context)).some(({ already }) => !already);
  const byPerson = course(['close', 9], ['reopen', 1]);

  it('is not overruled until `when` was false once', async () => {
    const context = makeContext();
    const [change] = await setIssue.plan({ state: 'closed' }, factsOf(), context);
    if (change === undefined) throw new Error('no change');
    await setIssue.remember?.(change, issue(closed), context);

    expect(await isWanted(byPerson, context)).toBe(false);
    expect(await isWanted(byPerson, context)).toBe(false);

    await isWanted(byPerson, context, false);
    expect(await isWanted(byPerson, context)).toBe(true);
  });

  it('is not overruled if the rule found the issue closed', async () => {
    const context = makeContext();
    await planned({ state: 'closed' }, closed, context);

    expect(await isWanted(course(['close', 2], ['reopen', 1]), context)).toBe(false);
  });

  it('is found in the timeline if the memory has no record, and is then respected', async () => {
    const context = makeContext();

    expect(await isWanted(byPerson, context)).toBe(false);
    await isWanted(byPerson, context, false);
    expect(await isWanted(byPerson, context)).toBe(true);
  });

  it.each([
    ['it was never closed', course(), true],
    ['a person closed it and reopened it', course(['close', 1], ['reopen', 1]), true],
    ['our account reopened it', course(['close', 9], ['reopen', 9]), true],
    [
      'a person reopened it, then our account',
      course(['close', 9], ['reopen', 1], ['close', 9], ['reopen', 9]),
      true,
    ],
    ['a person reopened what our account closed', byPerson, false],
  ])('is respected or not, depending on the timeline: %s', async (_title, facts, expected) => {
    expect(await isWanted(facts)).toBe(expected);
  });

  it('is not recorded in a dry run', async () => {
    const context = makeContext({ dryRun: true });
    await planned({ state: 'closed' }, closed, context);

    expect(await context.memory.get('set-issue tidy 70 closed')).toBeUndefined();
  });
});

it('set-issue detects what the forge did not set', async () => {
  const [change] = await setIssue.plan({ title: 'x' }, factsOf(), makeContext());
  if (change === undefined) throw new Error('no change');

  expect(setIssue.confirm?.(change, issue({ title: 'x' }))).toBeUndefined();
  expect(setIssue.confirm?.(change, issue())).toContain('did not set issue.title');
});

it('set-issue checks its conditions again right before the state changes', async () => {
  const changes = await setIssue.plan({ state: 'closed', title: 'x' }, factsOf(), makeContext());

  expect(changes.map(({ target, reconsiders }) => [target, reconsiders ?? false])).toEqual([
    ['issue.title', false],
    ['issue.state', true],
  ]);
});

it('set-issue requires a forge with locks only if a lock is missing', async () => {
  const of = async (live: object) =>
    (await setIssue.plan({ locked: true }, factsOf(live), makeContext())).map(({ requires }) => requires);

  expect(await of({})).toEqual([['issue_lock']]);
  expect(await of({ is_locked: true })).toEqual([undefined]);
});

it.each([
  ['no field', { when: 'true' }, 'name at least one field'],
  ['no user', { assignees: {} }, 'name at least one user'],
  ['a pick of none', { assignees: { remove: ['a'], pick: 1 } }, 'pick chooses from add'],
])('set-issue refuses %s', (_title, written, words) => {
  expect(JSON.stringify((setIssue as Action).arguments.safeParse(written).error?.issues)).toContain(words);
});

it('set-issue refuses a user who is both added and removed', () => {
  expect(setIssue.examine?.({ assignees: { add: ['x', 'Ada'], remove: ['ada'] } })).toEqual([
    { path: ['assignees', 'add', 1], message: 'Ada is listed under both add and remove' },
  ]);
});
