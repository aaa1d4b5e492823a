import { describe, expect, it } from 'vitest';
import { decide } from './labeler.ts';
import { changed, plainPull, type Subject } from './subject.ts';

const pull = (paths: readonly string[], more: Partial<Subject> = {}): Subject =>
  plainPull({ files: paths.map((path) => changed(path)), ...more });
const labels = (configuration: string, subject: Subject, options = {}): readonly string[] =>
  decide(configuration, subject, 0, options).effects;

describe('labeler v5', () => {
  it.each([
    [
      'any glob to any file',
      "a:\n- changed-files:\n  - any-glob-to-any-file: ['docs/*', '*.md']",
      ['x.ts', 'docs/a'],
      true,
    ],
    [
      'a star does not cross folders',
      "a:\n- changed-files:\n  - any-glob-to-any-file: 'docs/*'",
      ['docs/b/a'],
      false,
    ],
    [
      'two stars cross folders',
      "a:\n- changed-files:\n  - any-glob-to-any-file: 'docs/**'",
      ['docs/b/a'],
      true,
    ],
    [
      'an exclamation mark matches all other files',
      "a:\n- changed-files:\n  - any-glob-to-any-file: ['!docs/**']",
      ['docs/a', 'x'],
      true,
    ],
    [
      'one glob to all files',
      "a:\n- changed-files:\n  - any-glob-to-all-files: ['*.md', 'docs/**']",
      ['docs/a', 'docs/b'],
      true,
    ],
    [
      'no single glob to all files',
      "a:\n- changed-files:\n  - any-glob-to-all-files: ['*.md', 'docs/**']",
      ['docs/a', 'b.md'],
      false,
    ],
    [
      'all globs to any file',
      "a:\n- changed-files:\n  - all-globs-to-any-file: ['src/**', '!**/*.test.ts']",
      ['src/a.test.ts', 'src/a.ts'],
      true,
    ],
    [
      'all globs to no file',
      "a:\n- changed-files:\n  - all-globs-to-any-file: ['src/**', '!**/*.test.ts']",
      ['src/a.test.ts', 'b.ts'],
      false,
    ],
    [
      'all globs to all files',
      "a:\n- changed-files:\n  - all-globs-to-all-files: ['!docs/**']",
      ['src/a', 'b'],
      true,
    ],
    [
      'all globs not to all files',
      "a:\n- changed-files:\n  - all-globs-to-all-files: ['!docs/**']",
      ['src/a', 'docs/b'],
      false,
    ],
    [
      'a leading dot by default',
      "a:\n- changed-files:\n  - any-glob-to-any-file: '**/*.yml'",
      ['.github/x.yml'],
      true,
    ],
    ['no trailing slash', "a:\n- changed-files:\n  - any-glob-to-any-file: 'docs/'", ['docs/a'], false],
    [
      'no leading slash',
      "a:\n- changed-files:\n  - any-glob-to-any-file: '/README.md'",
      ['README.md'],
      false,
    ],
    ['braces', "a:\n- changed-files:\n  - any-glob-to-any-file: 'src/{api,web}/**'", ['src/web/a'], true],
    [
      'no files, one glob to all of them',
      "a:\n- changed-files:\n  - any-glob-to-all-files: 'docs/**'",
      [],
      true,
    ],
    ['no files, any of them', "a:\n- changed-files:\n  - any-glob-to-any-file: '**'", [], false],
    [
      'no files below all',
      "a:\n- all:\n  - changed-files:\n    - any-glob-to-all-files: 'docs/**'",
      [],
      false,
    ],
    ['changed-files that is a mapping', "a:\n- changed-files:\n    any-glob-to-any-file: '**'", ['x'], false],
  ])('%s', (_what, configuration, paths, expected) => {
    expect(labels(configuration, pull(paths))).toEqual(expected ? ['add-label a'] : []);
  });

  it.each([
    ['a head branch', "a:\n- head-branch: ['^feature', 'feature$']", { head: 'feature/x' }, true],
    ['a base branch contains the text', 'a:\n- base-branch: main', { base: 'domain' }, true],
    ['another base branch', "a:\n- base-branch: '^main$'", { base: 'domain' }, false],
    [
      'all branches below all',
      "a:\n- all:\n  - head-branch: ['^feature', 'x$']",
      { head: 'feature/y' },
      false,
    ],
    ['bare keys are alternatives', "a:\n- head-branch: '^no'\n- base-branch: '^main$'", {}, true],
    ['keys of one entry are alternatives', "a:\n- head-branch: '^no'\n  base-branch: '^main$'", {}, true],
    [
      'keys of one condition below all add up',
      "a:\n- all:\n  - head-branch: '^no'\n    base-branch: '^main$'",
      {},
      false,
    ],
    ['blocks add up', "a:\n- any:\n  - base-branch: '^main$'\n- any:\n  - head-branch: '^no'", {}, false],
    [
      'a bare key joins the first any block',
      "a:\n- any:\n  - head-branch: '^no'\n- base-branch: '^main$'",
      {},
      true,
    ],
    [
      'a bare key does not join an all block',
      "a:\n- all:\n  - head-branch: '^no'\n- base-branch: '^main$'",
      {},
      false,
    ],
    ['an empty block', 'a:\n- any: []', {}, false],
    ['a block of nothing known', 'a:\n- all:\n  - foo: 1', {}, false],
  ] as const)('%s', (_what, configuration, more, expected) => {
    expect(labels(configuration, pull(['x'], more))).toEqual(expected ? ['add-label a'] : []);
  });

  const docs = "a:\n- changed-files:\n  - any-glob-to-any-file: 'docs/**'\nb:\n- base-branch: main";

  it('keeps a label that does not match, unless labels are in sync', () => {
    const subject = pull(['x'], { labels: ['a', 'other'] });

    expect(labels(docs, subject)).toEqual(['add-label b']);
    expect(labels(docs, subject, { syncLabels: true })).toEqual(['add-label b', 'remove-label a']);
  });

  it('adds nothing that is set', () => {
    expect(labels(docs, pull(['docs/a'], { labels: ['a', 'b'] }))).toEqual([]);
  });

  it('counts new labels by files for the limit, and skips labels by files above the limit of files', () => {
    const subject = pull(['docs/a', 'docs/b']);

    expect(labels(`changed-files-labels-limit: 0\n${docs}`, subject)).toEqual(['add-label b']);
    expect(labels(`max-files-changed: 1\n${docs}`, subject)).toEqual(['add-label b']);
    expect(labels(`max-files-changed: 2\n${docs}`, subject)).toEqual(['add-label a', 'add-label b']);
  });

  it.each([
    ['an option below changed-files', "a:\n- changed-files:\n  - any-glob: '*'"],
    ['a label of a mapping', 'a:\n  base-branch: main'],
    ['a limit that is a label', 'max-files-changed:\n- base-branch: main'],
  ])('refuses %s', (_what, configuration) => {
    expect(() => labels(configuration, pull(['x']), { version: 5 })).toThrow();
  });
});

