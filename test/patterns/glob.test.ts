import fc from 'fast-check';
import picomatch from 'picomatch';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import {
  compileForgeGlob,
  createGlob,
  createRepositoryScope,
  GlobError,
  type GlobOptions,
} from '../../src/patterns/glob.ts';
import { propertyRuns } from '../support/figure.ts';
import { globToRe2 } from './support/glob-to-re2.ts';

const long = process.env.LONG !== undefined;

describe('a glob for paths', () => {
  it.each([
    ['docs/*', 'docs/a.md', true],
    ['docs/*', 'docs/a/b.md', false],
    ['docs/**', 'docs/a/b.md', true],
    ['docs/**', 'docs', false],
    ['docs/**', 'docs/', false],
    ['**/x', 'x', true],
    ['**/x', 'a/b/x', true],
    ['**/x', 'a/bx', false],
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['**', 'a/b', true],
    ['**.md', 'a/b.md', true],
    ['*.ts', '.ts', true],
    ['?.ts', 'a.ts', true],
    ['?.ts', '/.ts', false],
    ['?', '😀', true],
    ['[abc].c', 'b.c', true],
    ['[!a-c].c', 'b.c', false],
    ['[!a-c].c', 'd.c', true],
    ['[!a]', '/', false],
    ['{a,b{c,d}}.x', 'bd.x', true],
    ['{a,b{c,d}}.x', 'b.x', false],
    ['{**/,}x', 'x', true],
    ['a{,b}', 'a', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['Docs/*', 'docs/a', false],
    ['a.b', 'axb', false],
    ['a[(]b|c)+', 'a(b|c)+', true],
    ['a\\(b|c)+', 'a(b|c)+', true],
    ['app/(site)/*', 'app/(site)/page.tsx', true],
    ['a@(b', 'a@(b', true],
    ['a[ ]', 'a ', true],
    ['a\\ ', 'a ', true],
    ['v[0-9]*', 'v1\nx', true],
  ])('%s on %s says %s', (pattern, text, expected) => {
    expect(createGlob(pattern)(text)).toBe(expected);
  });

  it('lets the last matching entry of a list decide', () => {
    const matches = createGlob(['src/**', '!src/gen/**', 'src/gen/keep.ts']);

    expect(['src/a', 'src/gen/a', 'src/gen/keep.ts', 'x'].map(matches)).toEqual([true, false, true, false]);
  });
});

describe('a glob without separator', () => {
  it.each([
    ['release/*', 'release/1/2', true],
    ['{main,refs/tags/v*}', 'refs/tags/v1', true],
    ['*', 'a/b', true],
    ['a?b', 'a/b', true],
  ])('%s on %s says %s', (pattern, text, expected) => {
    expect(createGlob(pattern, { separator: '' })(text)).toBe(expected);
  });
});

describe('a glob for protected files', () => {
  it.each([
    ['*.md', 'readme.md', true],
    ['*.md', 'a.b.md', false],
    ['*.md', 'docs/x.md', false],
    ['**.md', 'docs/x.md', true],
    ['**/x.md', 'x.md', false],
  ])('%s on %s says %s', (pattern, text, expected) => {
    expect(createGlob(pattern, { separator: '/.' })(text)).toBe(expected);
  });
});

describe('a broken glob', () => {
  it.each([
    ['', 'is empty'],
    ['a[bc', 'does not close its bracket'],
    ['a{b,c', 'does not close its brace'],
    ['a}b', 'closes a brace that was never opened'],
    ['a\\', 'ends with a backslash'],
    ['[]', 'has an empty class []'],
    ['[z-a]', 'has the range z-a, which runs backwards'],
    ['{1..9}', 'has the range {1..9}, which these globs do not support: list the values'],
    ['/docs', 'cannot match: paths do not start with a slash'],
    ['docs/', 'cannot match: paths do not end with a slash; "docs/**" matches everything below'],
    ['a//b', 'cannot match: paths have no empty segments'],
    ['./a', 'cannot match: paths have no "." or ".."'],
    ['!a', 'only excludes: first list what should match'],
    ['{'.repeat(9), 'nests braces deeper than 8'],
    ['a'.repeat(501), 'is longer than 500 characters'],
  ])('%s is refused: %s', (pattern, reason) => {
    let caught: unknown;
    try {
      createGlob(pattern);
    } catch (error) {
      caught = error;
    }

    expect(caught).toBeInstanceOf(GlobError);
    expect((caught as GlobError).reason).toBe(reason);
  });
});

describe('a glob with foreign syntax or with white space that names do not have', () => {
  const foreign: readonly (readonly [string, string])[] = [
    [
      'src/@(a|b)/**',
      'has the group @(a|b), which these globs do not support: write {a,b}, or [(] for a parenthesis',
    ],
    ['?(a).md', 'has the group ?(a), which these globs do not support: write {,a}, or [(] for a parenthesis'],
    ['+(a)', 'has the group +(a), which these globs do not support: use a regular expression'],
    ['*(a|b)', 'has the group *(a|b), which these globs do not support: use a regular expression'],
    ['!(a|b)', 'has the group !(a|b), which these globs do not support: list what matches'],
    ['src/!(gen)/**', 'has the group !(gen), which these globs do not support: list what matches'],
    ['(docs|src)/**', 'has the group (docs|src), which these globs do not support: write {a,b}'],
    ['v[[:digit:]]*', 'has the class [:digit:], which these globs do not support: list the characters'],
    ['[![:alpha:]]', 'has the class [:alpha:], which these globs do not support'],
    ['[[=a=]]', 'has the class [=a=], which these globs do not support'],
    [
      'docs/** ',
      'starts or ends with white space, which names never do: remove it, or write [ ] for a space',
    ],
    [' docs/**', 'starts or ends with white space'],
    ['! docs/**', 'starts or ends with white space'],
    ['docs/**\n', 'starts or ends with white space'],
    ['docs/**\u00a0', 'starts or ends with white space'],
    [
      '{docs, src}/**',
      'has a space after a comma in braces, which is part of the name: remove it, or write [ ]',
    ],
  ];

  it.each(foreign)('%j is refused: %s', (pattern, reason) => {
    const list = pattern.startsWith('!') ? ['**', pattern] : [pattern];

    expect(() => createGlob(list)).toThrow(reason);
  });

  it.each(foreign)('%j keeps its meaning as a glob of a forge', (pattern) => {
    expect(compileForgeGlob(pattern, '/')).toBeTypeOf('function');
  });
});

describe('a scope', () => {
  it.each([
    [['*'], 'acme/site', true],
    [['*'], 'acme', true],
    [['acme/*'], 'acme/site', true],
    [['acme/*'], 'acme', true],
    [['acme/*'], 'other/site', false],
    [['acme/*', '!acme/attic'], 'acme/attic', false],
    [['acme/*', '!acme/attic'], 'ACME/Attic', false],
    [['acme/site'], 'acme', false],
    [['Acme/*'], 'acme/site', true],
  ])('%j on %s says %s', (patterns, name, expected) => {
    expect(createRepositoryScope(patterns)(name)).toBe(expected);
  });

  it.each([
    ['acme/@(site|docs)', 'has the group @(site|docs)'],
    ['acme/[[:alpha:]]*', 'has the class [:alpha:]'],
    ['acme/* ', 'names have no white space'],
    [' acme/*', 'names have no white space'],
    ['! acme/attic', 'names have no white space'],
    ['* ', 'names have no white space'],
  ])('refuses %j: %s', (pattern, reason) => {
    expect(() => createRepositoryScope(['acme/*', pattern])).toThrow(reason);
  });

  it('refuses what names no repository', () => {
    expect(() => createRepositoryScope(['acme'])).toThrow('does not name a repository');
    expect(() => createRepositoryScope([])).toThrow(GlobError);
  });
});

describe('any glob', () => {
  const segment = fc.stringMatching(/^[ab.?*[\]!c-]{1,4}$/).map((text) => text.replace(/\*+/g, '*'));
  const simple = fc
    .array(
      fc.oneof(
        fc.constant('**'),
        fc.constantFrom('a', 'b.c', '*', '*.b', '?', '[ab]', '[!a]', '{a,b}', 'a*'),
      ),
      {
        minLength: 1,
        maxLength: 4,
      },
    )
    .map((parts) => parts.join('/'));
  const path = fc
    .array(fc.stringMatching(/^[abc.]{1,3}$/), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('/'));

  it('agrees with picomatch', () => {
    fc.assert(
      fc.property(simple, path, (pattern, text) => {
        fc.pre(!text.split('/').some((part) => part === '.' || part === '..'));
        const oracle = picomatch(pattern.replaceAll('[!', '[^'), { dot: true, strictSlashes: true });

        expect(createGlob(pattern)(text), `${pattern} on ${text}`).toBe(oracle(text));
      }),
      { numRuns: propertyRuns(1_000) },
    );
  });

  it('agrees with its translation to RE2, for every separator', () => {
    const pattern = fc.oneof(
      fc.stringMatching(/^[ab./*?[\]!{},\\-]{1,12}$/),
      fc.string({ maxLength: 20, unit: 'binary' }),
    );
    const text = fc.oneof(fc.stringMatching(/^[ab./]{0,12}$/), fc.string({ maxLength: 10, unit: 'binary' }));
    const options = fc.record({ separator: fc.constantFrom('/', '', '/.'), segments: fc.boolean() });
    fc.assert(
      fc.property(pattern, fc.array(text, { maxLength: 5 }), options, (glob, texts, how) => {
        const matches = globOrProblem(glob, how);
        if (matches === undefined) return;
        const oracle = RE2JS.compile(globToRe2(glob.startsWith('!') ? `\\${glob}` : glob, how));

        for (const one of texts) expect(matches(one), `${glob} on ${one}`).toBe(oracle.test(one));
      }),
      { numRuns: long ? 100_000 : propertyRuns(1_500) },
    );
  });

  it('is compiled or refused, whatever its text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ maxLength: 40 }), segment), (pattern) => {
        globOrProblem(pattern)?.('a/b');
      }),
      { numRuns: propertyRuns(1_000) },
    );
  });
});

/** Returns the matcher of a glob, or undefined if the glob is refused. Any other error fails the test. */
function globOrProblem(pattern: string, options: GlobOptions = {}): ((text: string) => boolean) | undefined {
  try {
    const excludes = pattern.startsWith('!');
    return createGlob(excludes ? `\\${pattern}` : pattern, options);
  } catch (error) {
    expect(error).toBeInstanceOf(GlobError);
    return undefined;
  }
}
