import { describe, expect, it } from 'vitest';
import {
  decide,
  decideLockThreads,
  decideNoResponse,
  decideProbotStale,
  decideStaleAction,
} from './stale.ts';
import { type Comment, DAY, plainIssue, plainPull, type Subject } from './subject.ts';

const now = Date.parse('2026-06-01T12:00:00Z');
const ago = (days: number): number => now - days * DAY;
const say = (days: number, more: Partial<Comment> = {}): Comment => ({
  author: 'bob',
  bot: false,
  body: 'still there',
  time: ago(days),
  edited: false,
  ...more,
});
const workflow = (action: string, inputs: object): string =>
  JSON.stringify({
    on: { schedule: [] },
    jobs: { run: { steps: [{ uses: 'actions/checkout@v4' }, { uses: `${action}@v9`, with: inputs }] } },
  });

describe('actions/stale', () => {
  const run = (inputs: object, more: Partial<Subject> = {}, pull = false): readonly string[] =>
    decideStaleAction(
      workflow('actions/stale', inputs),
      (pull ? plainPull : plainIssue)({ created: ago(100), updated: ago(61), ...more }),
      now,
    ).effects;
  const stale = (days: number, more: Partial<Subject> = {}): Partial<Subject> => ({
    labels: ['Stale'],
    labelled: { Stale: ago(days) },
    updated: ago(days),
    ...more,
  });

  it.each([
    ['warns after 60 days', {}, {}, ['add-label Stale']],
    ['does not warn on the day', {}, { updated: ago(60) }, []],
    ['comments with a message', { 'stale-issue-message': 'old' }, {}, ['comment', 'add-label Stale']],
    ['has own days', { 'days-before-stale': 30 }, { updated: ago(31) }, ['add-label Stale']],
    ['prefers the days of the kind', { 'days-before-stale': 30, 'days-before-issue-stale': 90 }, {}, []],
    ['never warns with -1', { 'days-before-stale': -1 }, {}, []],
    ['takes fractions of days', { 'days-before-stale': 0.5 }, { updated: ago(0.6) }, ['add-label Stale']],
    ['has an own label', { 'stale-issue-label': 'old' }, {}, ['add-label old']],
    ['skips a closed one', {}, { state: 'closed' }, []],
    ['skips a locked one', {}, { locked: true }, []],
    [
      'skips an exempt label without case and accents',
      { 'exempt-issue-labels': 'Pinned, réserve' },
      { labels: ['RESERVE'] },
      [],
    ],
    ['needs all of only-labels', { 'only-labels': 'a,b' }, { labels: ['a'] }, []],
    ['has them', { 'only-labels': 'a,b' }, { labels: ['B', 'a'] }, ['add-label Stale']],
    [
      'prefers those of the kind',
      { 'only-labels': 'a', 'only-issue-labels': 'b' },
      { labels: ['b'] },
      ['add-label Stale'],
    ],
    ['needs one of any-of-labels', { 'any-of-labels': 'a,b' }, { labels: ['c'] }, []],
    ['skips a milestone', { 'exempt-milestones': '1.0' }, { milestone: '1.0' }, []],
    ['skips all milestones', { 'exempt-all-milestones': true }, { milestone: 'x' }, []],
    [
      'skips none of this kind',
      { 'exempt-all-milestones': true, 'exempt-all-issue-milestones': false },
      { milestone: 'x' },
      ['add-label Stale'],
    ],
    ['skips an assignee', { 'exempt-assignees': 'Ada' }, { assignees: ['ada'] }, []],
    ['skips all assignees', { 'exempt-all-assignees': true }, { assignees: ['ada'] }, []],
    ['needs an assignee', { 'include-only-assigned': true }, {}, []],
    ['needs the start date', { 'start-date': '2026-05-01' }, {}, []],
    ['ignores updates', { 'ignore-updates': true }, { updated: ago(1) }, ['add-label Stale']],
    [
      'removes labels with the warning',
      { 'labels-to-remove-when-stale': 'a,b' },
      { labels: ['a'] },
      ['add-label Stale', 'remove-label a'],
    ],
    ['closes at once with no days', { 'days-before-close': 0 }, {}, ['add-label Stale', 'close']],
    ['closes seven days later', {}, stale(8), ['close']],
    ['does not close before', {}, stale(6), []],
    ['cuts the fraction of days to close', { 'days-before-close': 7.9 }, stale(7.5), ['close']],
    ['never closes with -1', { 'days-before-close': -1 }, stale(50), []],
    [
      'says why, and labels',
      { 'close-issue-message': 'bye', 'close-issue-label': 'done' },
      stale(8),
      ['comment', 'add-label done', 'close'],
    ],
    [
      'takes the label of the close from an open one',
      { 'close-issue-label': 'done' },
      { labels: ['done'], updated: ago(1) },
      ['remove-label done'],
    ],
    [
      'revives after a comment',
      {},
      stale(8, { comments: [say(1)], updated: ago(1) }),
      ['remove-label Stale'],
    ],
    [
      'not after a comment of a bot',
      {},
      stale(8, { comments: [say(1, { bot: true })], updated: ago(8) }),
      ['close'],
    ],
    [
      'not after its own message',
      { 'stale-issue-message': 'OLD' },
      stale(8, { comments: [say(8, { body: 'old' })] }),
      ['close'],
    ],
    [
      'changes labels of a revival',
      { 'labels-to-remove-when-unstale': 'a', 'labels-to-add-when-unstale': 'b' },
      stale(8, { labels: ['Stale', 'a'], comments: [say(1)] }),
      ['remove-label Stale', 'remove-label a', 'add-label b'],
    ],
    ['keeps the label if told', { 'remove-stale-when-updated': false }, stale(8, { comments: [say(1)] }), []],
    [
      'revives by another label',
      {},
      stale(8, { labels: ['Stale', 'x'], labelled: { Stale: ago(8), x: ago(1) }, updated: ago(1) }),
      ['remove-label Stale'],
    ],
    ['not by the time of the label alone', {}, stale(8, { updated: ago(7.9) }), ['close']],
    ['changes nothing to debug', { 'debug-only': true }, {}, []],
  ] as const)('%s', (_what, inputs, more, expected) => {
    expect(run(inputs, more as unknown as Partial<Subject>)).toEqual(expected);
  });

  it('has options of pull requests', () => {
    expect(run({ 'exempt-draft-pr': true }, { draft: true }, true)).toEqual([]);
    expect(run({ 'exempt-draft-pr': false }, { draft: true }, true)).toEqual(['add-label Stale']);
    expect(run({ 'stale-pr-label': 'old', 'exempt-issue-labels': 'x' }, { labels: ['x'] }, true)).toEqual([
      'add-label old',
    ]);
    expect(run({ 'delete-branch': true }, stale(8), true)).toEqual(['close', 'delete-branch']);
    expect(run({ 'delete-branch': true }, { ...stale(8), fork: true }, true)).toEqual(['close']);
  });

  it('runs each step of a workflow', () => {
    const two = JSON.stringify({
      jobs: {
        a: { steps: [{ uses: 'actions/stale@v9', with: { 'days-before-issue-stale': -1 } }] },
        b: { steps: [{ uses: 'actions/stale@v9' }] },
      },
    });
    expect(decide(two, plainIssue({ updated: ago(61) }), now).effects).toEqual(['add-label Stale']);
  });
});

