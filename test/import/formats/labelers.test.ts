import { describe, expect, test } from 'vitest';
import { imported, pullCase } from '../support/imported.ts';

const workflow = (with_: string, on = 'pull_request_target:') => ({
  path: '.github/workflows/labeler.yml',
  text: `on:\n  ${on}\njobs:\n  triage:\n    steps:\n      - uses: actions/labeler@v5\n${with_}`,
});

/** Whether the rules add the label `x` for these files and members of the pull request. */
async function adds(
  source: string,
  files: readonly (string | object)[],
  pull: Readonly<Record<string, unknown>> = {},
  name = 'labeler',
): Promise<boolean> {
  const { changes } = await imported(name, source, { path: '.github/labeler.yml' });
  const found = await changes(pullCase('opened', pull, { files, label_definitions: ['x', 'y'] }));
  return found.includes('label:x=true');
}

describe('actions/labeler from version 5 on (changedFiles.ts, get-label-configs.ts, labeler.ts)', () => {
  const rows: readonly (readonly [string, string, readonly (readonly [readonly string[], boolean])[]])[] = [
    [
      'any-glob-to-any-file',
      'x: [{ changed-files: [{ any-glob-to-any-file: [docs/**, "*.md"] }] }]',
      [
        [['docs/.a/b'], true],
        [['src/a.md'], false],
        [['src/a', 'a.md'], true],
        [[], false],
      ],
    ],
    [
      'a negated glob in any-glob matches every other file',
      'x: [{ changed-files: [{ any-glob-to-any-file: ["docs/*", "!src/*"] }] }]',
      [
        [['src/a'], false],
        [['lib/a'], true],
      ],
    ],
    [
      'any-glob-to-all-files: one glob for all files',
      'x: [{ changed-files: [{ any-glob-to-all-files: [docs/**, src/**] }] }]',
      [
        [['docs/a', 'src/a'], false],
        [['docs/a', 'docs/b'], true],
        [[], true],
      ],
    ],
    [
      'all-globs-to-any-file',
      'x: [{ changed-files: [{ all-globs-to-any-file: ["src/**", "!src/gen/**"] }] }]',
      [
        [['src/gen/a'], false],
        [['src/gen/a', 'src/a'], true],
      ],
    ],
    [
      'all-globs-to-all-files',
      'x: [{ changed-files: [{ all-globs-to-all-files: ["!docs/**"] }] }]',
      [
        [['src/a', 'docs/a'], false],
        [['src/a'], true],
      ],
    ],
    [
      'several keys of changed-files below a label: one is enough',
      'x: [{ changed-files: [{ any-glob-to-any-file: a, any-glob-to-all-files: b }] }]',
      [
        [['a', 'c'], true],
        [['b'], true],
        [['b', 'c'], false],
      ],
    ],
    [
      'all: every part has to match, and there is a file',
      'x: [{ all: [{ changed-files: [{ any-glob-to-all-files: "**", all-globs-to-all-files: "!b" }] }] }]',
      [
        [['a'], true],
        [['a', 'b'], false],
        [[], false],
      ],
    ],
    [
      'several any blocks count together',
      'x: [{ any: [{ changed-files: [{ any-glob-to-any-file: a }] }] }, { any: [{ changed-files: [{ any-glob-to-any-file: b }] }] }]',
      [
        [['a'], false],
        [['a', 'b'], true],
      ],
    ],
    [
      'an entry below the label belongs to its first any block',
      'x: [{ any: [{ changed-files: [{ any-glob-to-any-file: a }] }] }, { changed-files: [{ any-glob-to-any-file: b }] }]',
      [
        [['a'], true],
        [['b'], true],
      ],
    ],
    [
      'a map instead of a list below changed-files never matches',
      'x: [{ changed-files: { any-glob-to-any-file: a } }]\ny: [{ changed-files: [{ any-glob-to-any-file: a }] }]',
      [[['a'], false]],
    ],
  ];
  test.each(rows)('%s', async (_, source, situations) => {
    for (const [files, expected] of situations)
      expect([files, await adds(source, files)]).toEqual([files, expected]);
  });

  test('a renamed file counts with its new name alone', async () => {
    const source = 'x: [{ changed-files: [{ any-glob-to-any-file: docs/** }] }]';
    const renamed = { filename: 'src/a', previous_filename: 'docs/a', status: 'renamed' };
    expect(await adds(source, [renamed])).toBe(false);
    expect(await adds(source, [{ ...renamed, filename: 'docs/b', previous_filename: 'src/a' }])).toBe(true);
  });

  test('branches are regular expressions: in any, one of them, in all, each', async () => {
    const heads = (ref: string) => ({ head: { ref, sha: 'a'.repeat(40) } });
    expect(await adds('x: [{ head-branch: ["^feat", "fix"] }]', [], heads('a-fix'))).toBe(true);
    expect(await adds('x: [{ all: [{ head-branch: ["^feat", "fix"] }] }]', [], heads('a-fix'))).toBe(false);
    expect(await adds('x: [{ base-branch: main }]', [], { base: { ref: 'dev' } })).toBe(false);
    expect(await adds('x: [{ base-branch: main }]', [], { base: { ref: 'not-main-2' } })).toBe(true);
  });

  test('what is not understood is left out, with its reason', async () => {
    const { entries } = await imported(
      'labeler',
      'look: [{ head-branch: "a(?=b)" }]\nkey: [{ files: a }]\ngroup: [{ changed-files: [{ any-glob-to-any-file: "!(a|b)/c" }] }]\nunknown: [{ changed-files: [{ any-globs: a }] }]\nempty: [{ changed-files: [{ any-glob-to-any-file: docs/ }] }]',
    );
    expect(entries.get('label look')).toMatchObject({ outcome: 'left-out', line: 1 });
    expect(entries.get('label key')?.note).toContain('`files` is not known');
    expect(entries.get('label group')?.outcome).toBe('left-out');
    expect(entries.get('label unknown')?.note).toContain('refuses the file');
    expect(entries.get('label empty')?.outcome).toBe('without-meaning');
  });

  test('sync-labels of the workflow removes, and its triggers and conditions are used', async () => {
    const source = 'x: [{ changed-files: [{ any-glob-to-any-file: docs/** }] }]';
    const synced = await imported('labeler', source, {
      path: '.github/labeler.yml',
      workflows: [
        workflow(
          "        with: { sync-labels: true }\n        if: github.actor != 'bot'\n",
          'pull_request: { types: [synchronize] }',
        ),
      ],
    });
    const facts = { files: ['a'], labels: ['x'], label_definitions: ['x'] };
    expect(await synced.changes(pullCase('synchronized', {}, facts))).toEqual(['label:x=false']);
    expect(await synced.changes(pullCase('opened', {}, facts))).toEqual([]);
    expect(synced.text).toContain('sender.login != "bot"');
    const unclear = await imported('labeler', source, {
      workflows: [workflow("        if: hashFiles('x') != ''\n")],
      path: '.github/labeler.yml',
    });
    expect(unclear.entries.get('label x')?.outcome).toBe('left-out');
  });

  test('max-files-changed keeps labels as they are; the limit of labels is left out', async () => {
    const source =
      'max-files-changed: 1\nchanged-files-labels-limit: 2\nx: [{ changed-files: [{ any-glob-to-any-file: "**" }] }]';
    expect(await adds(source, ['a'])).toBe(true);
    expect(await adds(source, ['a', 'b'])).toBe(false);
    const { entries } = await imported('labeler', source);
    expect(entries.get('changed-files-labels-limit: 2')?.outcome).toBe('left-out');
  });
});

