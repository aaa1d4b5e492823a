import { describe, expect, test } from 'vitest';
import { imported, itemCase } from '../support/imported.ts';

const workflow = (action: string, options: string, cron = '30 1 * * *'): string =>
  `on:\n  schedule: [{ cron: "${cron}" }]\njobs:\n  work:\n    if: github.repository == 'acme/demo'\n    steps:\n      - uses: ${action}\n        with:\n${options
    .split('\n')
    .map((line) => `          ${line}`)
    .join('\n')}\n`;

const definitions = {
  label_definitions: ['Stale', 'stale', 'wontfix', 'closed', 'again', 'old', 'needs', 'locked'],
};

/** What the rules change for an issue or pull request. */
async function happens(
  [name, source]: readonly [string, string],
  kind: 'issue' | 'pull_request',
  item: Readonly<Record<string, unknown>>,
  facts: Readonly<Record<string, unknown>> = {},
): Promise<readonly string[]> {
  const { changes } = await imported(name, source);
  return changes(itemCase(kind, item, { ...definitions, ...facts }));
}

const stale = (options: string, version = 'v10'): readonly [string, string] => [
  'stale',
  workflow(`actions/stale@${version}`, options),
];
const days = (count: number): string =>
  new Date(Date.parse('2026-06-01T09:00:00Z') - count * 86_400_000).toISOString();
const quiet = { updated_at: days(61) };
const marked = ['comment', 'label:Stale=true'];

