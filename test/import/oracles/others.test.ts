import { describe, expect, it } from 'vitest';
import {
  decideAutoAssignAction,
  decideAutoAssignApp,
  decideAutolabeler,
  decideAutoRequestReview,
  decideBackportAction,
  decideBackportrc,
  decideBoringCyborg,
  decideFirstInteraction,
  decideSemanticPulls,
  decideSemanticTitle,
} from './others.ts';
import { type Commit, type Oracle, plainIssue, plainPull, type Subject } from './subject.ts';

const step = (action: string, inputs: object = {}): string =>
  JSON.stringify({ jobs: { a: { steps: [{ uses: `${action}@v1`, with: inputs }] } } });
const commit = (message: string, parents = ['p']): Commit => ({
  sha: message,
  parents,
  message,
  author: 'ada',
  committer: 'ada',
  viaWeb: false,
  verified: true,
  pushed: 0,
});
const run = (oracle: Oracle, configuration: string, more: Partial<Subject> = {}): readonly string[] =>
  oracle(configuration, plainPull(more), 0).effects;

describe('action-semantic-pull-request', () => {
  const passes = (title: string, inputs: object = {}, more: Partial<Subject> = {}): boolean =>
    run(decideSemanticTitle, step('amannn/action-semantic-pull-request', inputs), {
      title,
      ...more,
    }).includes('status semantic-title success');

  it.each([
    ['feat: add', {}, true],
    ['feat(core): add', {}, true],
    ['feat!: add', {}, true],
    ['feat(core)!: add', {}, true],
    ['Feat: add', {}, false],
    ['add', {}, false],
    ['feat:add', {}, false],
    ['feat: ', {}, false],
    [': add', {}, false],
    ['story: add', {}, false],
    ['feat : add', {}, false],
    ['feat(): add', { requireScope: true }, false],
    ['feat: add', { types: 'fix' }, false],
    ['fix: add', { types: 'fix\nfeat\n' }, true],
    ['JIRA-1: add', { types: 'JIRA-\\d+' }, false],
    ['abc: add', { types: 'a..' }, true],
    ['feat: add', { requireScope: true }, false],
    ['feat(x): add', { scopes: 'core\nui' }, false],
    ['feat(core,ui): add', { scopes: 'core\nui' }, true],
    ['feat(core, x): add', { scopes: 'core\nui' }, false],
    ['feat: add', { scopes: 'core' }, true],
    ['feat(release): add', { disallowScopes: 'release' }, false],
    ['feat(RELEASE): add', { disallowScopes: '[A-Z]+' }, false],
    ['feat: add', { subjectPattern: '^(?![A-Z]).+$' }, true],
    ['feat: Add', { subjectPattern: '^(?![A-Z]).+$' }, false],
    ['feat: add more', { subjectPattern: 'add' }, false],
    ['[WIP] no', { wip: true }, true],
    ['[WIP] no', {}, false],
  ])('%s with %j is %s', (title, inputs, expected) => {
    expect(passes(title, inputs)).toBe(expected);
  });

  it('ignores a label, and reads the only commit', () => {
    expect(passes('no', { ignoreLabels: 'bot\nskip' }, { labels: ['bot'] })).toBe(true);
    expect(passes('no', { ignoreLabels: 'bot' }, { labels: ['Bot'] })).toBe(false);
    const inputs = { validateSingleCommit: true };
    expect(passes('feat: add', inputs, { commits: [commit('no')] })).toBe(false);
    expect(passes('feat: add', inputs, { commits: [commit('no'), commit('neither')] })).toBe(true);
    expect(
      passes('feat: add', inputs, { commits: [commit('fix: it\n\nbody'), commit('Merge', ['a', 'b'])] }),
    ).toBe(true);
    expect(
      passes(
        'feat: add',
        { ...inputs, validateSingleCommitMatchesPrTitle: true },
        { commits: [commit('fix: it')] },
      ),
    ).toBe(false);
  });

  it('sets a status of its own with wip', () => {
    const effects = (title: string) =>
      run(decideSemanticTitle, step('amannn/action-semantic-pull-request', { wip: true }), { title });
    expect(effects('[WIP] x')).toEqual([
      'status action-semantic-pull-request pending',
      'status semantic-title success',
    ]);
    expect(effects('x')).toEqual([
      'status action-semantic-pull-request pending',
      'status semantic-title failure',
    ]);
    expect(effects('fix: x')).toEqual([
      'status action-semantic-pull-request success',
      'status semantic-title success',
    ]);
  });
});

