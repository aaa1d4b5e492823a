import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { imported, pullCase } from '../support/imported.ts';

const workflow = (
  action: string,
  options: readonly (readonly [string, string])[],
  on = 'pull_request: { types: [opened, edited, synchronize] }',
): string =>
  `on:\n  ${on}\njobs:\n  work:\n    steps:\n      - uses: ${action}\n        with: ${JSON.stringify(Object.fromEntries(options))}\n`;

/** Whether the status of an imported source is `success` for a title. */
async function passes(
  [name, source]: readonly [string, string],
  title: string,
  facts: Readonly<Record<string, unknown>> = {},
): Promise<boolean> {
  const { changes } = await imported(name, source);
  const found = await changes(pullCase('edited', { title }, { statuses: [], commits: [], ...facts }));
  const statuses = found.filter((one) => one.startsWith('status:'));
  expect(statuses).toHaveLength(1);
  return statuses[0]?.endsWith('=success') === true;
}

describe('amannn/action-semantic-pull-request (src/validatePrTitle.js and src/index.js of v6.1.1)', () => {
  const action = (...options: readonly (readonly [string, string])[]): readonly [string, string] => [
    'semantic-title',
    workflow('amannn/action-semantic-pull-request@v6', options),
  ];
  const rows: readonly (readonly [
    string,
    readonly [string, string],
    readonly string[],
    readonly string[],
  ])[] = [
    [
      'defaults',
      action(),
      ['feat: a', 'fix(x)!: a', 'chore(): a', 'fix(a): b(): c'],
      ['Feat: a', 'feature: a', 'feat:a', 'feat', ' feat: a'],
    ],
    ['types', action(['types', 'fix\nPROJ-1\nrev\\w*']), ['fix: a', 'revert: a'], ['feat: a', 'PROJ-1: a']],
    [
      'scopes',
      action(['scopes', 'core\nui.?']),
      ['fix: a', 'fix(core): a', 'fix(core, uix): a'],
      ['fix(other): a', 'fix(core): b(): c'],
    ],
    ['requireScope', action(['requireScope', 'true']), ['fix(a): b'], ['fix: b', 'fix(): b']],
    [
      'disallowScopes',
      action(['disallowScopes', 'bad']),
      ['fix(good): a', 'fix: a'],
      ['fix(bad): a', 'fix(good, bad): a'],
    ],
    ['subjectPattern with a look-ahead', action(['subjectPattern', '^(?![A-Z]).+$']), ['fix: a'], ['fix: A']],
    ['subjectPattern', action(['subjectPattern', '[a-z]+']), ['fix: abc'], ['fix: abc1']],
  ];
  test.each(rows)('%s', async (_, source, good, bad) => {
    for (const title of good) expect([title, await passes(source, title)]).toEqual([title, true]);
    for (const title of bad) expect([title, await passes(source, title)]).toEqual([title, false]);
  });

  test('ignored labels, and the commit of a pull request with one', async () => {
    const commits = (...messages: readonly string[]) => ({
      commits: messages.map((message) => ({ commit: { message }, parents: [{ sha: 'a' }] })),
    });
    expect(await passes(action(['ignoreLabels', 'bot']), 'x', { labels: ['bot'] })).toBe(true);
    const single = action(['validateSingleCommit', 'true'], ['validateSingleCommitMatchesPrTitle', 'true']);
    expect(await passes(single, 'fix: a', commits('fix: a\n\ntext'))).toBe(true);
    expect(await passes(single, 'fix: a', commits('a'))).toBe(false);
    expect(await passes(single, 'fix: a', commits('fix: b'))).toBe(false);
    expect(await passes(single, 'fix: a', commits('a', 'b'))).toBe(true);
  });

  test('wip has a second status, and a pattern of its own is left out', async () => {
    const { changes, entries } = await imported(...action(['wip', 'true']));
    const found = await changes(pullCase('edited', { title: '[WIP] a' }, { statuses: [] }));
    expect(found).toEqual([
      'status:action-semantic-pull-request=pending',
      'status:reeve/pull-request-title=success',
    ]);
    expect(entries.get('wip: true')?.outcome).toBe('exact');
    const own = await imported(...action(['headerPattern', '^(.*)$'], ['types', 'fix']));
    expect(own.rules).toEqual([]);
    expect(own.entries.get('types')?.outcome).toBe('left-out');
    const scoped = await imported('semantic-title', action(['wip', 'true'])[1], { target: 'repository' });
    expect(scoped.entries.get('wip: true')?.note).toContain('reeve-repo/action-semantic-pull-request');
  });
});