describe('actions/labeler of version 4 (src/labeler.ts of v4.3.0)', () => {
  test('globs, any and all; wildcards do not match a leading dot', async () => {
    expect(await adds('x: docs/**', ['docs/a/b'])).toBe(true);
    expect(await adds('x: docs/**', ['docs/.a/b'])).toBe(false);
    expect(await adds('x: [a, b]', ['b'])).toBe(true);
    const both = 'x: [{ any: ["src/**", "!src/gen/**"], all: ["!docs/**"] }]';
    expect(await adds(both, ['src/a'])).toBe(true);
    expect(await adds(both, ['src/gen/a', 'lib/a'])).toBe(false);
    expect(await adds(both, ['src/a', 'docs/a'])).toBe(false);
  });

  test('objects of later versions between globs are named', async () => {
    const { entries } = await imported(
      'labeler',
      'x: docs/*\ny: [{ changed-files: [{ any-glob-to-any-file: a }] }]',
    );
    expect(entries.get('label y')?.note).toContain('later versions refuse the file');
  });
});

describe('boring-cyborg (lib/labeler.js, reviewer.js, greetings.js, title_validator.js of 2026.04.22)', () => {
  const source = `
targetBranchFilter: ^main$
labelerFlags: { labelOnPRUpdates: false }
labelPRBasedOnFilePath:
  x: [docs, "*.MD", /src/**]
  y: { paths: [b], targetBranchFilter: ^release }
  z: ["*", "!docs"]
firstPRWelcomeComment: Welcome!
firstIssueWelcomeComment: Hello.
firstPRMergeComment: Congratulations!
verifyTitles: { titleRegexp: "^fix: .*$", alwaysUsePrTitle: true }
checkUpToDate: { targetBranch: main, files: [lock] }
addReviewerBasedOnLabel: { defaultReviewers: [ada], labels: { bug: [bob] } }
insertIssueLinkInPrDescription: {}
`;
  test('labels by patterns of gitignore, whatever the case of letters', async () => {
    const only = (patterns: string) => `labelPRBasedOnFilePath: { x: ${patterns} }`;
    const label = (patterns: string, file: string) => adds(only(patterns), [file], {}, 'boring-cyborg');
    expect(await label('[docs]', 'a/docs/b')).toBe(true);
    expect(await label('["*.MD"]', 'a/b.md')).toBe(true);
    expect(await label('[/src]', 'a/src/b')).toBe(false);
    expect(await label('[docs/]', 'docs')).toBe(false);
  });

  test('each section is an entry', async () => {
    const { entries, changes } = await imported('boring-cyborg', source);
    const outcomes = Object.fromEntries([...entries].map(([part, { outcome }]) => [part, outcome]));
    expect(outcomes).toEqual({
      targetBranchFilter: 'exact',
      'labelerFlags.labelOnPRUpdates: false': 'exact',
      'label x': 'exact',
      'label y': 'exact',
      'label z': 'left-out',
      firstPRWelcomeComment: 'differs',
      firstIssueWelcomeComment: 'differs',
      firstPRMergeComment: 'differs',
      verifyTitles: 'exact',
      checkUpToDate: 'differs',
      'default reviewers': 'differs',
      'reviewers of bug': 'differs',
      insertIssueLinkInPrDescription: 'left-out',
    });
    const pull = { title: 'feat: a', head: { ref: 'a', sha: 'b'.repeat(40) } };
    const facts = {
      files: ['docs/a'],
      label_definitions: ['x', 'y'],
      statuses: [],
      pull_request: { behind: 0 },
    };
    const found = await changes(pullCase('edited', pull, { ...facts, first_pull_request: true }));
    expect(found).toContain('status:Title Validator=failure');
    expect(found).not.toContain('label:x=true');
  });
});