describe('semantic-pull-requests', () => {
  const [good, bad] = ['feat: add', 'add'];
  it.each([
    ['{}', bad, [good, bad], true],
    ['{}', good, [bad, bad], true],
    ['{}', good, [bad], false],
    ['{}', bad, [good], true],
    ['anyCommit: true', good, [bad], true],
    ['titleOnly: true', bad, [good], false],
    ['titleOnly: true', good, [bad], true],
    ['commitsOnly: true', bad, [good, good], true],
    ['commitsOnly: true', good, [good, bad], false],
    ['{commitsOnly: true, anyCommit: true}', good, [good, bad], true],
    ['titleAndCommits: true', good, [good, bad], false],
    ['{commitsOnly: true, allowMergeCommits: true}', bad, [good, 'Merge branch x'], true],
    ['{commitsOnly: true, allowRevertCommits: true}', bad, ['Revert "x"'], true],
    ['{titleOnly: true, types: [story]}', 'story: x', [bad], true],
    ['{titleOnly: true, types: [story]}', good, [bad], false],
    ['{titleOnly: true, scopes: [core]}', 'feat(ui): x', [bad], false],
    ['{titleOnly: true, scopes: [core, ui]}', 'feat(core, ui): x', [bad], true],
    ['enabled: false', bad, [bad], true],
  ])('%s: "%s" with %j is %s', (configuration, title, messages, expected) => {
    const effects = run(decideSemanticPulls, configuration, {
      title,
      commits: messages.map((message) => commit(message)),
    });
    expect(effects).toEqual([`status Semantic Pull Request ${expected ? 'success' : 'failure'}`]);
  });
});

describe('auto-assign', () => {
  const base = { addReviewers: true, reviewers: ['ada', 'Bob', 'cleo'], numberOfReviewers: 0 };
  it.each([
    ['takes all but the author', base, {}, ['request-review Bob', 'request-review cleo'], undefined],
    [
      'leaves out who is asked already',
      base,
      { requestedUsers: ['Bob'] },
      ['request-review cleo'],
      undefined,
    ],
    ['takes some', { ...base, numberOfReviewers: 1 }, {}, ['request-some 1 Bob,cleo'], undefined],
    [
      'takes one without a number, where the app takes all',
      { ...base, numberOfReviewers: undefined },
      {},
      ['request-some 1 Bob,cleo'],
      ['request-review Bob', 'request-review cleo'],
    ],
    [
      'compares the author without case, where the app does not',
      { ...base, reviewers: ['ADA'] },
      {},
      [],
      ['request-review ADA'],
    ],
    ['skips a keyword', { ...base, skipKeywords: ['ADD'] }, {}, [], undefined],
    ['skips a draft', base, { draft: true }, [], undefined],
    [
      'runs on a draft if told, which the app does not',
      { ...base, runOnDraft: true },
      { draft: true },
      ['request-review Bob', 'request-review cleo'],
      [],
    ],
    ['assigns the author', { addAssignees: 'author' }, {}, ['assign ada'], undefined],
    [
      'assigns reviewers',
      { ...base, addReviewers: false, addAssignees: true },
      {},
      ['assign Bob', 'assign cleo'],
      undefined,
    ],
    [
      'assigns assignees',
      { addAssignees: true, assignees: ['dan'], numberOfAssignees: 1 },
      {},
      ['assign dan'],
      undefined,
    ],
    [
      'takes the other number for none, where the app takes none for all',
      { addAssignees: true, assignees: ['dan', 'eve'], numberOfAssignees: 0, numberOfReviewers: 1 },
      {},
      ['assign-some 1 dan,eve'],
      ['assign dan', 'assign eve'],
    ],
    [
      'takes each group',
      {
        addReviewers: true,
        useReviewGroups: true,
        reviewGroups: { a: ['bob', 'ada'], b: ['cleo', 'dan'] },
        numberOfReviewers: 1,
      },
      {},
      ['request-review bob', 'request-some 1 cleo,dan'],
      undefined,
    ],
    [
      'needs a label, which the app does not know',
      { ...base, filterLabels: { include: ['go'] } },
      {},
      [],
      ['request-review Bob', 'request-review cleo'],
    ],
    [
      'stops at a label, which the app does not know',
      { ...base, filterLabels: { exclude: ['no'] } },
      { labels: ['no'] },
      [],
      ['request-review Bob', 'request-review cleo'],
    ],
  ] as const)('%s', (_what, file, more, byAction, byApp) => {
    const configuration = JSON.stringify(file);
    expect(run(decideAutoAssignAction, configuration, more as unknown as Partial<Subject>)).toEqual(byAction);
    expect(run(decideAutoAssignApp, configuration, more as unknown as Partial<Subject>)).toEqual(
      byApp ?? byAction,
    );
  });

  it('knows teams and users to skip as the app', () => {
    expect(run(decideAutoAssignApp, JSON.stringify({ ...base, reviewers: ['acme/core'] }))).toEqual([
      'request-review @core',
    ]);
    expect(run(decideAutoAssignApp, JSON.stringify({ ...base, skipUsers: ['ada'] }))).toEqual([]);
    expect(
      run(decideAutoAssignApp, JSON.stringify(base), { event: { action: 'edited', sender: 'ada' } }),
    ).toEqual([]);
  });

  it('refuses groups that are missing', () => {
    expect(() => run(decideAutoAssignAction, JSON.stringify({ ...base, useReviewGroups: true }))).toThrow();
  });
});