describe('semantic-prs (functions/src/handle-pull-request-change.ts and is-message-semantic.ts)', () => {
  const messages = (...all: readonly string[]) => ({
    commits: all.map((message) => ({ commit: { message } })),
  });
  const file = (text: string): readonly [string, string] => ['semantic', text];
  test('title and commits', async () => {
    expect(await passes(file('titleOnly: true'), 'fix: a')).toBe(true);
    expect(await passes(file('titleOnly: true'), 'fix:  a')).toBe(false);
    expect(await passes(file('titleOnly: true\ntypes: [a]'), 'fix: a')).toBe(false);
    expect(await passes(file('titleOnly: true\nscopes: [a, b]'), 'fix(a, b): c')).toBe(true);
    expect(await passes(file('titleOnly: true\nscopes: [a]'), 'fix(b): c')).toBe(false);
    expect(await passes(file('commitsOnly: true'), 'x', messages('fix: a\n\nx', 'b'))).toBe(false);
    expect(await passes(file('commitsOnly: true\nanyCommit: true'), 'x', messages('fix: a', 'b'))).toBe(true);
    expect(
      await passes(file('commitsOnly: true\nallowMergeCommits: true'), 'x', messages('Merge a', 'fix: a')),
    ).toBe(true);
    expect(await passes(file('titleAndCommits: true'), 'fix: a', messages('b'))).toBe(false);
    expect(await passes(file('{}'), 'fix: a', messages('a', 'b'))).toBe(true);
    expect(await passes(file('{}'), 'fix: a', messages('a'))).toBe(false);
    expect(await passes(file('{}'), 'x', messages('fix: a', 'fix: b'))).toBe(true);
    expect(await passes(file('enabled: false'), 'x')).toBe(true);
  });
});

describe('auto-assign (src/handler.ts and src/util.ts)', () => {
  test('reviewers, assignees and what skips them', async () => {
    const source =
      'addReviewers: true\naddAssignees: author\nreviewers: [bob, acme/core]\nnumberOfReviewers: 0\nskipKeywords: [Wip]\nskipUsers: [eve]';
    const { changes, entries } = await imported('auto-assign', source);
    const facts = { reviews: [], timeline: [], assignable: ['ada', 'bob'] };
    const happens = (pull: Readonly<Record<string, unknown>>) => changes(pullCase('opened', pull, facts));
    expect(await happens({ assignees: [] })).toEqual(
      ['assignee:ada=true', 'reviewer:bob=true', 'team-reviewer:core=true'].toSorted(),
    );
    expect(await happens({ title: 'a wip' })).toEqual([]);
    expect(await happens({ draft: true })).toEqual([]);
    expect(await happens({ user: { login: 'eve' } })).toEqual([]);
    expect([...entries.values()].filter(({ outcome }) => outcome === 'left-out')).toEqual([]);
  });

  test('groups are one step each, and numbers pick', async () => {
    const source =
      'addReviewers: true\nuseReviewGroups: true\nreviewGroups: { a: [x, y], b: [z] }\nnumberOfReviewers: 1\naddAssignees: false';
    const { rules } = await imported('auto-assign', source);
    expect(rules[0]?.steps.map(({ arguments: given }) => given.written)).toEqual([
      { users: ['x', 'y'], pick: 1 },
      { users: ['z'], pick: 1 },
    ]);
    const labels = await imported(
      'auto-assign',
      'addReviewers: true\nreviewers: [x]\nfilterLabels: { include: [a], exclude: [b] }',
    );
    expect(labels.text).toContain('labelled("a") && !labelled("b")');
    expect((await imported('auto-assign', 'addAssignees: maybe\nreviewers: [a]')).rules).toEqual([]);
  });
});