describe('probot/stale', () => {
  const schedule = { action: 'schedule', sender: 'stale[bot]' };
  const run = (file: object, more: Partial<Subject> = {}, pull = false): readonly string[] =>
    decideProbotStale(
      JSON.stringify(file),
      (pull ? plainPull : plainIssue)({ created: ago(100), updated: ago(61), event: schedule, ...more }),
      now,
    ).effects;

  it.each([
    ['warns with its defaults', {}, {}, ['comment', 'add-label wontfix']],
    ['says nothing if told', { markComment: false }, {}, ['add-label wontfix']],
    ['has own days', { daysUntilStale: 90 }, {}, []],
    ['has default exemptions', {}, { labels: ['Pinned'] }, []],
    ['has own exemptions', { exemptLabels: ['x'] }, { labels: ['pinned'] }, ['comment', 'add-label wontfix']],
    ['needs onlyLabels', { onlyLabels: ['a', 'b'] }, { labels: ['a'] }, []],
    ['skips milestones', { exemptMilestones: true }, { milestone: 'x' }, []],
    ['skips assignees', { exemptAssignees: true }, { assignees: ['ada'] }, []],
    ['closes after seven days', {}, { labels: ['wontfix'], updated: ago(8) }, ['close']],
    ['says why', { closeComment: 'bye' }, { labels: ['wontfix'], updated: ago(8) }, ['comment', 'close']],
    ['closes what is exempt by now', {}, { labels: ['wontfix', 'pinned'], updated: ago(8) }, ['close']],
    ['never closes if told', { daysUntilClose: false }, { labels: ['wontfix'] }, []],
    ['skips a locked one', {}, { locked: true }, []],
    ['is for pulls alone', { only: 'pulls' }, {}, []],
    [
      'has a section of issues',
      { daysUntilStale: 90, issues: { daysUntilStale: 30 } },
      {},
      ['comment', 'add-label wontfix'],
    ],
    [
      'revives by an event',
      {},
      { labels: ['wontfix'], event: { action: 'edited', sender: 'bob' } },
      ['remove-label wontfix'],
    ],
    [
      'revives with a comment',
      { unmarkComment: 'back' },
      { labels: ['wontfix'], event: { action: 'commented', sender: 'bob' } },
      ['comment', 'remove-label wontfix'],
    ],
    [
      'not by its own label',
      {},
      { labels: ['wontfix'], event: { action: 'labeled', sender: 'bob', label: 'wontfix' } },
      [],
    ],
    ['not by a bot', {}, { labels: ['wontfix'], event: { action: 'edited', sender: 'x[bot]' } }, []],
  ] as const)('%s', (_what, file, more, expected) => {
    expect(run(file, more as unknown as Partial<Subject>)).toEqual(expected);
  });

  it('reads the section of issues for a comment on a pull request', () => {
    const more = { labels: ['old'], event: { action: 'commented', sender: 'bob' } };
    expect(run({ pulls: { staleLabel: 'old' } }, more, true)).toEqual([]);
    expect(run({ issues: { staleLabel: 'old' } }, more, true)).toEqual(['remove-label old']);
  });
});