describe('release-drafter (src/actions/autolabeler/main.ts and string-to-regex.ts of v7.7.0)', () => {
  test('matchers count independently; text between slashes is a regular expression', async () => {
    const label = (entry: string, pull: object, files: readonly string[] = []) =>
      adds(`autolabeler: [{ label: x, ${entry} }]`, files, { ...pull }, 'release-drafter');
    expect(await label('title: ["/^fix/i"]', { title: 'FIX a' })).toBe(true);
    expect(await label('title: ["fix.a"]', { title: 'fixxa' })).toBe(false);
    expect(await label('title: ["/a/"], files: ["*.md"]', { title: 'b' }, ['docs/a.md'])).toBe(true);
    expect(await label('title: ["📚"]', { title: 'a 📚' })).toBe(true);
    expect(await label('body: ["/^b$/m"]', { body: 'a\nb\nc' })).toBe(true);
    expect(await label('branch: ["/x(?!y)/"]', {})).toBe(false);
    const { entries } = await imported(
      'release-drafter',
      'template: a\nautolabeler: [{ label: x, branch: ["/x(?!y)/"] }]',
    );
    expect(entries.get('label x')?.outcome).toBe('left-out');
  });
});

describe('the form of a file and the version of actions/labeler (getLabelConfigMapFromObject, checkMatch)', () => {
  test.each([
    ['v6', '[docs/**]', 'cannot read the form of version 4'],
    ['main', '[{ any: [docs/**] }]', 'cannot read the form of version 4'],
    ['v4.3.0', '[{ changed-files: [{ any-glob-to-any-file: docs/** }] }]', 'gives every pull request'],
    ['v4', '[docs/**]', undefined],
    ['v5', '[{ changed-files: [{ any-glob-to-any-file: docs/** }] }]', undefined],
    // A commit does not tell its version.
    ['bf12e9b00b37c5c0ca2b87b79b2daf7891dbda13', '[docs/**]', undefined],
  ])('%s reads x: %s', async (version, written, note) => {
    const { text, path } = workflow('');
    const { entries } = await imported('labeler', `x: ${written}\n`, {
      path: '.github/labeler.yml',
      workflows: [{ path, text: text.replace('@v5', `@${version}`) }],
    });
    expect(entries.get('label x')).toMatchObject(
      note === undefined ? { outcome: 'exact' } : { outcome: 'differs', note: expect.stringContaining(note) },
    );
  });
});