describe('actions/stale (src/classes/issues-processor.ts of v10.3.0)', () => {
  test('marks after days-before-stale, with a comment if there is a message', async () => {
    const source = stale('stale-issue-message: Quiet.');
    expect(await happens(source, 'issue', quiet)).toEqual(marked);
    expect(await happens(source, 'issue', { updated_at: days(59) })).toEqual([]);
    expect(await happens(source, 'pull_request', quiet)).toEqual(['label:Stale=true']);
    expect(await happens(stale('days-before-issue-stale: -1'), 'issue', quiet)).toEqual([]);
    expect(await happens(stale('days-before-pr-stale: 70'), 'pull_request', quiet)).toEqual([]);
    // Up to version 3, nothing happens without a message.
    expect(await happens(stale('stale-pr-message: Quiet.', 'v3'), 'pull_request', quiet)).toEqual(marked);
    expect(
      (await imported(...stale('stale-pr-message: Quiet.', 'v3'))).rules.map(({ name }) => name),
    ).not.toContain('mark-stale-issues');
    expect(
      await happens(stale('days-before-issue-stale: -1\nstale-pr-message: a', 'v3'), 'issue', quiet),
    ).toEqual([]);
    expect(
      await happens(stale('ignore-updates: true'), 'issue', { created_at: days(70), updated_at: days(1) }),
    ).toEqual(['label:Stale=true']);
  });

  const exemptions: readonly (readonly [
    string,
    Readonly<Record<string, unknown>>,
    Readonly<Record<string, unknown>>,
  ])[] = [
    ['exempt-issue-labels: "Keep, other"', {}, { labels: ['keep'] }],
    ['only-labels: a,b', {}, { labels: ['a'] }],
    ['only-issue-labels: a', {}, { labels: ['b'] }],
    ['any-of-labels: a,b', {}, { labels: ['c'] }],
    ['any-of-issue-labels: a', {}, { labels: ['b'] }],
    ['exempt-all-milestones: true', { milestone: { title: 'v1' } }, {}],
    ['exempt-all-issue-milestones: true', { milestone: { title: 'v1' } }, {}],
    ['exempt-milestones: V1', { milestone: { title: 'v1' } }, {}],
    ['exempt-issue-milestones: v1', { milestone: { title: 'v1' } }, {}],
    ['exempt-all-assignees: true', { assignees: [{ login: 'ada' }] }, {}],
    ['exempt-assignees: Ada', { assignees: [{ login: 'ada' }] }, {}],
    ['include-only-assigned: true', { assignees: null }, {}],
    ['start-date: "2025-06-01"', { created_at: '2025-05-31T00:00:00Z' }, {}],
    ['debug-only: false', { is_locked: true }, {}],
  ];
  test.each(exemptions)('%s', async (option, item, facts) => {
    expect(await happens(stale(option), 'issue', { ...quiet, ...item }, facts)).toEqual([]);
    const free = await happens(
      stale(option),
      'issue',
      { ...quiet, created_at: days(100), assignees: [{ login: 'bob' }] },
      { labels: ['a', 'b'] },
    );
    const isAll = option.startsWith('exempt-all-assignees');
    expect(free).toEqual(isAll ? [] : ['label:Stale=true']);
  });

  test('drafts are exempt, in a rule about both kinds, too', async () => {
    const source = stale('exempt-draft-pr: true');
    expect(await happens(source, 'pull_request', { ...quiet, draft: true })).toEqual([]);
    expect(await happens(source, 'pull_request', quiet)).toEqual(['label:Stale=true']);
    expect(await happens(source, 'issue', quiet)).toEqual(['label:Stale=true']);
  });

  test('closes after days-before-close; what the rule writes before does not count', async () => {
    const labelled = { labels: ['Stale'] };
    const plain = stale('days-before-close: 7');
    expect(await happens(plain, 'issue', { updated_at: days(8) }, labelled)).toEqual(['issue.state=closed']);
    expect(await happens(plain, 'issue', { updated_at: days(6) }, labelled)).toEqual([]);
    expect(
      await happens(stale('days-before-close: -1'), 'issue', { updated_at: days(90) }, labelled),
    ).toEqual([]);
    const saying = stale('close-issue-message: Closed.\nclose-issue-label: closed');
    const at = (ago: number, type: string) => ({ ...labelled, timeline: [{ type, created_at: days(ago) }] });
    expect(await happens(saying, 'issue', { updated_at: days(0) }, at(8, 'label'))).toEqual([
      'comment',
      'issue.state=closed',
      'label:closed=true',
    ]);
    expect(await happens(saying, 'issue', {}, at(6, 'label'))).toEqual([]);
    expect(await happens(saying, 'issue', {}, at(6, 'comment'))).toEqual([]);
    expect(await happens(saying, 'issue', { updated_at: days(0) }, at(0, 'comment'))).toEqual([
      'comment',
      'issue.state=closed',
      'label:closed=true',
    ]);
    expect(await happens(saying, 'issue', {}, { labels: ['Stale'], timeline: [] })).toContain(
      'issue.state=closed',
    );
  });

  test('an update removes the label, and sets and removes others', async () => {
    const source = stale(
      'labels-to-add-when-unstale: again\nlabels-to-remove-when-unstale: old\nlabels-to-remove-when-stale: old',
    );
    const { changes, entries } = await imported(...source);
    const comment = {
      event: {
        kind: 'issue_comment',
        activity: 'created',
        payload: {
          issue: { number: 5, state: 'open', is_locked: false, labels: [] },
          comment: { id: 1, body: 'still here', user: { login: 'ada' } },
          repository: { id: 1, full_name: 'acme/demo' },
          sender: { login: 'ada' },
        },
      },
      facts: { ...definitions, labels: ['Stale', 'old'] },
    };
    expect(await changes(comment)).toEqual(['label:Stale=false', 'label:again=true', 'label:old=false']);
    expect(entries.get('labels-to-add-when-unstale: again')?.outcome).toBe('exact');
    const off = await imported(...stale('remove-stale-when-updated: false'));
    expect(await off.changes({ ...comment, event: { ...comment.event } }).catch(() => [])).toEqual([]);
    expect(off.entries.get('remove-stale-when-updated: false')).toMatchObject({ outcome: 'differs' });
  });

  test('other options are named', async () => {
    const { entries, todo } = await (async () => {
      const found = await imported(
        ...stale(
          'repo-token: x\noperations-per-run: 5\nascending: true\nclose-issue-reason: completed\ndelete-branch: true\nonly-issue-types: bug\nunknown: 1\ndebug-only: true',
        ),
      );
      return { entries: found.entries, todo: found.report };
    })();
    const outcome = (part: string) => entries.get(part)?.outcome;
    expect(outcome('repo-token: x')).toBe('without-meaning');
    expect(outcome('operations-per-run: 5')).toBe('differs');
    expect(outcome('ascending: true')).toBe('without-meaning');
    expect(outcome('close-issue-reason: completed')).toBe('without-meaning');
    expect(outcome('delete-branch: true')).toBe('left-out');
    expect(outcome('only-issue-types: bug')).toBe('left-out');
    expect(outcome('unknown: 1')).toBe('without-meaning');
    expect(outcome('debug-only: true')).toBe('differs');
    expect(todo).toContain('`Stale`');
  });

  test('a condition or value of GitHub that is not understood leaves the step out', async () => {
    const source = workflow('actions/stale@v9', 'days-before-stale: ${{ vars.DAYS }}');
    expect([...(await imported('stale', source)).entries.values()]).toMatchObject([{ outcome: 'left-out' }]);
    const unclear = workflow('actions/stale@v9', 'days-before-stale: 3').replace(
      "github.repository == 'acme/demo'",
      "hashFiles('x') == ''",
    );
    expect([...(await imported('stale', unclear)).entries.values()]).toMatchObject([{ outcome: 'left-out' }]);
    const other = workflow('actions/stale@v9', 'days-before-stale: 3').replace(
      "github.repository == 'acme/demo'",
      "github.event_name != 'issue_comment' || contains(x, 'y')",
    );
    expect((await imported('stale', other)).rules.length).toBeGreaterThan(0);
  });
});