describe('auto-request-review', () => {
  const file = {
    reviewers: {
      defaults: ['dan'],
      groups: { web: ['ada', 'bob'] },
      per_author: { web: ['eve'], cleo: ['bob'] },
    },
    files: { '**/*.ts': ['web', 'team:core'], 'src/**': ['cleo'] },
  };
  it.each([
    [
      'by files and author',
      file,
      {},
      ['request-review bob', 'request-review @core', 'request-review cleo', 'request-review eve'],
    ],
    [
      'by the last match',
      { ...file, options: { last_files_match_only: true } },
      {},
      ['request-review cleo', 'request-review eve'],
    ],
    [
      'by default',
      { reviewers: { defaults: ['web', 'dan'], groups: file.reviewers.groups } },
      {},
      ['request-review bob', 'request-review dan'],
    ],
    [
      'from the own group',
      { reviewers: { groups: file.reviewers.groups }, options: { enable_group_assignment: true } },
      {},
      ['request-review bob'],
    ],
    [
      'some of them',
      { ...file, options: { number_of_reviewers: 2 } },
      {},
      ['request-some 2 bob,cleo,eve,@core'],
    ],
    ['not for a draft', file, { draft: true }, []],
    [
      'for a draft if told',
      { reviewers: { defaults: ['dan'] }, options: { ignore_draft: false } },
      { draft: true },
      ['request-review dan'],
    ],
    ['not with the keyword', file, { title: 'DO NOT REVIEW yet' }, []],
    ['not with an own keyword', { ...file, options: { ignored_keywords: ['Add'] } }, {}, []],
  ] as const)('%s', (_what, configuration, more, expected) => {
    expect(run(decideAutoRequestReview, JSON.stringify(configuration), more as Partial<Subject>)).toEqual(
      expected,
    );
  });
});

describe('release-drafter', () => {
  const labels = (row: object, more: Partial<Subject> = {}) =>
    run(decideAutolabeler, JSON.stringify({ autolabeler: [{ label: 'x', ...row }] }), more);
  it.each([
    ['files of .gitignore', { files: ['*.ts'] }, {}, true],
    ['a folder', { files: ['src/'] }, {}, true],
    ['a pattern that is taken back', { files: ['src/*', '!*.ts'] }, {}, false],
    ['a branch', { branch: ['/^top/'] }, {}, true],
    ['flags', { title: ['/^add/i'] }, {}, true],
    ['case without flags', { title: ['/^add/'] }, {}, false],
    ['a text without slashes is literal', { title: ['.dd'] }, {}, false],
    ['and is searched', { title: ['dd a'] }, {}, true],
    ['a body', { body: ['/words\\./'] }, {}, true],
    ['one of them is enough', { branch: ['/no/'], title: ['/Add/'] }, {}, true],
    ['a wrong expression drops the row', { branch: ['/(/'], title: ['/Add/'] }, {}, false],
    ['an unknown flag drops the row', { title: ['/Add/A'] }, {}, false],
    ['nothing that is set', { title: ['/Add/'] }, { labels: ['x'] }, false],
  ] as const)('%s', (_what, row, more, expected) => {
    expect(labels(row, more as unknown as Partial<Subject>)).toEqual(expected ? ['add-label x'] : []);
  });
});