describe('srvaroa/labeler (pkg/labeler.go and pkg/condition_*.go of v1.9.0)', () => {
  const head = 'version: 1\nlabels:\n';
  const label = (matcher: string, pull: object, files: readonly (string | object)[] = []) =>
    adds(`${head}  - { label: x, ${matcher} }`, files, { ...pull }, 'srvaroa-labeler');
  test('each condition', async () => {
    expect(await label('title: "^fix"', { title: 'fix' })).toBe(true);
    expect(await label('body: a', { body: 'bab' })).toBe(true);
    expect(await label('branch: ^f', { head: { ref: 'g', sha: 'a'.repeat(40) } })).toBe(false);
    expect(await label('base-branch: main', { base: { ref: 'main' } })).toBe(true);
    expect(await label('authors: [ADA]', {})).toBe(true);
    expect(await label('draft: "true"', { draft: true })).toBe(true);
    expect(
      await label('files: ["^docs/"]', {}, [
        { filename: 'a', previous_filename: 'docs/a', status: 'renamed' },
      ]),
    ).toBe(true);
    expect(await label('size: { above: 9, below: 20 }', { additions: 5, deletions: 5 })).toBe(true);
    expect(await label('size: { above: 10 }', { additions: 5, deletions: 5 })).toBe(false);
    expect(await label('title: a, negate: true', { title: 'b' })).toBe(true);
    expect(await label('type: issue', {})).toBe(false);
  });

  test('conditions of one matcher count together, matchers of one label independently; labels are removed', async () => {
    const source = `${head}  - { label: x, title: a, body: b }\n  - { label: x, title: c }\n`;
    expect(await adds(source, [], { title: 'a' }, 'srvaroa-labeler')).toBe(false);
    expect(await adds(source, [], { title: 'c' }, 'srvaroa-labeler')).toBe(true);
    const { changes } = await imported('srvaroa-labeler', source);
    const facts = { labels: ['x'], label_definitions: ['x'] };
    expect(await changes(pullCase('edited', { title: 'z' }, facts))).toEqual(['label:x=false']);
    const appending = await imported(
      'srvaroa-labeler',
      source.replace('labels:', 'appendOnly: true\nlabels:'),
    );
    expect(await appending.changes(pullCase('edited', { title: 'z' }, facts))).toEqual([]);
  });

  test('a pattern that Go cannot read matches no file', async () => {
    expect(await label('files: ["**/*.md", "^docs/"]', {}, ['docs/a'])).toBe(true);
    expect(await label('files: ["**/*.md", "^docs/"]', {}, ['a.md'])).toBe(false);
    for (const matcher of ['files: ["**/*.md"]', 'title: "*"']) {
      const { entries } = await imported('srvaroa-labeler', `${head}  - { label: x, ${matcher} }`);
      expect(entries.get('label x')).toMatchObject({
        outcome: 'left-out',
        note: expect.stringContaining('the action never sets the label'),
      });
    }
  });

  test('teams, permissions and excluded files are left out', async () => {
    for (const matcher of [
      'author-in-team: t',
      'author-can-merge: "true"',
      'size: { exclude-files: [a], above: 1 }',
    ]) {
      const { entries } = await imported('srvaroa-labeler', `${head}  - { label: x, ${matcher} }`);
      expect([matcher, entries.get('label x')?.outcome]).toEqual([matcher, 'left-out']);
    }
  });
});
