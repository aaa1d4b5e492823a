import { expect, test } from 'vitest';
import { convertIgnores } from '../../src/import/gitignore-glob.ts';
import { convertMinimatch } from '../../src/import/minimatch-glob.ts';
import { createGlob } from '../../src/patterns/glob.ts';

// The results were compared with minimatch 3.1.2, 7.4.3 and 10.2.5, and ignore 7.0.5.

/** Whether minimatch matches, by the converted globs; undefined if it has no counterpart. */
function matches(pattern: string, path: string, dot = true): boolean | undefined {
  const found = convertMinimatch(pattern, { dot });
  if ('problem' in found) return undefined;
  return found.lists.some((list) => createGlob(list)(path)) !== found.isNegated;
}

test.each([
  ['docs/**/*', 'docs/a/.b', true],
  ['docs/**', 'docs', false],
  ['**.md', 'a/b.md', false],
  ['**.md', 'b.md', true],
  ['a/{b/**,c}', 'a/b/x/y', true],
  ['a/{b/**,c}', 'a/c/d', false],
  ['{a,b}.{md,js}', 'b.js', true],
  ['{a}', '{a}', true],
  ['{1..3}', '2', true],
  ['@(a|b)/c', 'b/c', true],
  ['a.?(c)md', 'a.md', true],
  ['/docs/*', 'docs/a', false],
  ['docs/', 'docs/a', false],
  ['#a', '#a', false],
  ['!docs/*', 'src/a', true],
  ['!/docs', 'a', true],
  ['!!docs/*', 'docs/a', true],
  ['a//b', 'a/b', true],
  ['[^a]x', 'bx', true],
  ['./a', 'a', false],
  ['', 'a', false],
  ['+(a|b)', 'a', undefined],
  ['!(a)', 'b', undefined],
  ['[[:alpha:]]', 'a', undefined],
  ['a/../b', 'b', undefined],
])('minimatch %s and %s: %s', (pattern, path, expected) => {
  expect(matches(pattern, path)).toBe(expected);
});

test.each([
  ['**', 'a/.b', false],
  ['**', 'a/b', true],
  ['*.md', '.md', false],
  ['**/*.md', '.github/a.md', false],
  ['.github/*', '.github/a', true],
  ['.github/**', '.github/a/.b', false],
  ['{a,.b}', '.b', true],
  ['?b', '.b', false],
])('minimatch without dot %s and %s: %s', (pattern, path, expected) => {
  expect(matches(pattern, path, false)).toBe(expected);
});

test.each([
  ['docs', 'a/docs/b', true],
  ['docs/', 'docs', false],
  ['/docs', 'a/docs/b', false],
  ['docs/*', 'docs/a/b', true],
  ['docs/**', 'docs', false],
  ['*.MD', 'a/b.md', true],
  ['{a,b}', 'a', false],
  ['a**b', 'a/b', false],
  ['**/', 'a', false],
  ['a ', 'a', true],
  ['# a', '# a', false],
  ['!a', 'b', false],
])('.gitignore %s and %s: %s', (pattern, path, expected) => {
  const found = convertIgnores([pattern]);
  expect('globs' in found && found.globs.length > 0 && createGlob(found.globs)(path.toLowerCase())).toBe(
    expected,
  );
});

test('a pattern of .gitignore that excludes what others include has no counterpart', () => {
  expect(convertIgnores(['*', '!a'])).toMatchObject({ problem: expect.stringContaining('!a') });
});