describe('auto-request-review (src/reviewer.js)', () => {
  const source = `
reviewers: { defaults: [owners], groups: { owners: [bob] }, per_author: { owners: [carol], dave: ["team:core"] } }
files: { "docs/**": [dora] }
options: { ignored_keywords: [STOP] }
`;
  test('by files, author, and defaults', async () => {
    const { changes } = await imported('auto-request-review', source);
    const asked = (login: string, files: readonly string[], title = 'A change') =>
      changes(pullCase('opened', { user: { login }, title }, { files, reviews: [], timeline: [] }));
    expect(await asked('ada', ['docs/a'])).toEqual(['reviewer:dora=true']);
    expect(await asked('ada', ['docs/.a'])).toEqual(['reviewer:bob=true']);
    expect(await asked('bob', ['src/a'])).toEqual(['reviewer:carol=true']);
    // Dora is never asked about her own change, so that the defaults count.
    expect(await asked('dora', ['docs/a'])).toEqual(['reviewer:bob=true']);
    expect(await asked('dave', ['src/a'])).toEqual(['team-reviewer:core=true']);
    expect(await asked('ada', ['src/a'], 'STOP')).toEqual([]);
  });

  test('what needs all reviewers together is left out', async () => {
    const last = await imported(
      'auto-request-review',
      `files: { a: [x], b: [y] }\noptions: { last_files_match_only: true }`,
    );
    expect(last.rules).toEqual([]);
    const pooled = await imported(
      'auto-request-review',
      `files: { a: [x], b: [y] }\noptions: { number_of_reviewers: 1 }`,
    );
    expect(pooled.entries.get('files.a')?.outcome).toBe('left-out');
  });
});

describe('welcome (actions/first-interaction v1 and v3; behaviorbot)', () => {
  test('comments for the first issue and pull request', async () => {
    const source = workflow(
      'actions/first-interaction@v1',
      [
        ['repo-token', 'x'],
        ['issue-message', 'Hi'],
        ['pr-message', 'Hello @${{ github.event.pull_request.user.login }}'],
      ],
      'pull_request_target:',
    );
    const { changes, entries, text } = await imported('first-interaction', source);
    expect(entries.get('issue-message: Hi')?.outcome).toBe('without-meaning');
    expect(text).toContain('Hello @${{ pull_request.user.login }}');
    expect(await changes(pullCase('opened', {}, { first_pull_request: true, comments: [] }))).toEqual([
      'comment',
    ]);
    expect(await changes(pullCase('opened', {}, { first_pull_request: false, comments: [] }))).toEqual([]);
    const unclear = await imported(
      'first-interaction',
      workflow('actions/first-interaction@v3', [['pr_message', 'a ${{ env.X }}']]),
    );
    expect([...unclear.entries.values()]).toMatchObject([{ outcome: 'left-out' }]);
  });

  test('behaviorbot', async () => {
    const { rules, entries } = await imported(
      'behaviorbot',
      'newIssueWelcomeComment: a\nnewPRWelcomeComment: b\nfirstPRMergeComment: c\nrequestInfoReplyComment: d',
    );
    expect(rules.map(({ name }) => name)).toEqual(['welcome-issue', 'welcome-pull-request', 'first-merge']);
    expect(entries.get('requestInfoReplyComment')).toMatchObject({ outcome: 'left-out', apart: true });
  });
});