describe('boring-cyborg', () => {
  const event = (action: string) => ({ event: { action, sender: 'ada' } });
  const paths = (value: unknown, more: object = {}) =>
    JSON.stringify({ labelPRBasedOnFilePath: { x: value }, ...more });
  it.each([
    ['labels by files', paths(['src/**/*']), event('synchronize'), ['add-label x']],
    ['labels with the last pattern', paths(['src/*', '!*.ts']), event('opened'), []],
    ['labels on no other event', paths(['src/*']), event('labeled'), []],
    [
      'labels on opened alone if told',
      paths(['src/*'], { labelerFlags: { labelOnPRUpdates: false } }),
      event('synchronize'),
      [],
    ],
    ['labels for a base', paths({ paths: ['src/*'], targetBranchFilter: '^dev' }), event('opened'), []],
    [
      'does nothing for another base',
      paths(['src/*'], { targetBranchFilter: ['^dev'] }),
      event('opened'),
      [],
    ],
    [
      'checks commits',
      '{"verifyTitles": {"titleRegexp": "^AIP"}}',
      event('opened'),
      ['status Title Validator failure'],
    ],
    [
      'checks the title',
      '{"verifyTitles": {"titleRegexp": "^Add", "alwaysUsePrTitle": true, "statusTitle": "t"}}',
      event('opened'),
      ['status t success'],
    ],
    [
      'asks by label',
      '{"addReviewerBasedOnLabel": {"defaultReviewers": ["ada", "bob"], "labels": {"x": ["cleo"]}}}',
      { ...event('labeled'), labels: ['x'] },
      ['request-review bob', 'request-review cleo'],
    ],
    ['greets', '{"firstPRWelcomeComment": "hi"}', event('opened'), ['comment']],
    [
      'greets nobody with commits',
      '{"firstPRWelcomeComment": "hi"}',
      { ...event('opened'), earlier: { issues: 0, pulls: 0, commits: 1, anyPull: true } },
      [],
    ],
    [
      'greets the first merge',
      '{"firstPRMergeComment": "hi"}',
      { ...event('closed'), state: 'closed', merged: true },
      ['comment'],
    ],
  ] as const)('%s', (_what, configuration, more, expected) => {
    expect(run(decideBoringCyborg, configuration, more as unknown as Partial<Subject>)).toEqual(expected);
  });

  it('greets the first issue', () => {
    const greet = (more: Partial<Subject>) =>
      decideBoringCyborg('firstIssueWelcomeComment: hi', plainIssue(more), 0).effects;
    expect(greet({})).toEqual(['comment']);
    expect(greet({ members: ['ada'] })).toEqual([]);
  });
});

describe('first-interaction', () => {
  it.each([
    [{ issues: 0, pulls: 5, commits: 9, anyPull: true }, true],
    [{ issues: 1, pulls: 0, commits: 0, anyPull: true }, false],
    [{ issues: 1, pulls: 0, commits: 0, anyPull: false }, true],
  ])('%j is %s', (earlier, expected) => {
    const configuration = step('actions/first-interaction');
    expect(run(decideFirstInteraction, configuration, { earlier })).toEqual(expected ? ['comment'] : []);
    expect(
      run(decideFirstInteraction, configuration, { earlier, event: { action: 'reopened', sender: 'ada' } }),
    ).toEqual([]);
  });
});

describe('backports', () => {
  const merged = { merged: true, state: 'closed', branches: ['main', 'v1', 'release/2', 'topic'] } as const;
  const action = (inputs: object, more: Partial<Subject>) =>
    run(decideBackportAction, step('korthout/backport-action', inputs), { ...merged, ...more });
  it.each([
    [
      'by default',
      {},
      { labels: ['backport v1', 'backport-v1', 'backport release/2'] },
      ['backport v1', 'backport release/2'],
    ],
    ['by an own pattern', { label_pattern: '^to-(.+)$' }, { labels: ['to-v1'] }, ['backport v1']],
    ['with no group', { label_pattern: '^to-.+$' }, { labels: ['to-v1'] }, []],
    ['with two groups', { label_pattern: '^(to)-(.+)$' }, { labels: ['to-v1'] }, []],
    ['to given branches', { target_branches: 'v1 topic gone' }, {}, ['backport v1']],
    ['not before the merge', {}, { labels: ['backport v1'], merged: false }, []],
  ] as const)('of the action %s', (_what, inputs, more, expected) => {
    expect(action(inputs, more as unknown as Partial<Subject>)).toEqual(expected);
  });

  it.each([
    ['the first pattern decides', { '^v(\\d)$': 'v$1', '^v.*$': 'main' }, ['v1'], ['backport v1']],
    ['an empty branch stops', { '^v1$': '', '^v(\\d)$': 'v$1' }, ['v1'], []],
    ['not to its own base', { '^v1$': 'main' }, ['v1'], []],
    ['a part of the label', { v: 'x' }, ['v1'], []],
  ])('of .backportrc.json: %s', (_what, branchLabelMapping, labels, expected) => {
    expect(run(decideBackportrc, JSON.stringify({ branchLabelMapping }), { ...merged, labels })).toEqual(
      expected,
    );
  });
});