describe('probot/no-response', () => {
  const label = 'more-information-needed';
  const schedule = { action: 'schedule', sender: 'bot' };
  const answer = (author: string) => ({ action: 'commented', sender: author, comment: say(0, { author }) });
  it.each([
    [
      'closes after 14 days',
      {},
      { labels: [label], labelled: { [label]: ago(15) }, event: schedule },
      ['comment', 'close'],
    ],
    [
      'counts from the label, not from the update',
      {},
      { labels: [label], labelled: { [label]: ago(13) }, updated: ago(50), event: schedule },
      [],
    ],
    [
      'has own days and label',
      { daysUntilClose: 3, responseRequiredLabel: 'q', closeComment: false },
      { labels: ['q'], labelled: { q: ago(4) }, event: schedule },
      ['close'],
    ],
    ['skips others', {}, { event: schedule }, []],
    [
      'takes the answer of the author',
      {},
      { labels: [label], event: answer('ada') },
      [`remove-label ${label}`],
    ],
    ['takes no answer of others', {}, { labels: [label], event: answer('bob') }, []],
    [
      'opens again what others closed',
      {},
      { labels: [label], state: 'closed', closedBy: 'bob', event: answer('ada') },
      [`remove-label ${label}`, 'reopen'],
    ],
    [
      'leaves closed what the author closed',
      {},
      { labels: [label], state: 'closed', closedBy: 'ada', event: answer('ada') },
      [`remove-label ${label}`],
    ],
  ] as const)('%s', (_what, file, more, expected) => {
    expect(
      decideNoResponse(JSON.stringify(file), plainIssue(more as unknown as Partial<Subject>), now).effects,
    ).toEqual(expected);
  });

  it('closes no pull request', () => {
    expect(
      decideNoResponse(
        '{}',
        plainPull({ labels: [label], labelled: { [label]: ago(50) }, event: schedule }),
        now,
      ).effects,
    ).toEqual([]);
  });
});

describe('lock-threads', () => {
  const closed = { state: 'closed', closed: ago(400), updated: ago(400), created: ago(500) } as const;
  const run = (inputs: object, more: Partial<Subject> = {}, pull = false): readonly string[] =>
    decideLockThreads(
      workflow('dessant/lock-threads', inputs),
      (pull ? plainPull : plainIssue)({ ...closed, ...more }),
      now,
    ).effects;

  it.each([
    ['locks after a year', {}, {}, ['lock']],
    ['has own days', { 'issue-inactive-days': 500 }, {}, []],
    ['locks at once', { 'issue-inactive-days': 0 }, { updated: ago(0.01) }, ['lock']],
    ['skips an open one', {}, { state: 'open' }, []],
    ['skips a locked one', {}, { locked: true }, []],
    ['comments', { 'issue-comment': 'old' }, {}, ['comment', 'lock']],
    [
      'changes labels',
      { 'add-issue-labels': 'a, b', 'remove-issue-labels': 'c' },
      { labels: ['b', 'c'] },
      ['add-label a', 'remove-label c', 'lock'],
    ],
    [
      'excludes a label',
      { 'exclude-any-issue-labels': 'keep, "help wanted"' },
      { labels: ['Help Wanted'] },
      [],
    ],
    ['includes any label', { 'include-any-issue-labels': 'a,b' }, { labels: ['b'] }, ['lock']],
    ['includes all labels', { 'include-all-issue-labels': 'a,b' }, { labels: ['b'] }, []],
    [
      'hides any behind all',
      { 'include-all-issue-labels': 'a', 'include-any-issue-labels': 'b' },
      { labels: ['b'] },
      [],
    ],
    ['excludes the created before', { 'exclude-issue-created-before': '2026-01-01' }, {}, []],
    ['excludes the closed after', { 'exclude-issue-closed-after': '2026-01-01' }, {}, ['lock']],
    ['excludes a time between', { 'exclude-issue-created-between': '2025-01-01/2025-02-01' }, {}, []],
    ['is for pull requests alone', { 'process-only': 'prs' }, {}, []],
  ] as const)('%s', (_what, inputs, more, expected) => {
    expect(run(inputs, more as unknown as Partial<Subject>)).toEqual(expected);
  });

  it('has inputs of pull requests', () => {
    expect(
      run({ 'pr-inactive-days': 300, 'issue-inactive-days': 900, 'process-only': 'issues, prs' }, {}, true),
    ).toEqual(['lock']);
  });
});