describe('labeler v4', () => {
  it.each([
    ['a text', "a: 'docs/*'", ['docs/a'], true],
    ['a list of alternatives', "a: ['docs/*', '*.md']", ['a.md'], true],
    ['any: one file matches all patterns', "a:\n- any: ['src/**', '!src/x/**']", ['src/x/a', 'src/b'], true],
    ['any: no file matches all patterns', "a:\n- any: ['src/**', '!src/x/**']", ['src/x/a', 'b'], false],
    ['all: every file matches all patterns', "a:\n- all: ['!docs/**']", ['src/a', 'b'], true],
    ['all: one file does not', "a:\n- all: ['!docs/**']", ['src/a', 'docs/b'], false],
    [
      'any and all of one entry add up',
      "a:\n- any: ['src/**']\n  all: ['!docs/**']",
      ['src/a', 'docs/b'],
      false,
    ],
    ['entries are alternatives', "a:\n- any: ['src/**']\n- all: ['docs/**']", ['docs/b'], true],
    ['no leading dot', "a: '**/*.yml'", ['.github/x.yml'], false],
    ['no files at all', "a:\n- all: ['**']", [], false],
    ['an entry without patterns', 'a:\n- {}\n- x', ['y'], true],
  ])('%s', (_what, configuration, paths, expected) => {
    expect(labels(configuration, pull(paths))).toEqual(expected ? ['add-label a'] : []);
  });

  it('refuses a number', () => {
    expect(() => labels('a: x\nb: 1', pull(['x']))).toThrow('b');
  });
});