describe('backport (korthout v4.6.0, tibdex v2.0.4, sorenlouv v9.6.6)', () => {
  const argumentsOf = async (name: string, source: string) => {
    const { rules } = await imported(name, source);
    return rules.flatMap(({ steps }) => steps.map(({ arguments: given }) => given.written));
  };
  test('labels that name branches', async () => {
    const by = (action: string, ...options: readonly (readonly [string, string])[]) =>
      argumentsOf(
        'backport-action',
        workflow(action, options, 'pull_request_target: { types: [closed, labeled] }'),
      );
    expect(
      await by('korthout/backport-action@v4', ['add_labels', 'a, b'], ['target_branches', 'main next']),
    ).toMatchObject([
      { to: { label: 'backport {branch}', only: ['**'] }, labels: ['a', 'b'] },
      { to: ['main', 'next'], labels: ['a', 'b'] },
    ]);
    expect(await by('tibdex/backport@v2', ['label_pattern', '^to-(?<base>(stable|rc))$'])).toMatchObject([
      { to: { label: 'to-{branch}', only: ['stable', 'rc'] } },
    ]);
    expect(
      await by('sorenlouv/backport-github-action@v9', ['auto_backport_label_prefix', 'port/']),
    ).toMatchObject([{ to: { label: 'port/{branch}' } }]);
    expect(await by('korthout/backport-action@v4', ['label_pattern', '(a|b)'])).toEqual([]);
  });

  test.each<[string, string, string | undefined]>([
    // README of tibdex/backport at v2.0.4
    [
      "github.event.pull_request.merged && ( github.event.action == 'closed' || ( github.event.action == 'labeled' && contains(github.event.label.name, 'backport') ) )",
      'pull_request.merged && (event.action == "closed" || event.action == "label_updated" && labels.exists(l, l.name.lower().contains("backport")))',
      'a label without `backport` is added',
    ],
    // README of sorenlouv/backport-github-action
    [
      "contains(join(github.event.pull_request.labels.*.name, ','), 'Backport-to-')",
      'labels.exists(l, l.name.lower().contains("backport-to-"))',
      undefined,
    ],
  ])('the condition %s', async (written, expected, note) => {
    const source = workflow('tibdex/backport@v2', [], 'pull_request_target: { types: [closed, labeled] }');
    const { text, entries } = await imported(
      'backport-action',
      source.replace(
        /^( +)- uses:/m,
        (_, indent) => `${indent}- if: ${JSON.stringify(written)}\n${indent}  uses:`,
      ),
    );
    expect(text.replaceAll('event.action == "label_updated" && event', 'event')).toContain(expected);
    if (note !== undefined) expect(entries.get('the step tibdex backport@v2')?.note).toContain(note);
  });

  test('.backportrc.json', async () => {
    expect(
      await argumentsOf(
        'backportrc',
        '{ "targetBranches": ["a"], "branchLabelMapping": { "^x(.+)$": "$1" } }',
      ),
    ).toMatchObject([{ to: ['a'] }]);
    expect(
      await argumentsOf(
        'backportrc',
        '// a\n{ "branchLabelMapping": { "^v(\\\\d+\\\\.\\\\d+)$": "$1", "^next$": "main" }, "targetBranchChoices": ["1.0", "main"] }',
      ),
    ).toMatchObject([{ to: { label: 'v{branch}', only: ['1.0'] } }, { to: ['main'] }]);
    const { entries } = await imported(
      'backportrc',
      '{ "targetBranches": ["a"], "autoMerge": true, "signoff": false, "repoName": "x" }',
    );
    expect(entries.get('autoMerge: true')?.outcome).toBe('left-out');
    expect(entries.get('signoff: false')?.outcome).toBe('without-meaning');
  });
});