describe('probot/stale (lib/stale.js and lib/schema.js)', () => {
  const source = (text: string): readonly [string, string] => ['probot-stale', text];
  test('marks, with defaults; exemptions do not count for closing', async () => {
    expect(await happens(source('{}'), 'issue', quiet)).toEqual(['comment', 'label:wontfix=true']);
    expect(await happens(source('{}'), 'issue', quiet, { labels: ['Pinned'] })).toEqual([]);
    expect(
      await happens(source('exemptMilestones: true'), 'issue', { ...quiet, milestone: { title: 'a' } }),
    ).toEqual([]);
    expect(
      await happens(source('exemptAssignees: true'), 'issue', { ...quiet, assignees: [{ login: 'ada' }] }),
    ).toEqual([]);
    expect(
      await happens(source('exemptProjects: true\nonly: issues'), 'issue', {
        ...quiet,
        projects: [{ id: 1 }],
      }),
    ).toEqual([]);
    expect(await happens(source('onlyLabels: [a]'), 'issue', quiet)).toEqual([]);
    expect(await happens(source('markComment: false\nstaleLabel: stale'), 'issue', quiet)).toEqual([
      'label:stale=true',
    ]);
    const both = { labels: ['wontfix', 'pinned'] };
    expect(await happens(source('{}'), 'issue', { updated_at: days(8) }, both)).toEqual([
      'issue.state=closed',
    ]);
    expect(await happens(source('daysUntilClose: false'), 'issue', { updated_at: days(80) }, both)).toEqual(
      [],
    );
  });

  test('sections and `only` choose kinds', async () => {
    const sections = source('daysUntilStale: 60\npulls: { daysUntilStale: 90 }');
    expect(await happens(sections, 'issue', quiet)).toEqual(['comment', 'label:wontfix=true']);
    expect(await happens(sections, 'pull_request', quiet)).toEqual([]);
    const { rules } = await imported(...source('only: pulls'));
    expect(rules.every(({ each }) => each?.every(({ kind }) => kind === 'pull_request'))).toBe(true);
  });

  test('a file that depends on another repository, or is off, has no rules', async () => {
    expect((await imported(...source('_extends: other\ndaysUntilStale: 3'))).rules).toEqual([]);
    expect((await imported(...source('perform: false'))).rules).toEqual([]);
    expect(
      (await imported(...source('limitPerRun: 5\nunmarkComment: Hi'))).entries.get('limitPerRun: 5')?.outcome,
    ).toBe('differs');
  });
});

describe('no-response (probot/no-response, lib/no-response.js; lee-dohm/no-response v0.5.0)', () => {
  const labelAt = (ago: number) => ({
    type: 'label',
    body: '1',
    label: { name: 'needs' },
    created_at: days(ago),
  });
  const sources: readonly (readonly [string, string])[] = [
    [
      'probot-no-response',
      'daysUntilClose: 14\nresponseRequiredLabel: needs\ncloseComment: Closed.\nresponseRequiredColor: fff',
    ],
    [
      'no-response',
      workflow('lee-dohm/no-response@v0.5.0', 'token: x\ndaysUntilClose: 14\nresponseRequiredLabel: needs'),
    ],
  ];
  test.each(sources)('%s closes by the time of the label', async (...source) => {
    const asked = (ago: number) => ({ labels: ['needs'], timeline: [labelAt(400), labelAt(ago)] });
    expect(await happens(source, 'issue', {}, asked(15))).toEqual(['comment', 'issue.state=closed']);
    expect(await happens(source, 'issue', {}, asked(13))).toEqual([]);
    expect(await happens(source, 'issue', {}, { timeline: [labelAt(20)] })).toEqual([]);
  });

  test('a value that is an expression of GitHub leaves the step out', async () => {
    const step = workflow(
      'lee-dohm/no-response@v0.5.0',
      "token: '${{ github.token }}'\ncloseComment: '${{ vars.text }}'",
    );
    const { entries, rules } = await imported('no-response', step);
    expect(rules).toEqual([]);
    expect(entries.get('the step lee-dohm/no-response@v0.5.0')).toMatchObject({
      outcome: 'left-out',
      note: 'the value of `closeComment` is an expression of GitHub',
    });
  });

  test.each(sources)('%s: an answer of the author removes the label and reopens', async (...source) => {
    const { changes } = await imported(...source);
    const answer = (login: string, closer: string) => ({
      event: {
        kind: 'issue_comment',
        activity: 'created',
        payload: {
          issue: { number: 5, state: 'closed', user: { login: 'ada' }, labels: [] },
          comment: { id: 1, body: 'Here.', user: { login } },
          repository: { id: 1, full_name: 'acme/demo' },
          sender: { login },
        },
      },
      facts: {
        ...definitions,
        labels: ['needs'],
        timeline: [{ type: 'close', user: { login: closer }, created_at: days(1) }],
      },
    });
    expect(await changes(answer('ada', 'reeve'))).toEqual(['issue.state=open', 'label:needs=false']);
    expect(await changes(answer('ada', 'ada'))).toEqual(['label:needs=false']);
    expect(await changes(answer('bob', 'reeve'))).toEqual([]);
  });
});