describe('foreign text stays text', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom(
      '${{ repository.name }}',
      'a: b # c',
      '"\n  evil:\n    on: push',
      "'}}]",
      '# yaml-language-server: $schema=x',
      '\u2028\u202e\u0000x',
      '!label',
      '${{ secrets.X }} ]]',
      '- uses: merge',
      '&a *a !!str',
    ),
  );
  const lines = (value: unknown): string => JSON.stringify(value);
  const sources: readonly (readonly [string, (hostile: string) => string])[] = [
    [
      'labeler',
      (hostile) =>
        lines({
          [hostile]: [
            { 'changed-files': [{ 'any-glob-to-any-file': [hostile, 'a'] }], 'head-branch': hostile },
          ],
        }),
    ],
    [
      'srvaroa-labeler',
      (hostile) => lines({ version: 1, labels: [{ label: hostile || 'x', authors: [hostile] }] }),
    ],
    [
      'boring-cyborg',
      (hostile) =>
        lines({
          labelPRBasedOnFilePath: { [hostile]: ['a', hostile] },
          firstPRWelcomeComment: hostile,
          verifyTitles: {
            titleRegexp: 'a',
            failureMessage: hostile,
            statusTitle: hostile,
            alwaysUsePrTitle: true,
          },
        }),
    ],
    [
      'release-drafter',
      (hostile) => lines({ autolabeler: [{ label: hostile || 'x', title: [hostile], files: [hostile] }] }),
    ],
    [
      'probot-stale',
      (hostile) =>
        lines({
          staleLabel: hostile,
          markComment: hostile,
          closeComment: hostile,
          exemptLabels: [hostile],
          unmarkComment: hostile,
        }),
    ],
    ['probot-no-response', (hostile) => lines({ responseRequiredLabel: hostile, closeComment: hostile })],
    [
      'probot-lock',
      (hostile) => lines({ lockLabel: hostile, lockComment: hostile, exemptLabels: [hostile] }),
    ],
    ['semantic', (hostile) => lines({ titleOnly: true, types: ['fix', hostile], scopes: [hostile] })],
    [
      'auto-assign',
      (hostile) =>
        lines({
          addReviewers: true,
          addAssignees: true,
          reviewers: [hostile],
          skipKeywords: [hostile],
          skipUsers: [hostile],
        }),
    ],
    [
      'auto-request-review',
      (hostile) =>
        lines({
          reviewers: { defaults: [hostile], groups: { [hostile]: ['a'] } },
          files: { [hostile]: [hostile] },
        }),
    ],
    ['behaviorbot', (hostile) => lines({ newIssueWelcomeComment: hostile })],
    [
      'backportrc',
      (hostile) => lines({ targetBranches: [hostile], targetPRLabels: [hostile], prTitle: hostile }),
    ],
    [
      'stale',
      (hostile) =>
        workflow(
          'actions/stale@v9',
          [
            ['stale-issue-message', hostile],
            ['stale-issue-label', hostile],
            ['exempt-issue-labels', hostile],
          ],
          'schedule: [{ cron: "1 2 * * *" }]',
        ),
    ],
    [
      'semantic-title',
      (hostile) =>
        workflow('amannn/action-semantic-pull-request@v6', [
          ['types', hostile],
          ['scopes', hostile],
          ['ignoreLabels', hostile],
        ]),
    ],
    [
      'backport-action',
      (hostile) =>
        workflow('korthout/backport-action@v4', [
          ['add_labels', hostile],
          ['pull_title', hostile],
        ]),
    ],
  ];
  test.each(sources)('%s', async (name, write) => {
    await fc.assert(
      fc.asyncProperty(text, async (hostile) => {
        const found = await imported(name, write(hostile));
        for (const file of found.text.split(/(?<=\n)(?=# Imported)/)) {
          if (file.trim() === '') continue;
          const { rules, ...others } = parse(file) as { readonly rules: object };
          expect(others).toEqual({ version: 1, mode: 'observe' });
          for (const rule of Object.values(rules))
            expect(['on', 'each', 'if', 'steps', 'limits']).toEqual(
              expect.arrayContaining(Object.keys(rule as object)),
            );
        }
        for (const { steps } of found.rules)
          for (const { action } of steps)
            expect([
              'set-labels',
              'comment',
              'set-issue',
              'set-status',
              'request-reviewers',
              'backport',
            ]).toContain(action.name);
        // Expressions in texts are those of the importer.
        const inserted = [...found.text.matchAll(/(?<!\$)\$\{\{\s*([^}]*?)\s*\}\}/g)].map(
          ([, inner]) => inner,
        );
        for (const inner of inserted)
          expect([
            'now.getFullYear()',
            'now.getDayOfYear()',
            'pull_request.title',
            'pull_request.number',
            'pull_request.user.login',
          ]).toContain(inner);
        expect(found.text).not.toMatch(/^#\s*yaml-language-server/m);
      }),
      { numRuns: 25 },
    );
  });
});