describe('lock-threads (dessant/lock-threads v6.0.2 and v2.1.2; dessant/lock-threads-app)', () => {
  const action = (options: string): readonly [string, string] => [
    'lock-threads',
    workflow('dessant/lock-threads@v5', options),
  ];
  const closed = { state: 'closed', closed_at: days(40), updated_at: days(40) };
  test('locks what is closed and quiet', async () => {
    const source = action(
      'issue-inactive-days: 30\nissue-comment: Locked.\nadd-issue-labels: locked\nremove-issue-labels: old',
    );
    expect(await happens(source, 'issue', closed, { labels: ['old'] })).toEqual([
      'comment',
      'issue.locked=true',
      'label:locked=true',
      'label:old=false',
    ]);
    expect(await happens(source, 'issue', { ...closed, updated_at: days(20) })).toEqual([]);
    expect(await happens(source, 'issue', { ...closed, is_locked: true })).toEqual([]);
    const options = 'issue-lock-inactive-days: 30\nissue-exclude-labels: "keep"';
    const old = ['lock-threads', workflow('dessant/lock-threads@v2.1.2', options)] as const;
    expect(await happens(old, 'issue', closed)).toEqual(['issue.locked=true']);
    expect(await happens(old, 'issue', closed, { labels: ['Keep'] })).toEqual([]);
    // Later versions ignore these names, and wait for 365 days.
    expect(await happens(action(options), 'issue', closed)).toEqual([]);
  });

  const filters: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ['include-any-issue-labels: a', { labels: ['b'] }],
    ['include-all-issue-labels: "a, b"', { labels: ['b'] }],
    ['exclude-any-issue-labels: b', { labels: ['b'] }],
    ['exclude-issue-created-before: "2025-02-01"', {}],
    ['exclude-issue-created-after: "2024-02-01"', {}],
    ['exclude-issue-created-between: 2024-12-01/2025-02-01', {}],
    ['exclude-issue-closed-before: "2026-05-31"', {}],
    ['exclude-issue-closed-after: "2026-01-01"', {}],
  ];
  test.each(filters)('%s', async (option, facts) => {
    const source = action(`issue-inactive-days: 30\n${option}`);
    expect(await happens(source, 'issue', closed, facts)).toEqual([]);
    expect((await imported(...source)).entries.get(option.replaceAll('"', ''))?.outcome).toBe('exact');
  });

  test('process-only, discussions and reasons are named', async () => {
    const { rules, entries } = await imported(
      ...action(
        'process-only: prs\nissue-lock-reason: resolved\npr-lock-reason: spam\ndiscussion-comment: x',
      ),
    );
    expect(rules.map(({ name }) => name)).toEqual(['lock-pull-requests']);
    expect(entries.get('pr-lock-reason: spam')?.outcome).toBe('differs');
    expect(entries.get('issue-lock-reason: resolved')?.outcome).toBe('without-meaning');
    expect(entries.get('discussion-comment: x')?.outcome).toBe('without-meaning');
  });

  test('the app: defaults, sections and options', async () => {
    const source = [
      'probot-lock',
      'daysUntilLock: 30\nlockComment: false\nexemptLabels: [keep]\nlockLabel: locked\nsetLockReason: true\npulls: { daysUntilLock: 90 }',
    ] as const;
    expect(await happens(source, 'issue', closed)).toEqual(['issue.locked=true', 'label:locked=true']);
    expect(await happens(source, 'issue', closed, { labels: ['keep'] })).toEqual([]);
    expect(await happens(source, 'pull_request', closed)).toEqual([]);
    expect(
      await happens(['probot-lock', 'daysUntilLock: 30\nskipCreatedBefore: 2025-02-01'], 'issue', closed),
    ).toEqual([]);
    const { entries } = await imported(...source);
    expect(entries.get('setLockReason: true')?.outcome).toBe('differs');
  });
});
