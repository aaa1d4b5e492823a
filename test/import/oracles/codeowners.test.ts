import { describe, expect, it } from 'vitest';
import { decide, ownersOf, parseCodeowners, patternToRegex } from './codeowners.ts';
import { changed, plainPull } from './subject.ts';

describe('patterns', () => {
  it.each([
    ['*', ['a', 'a/b.c'], []],
    ['*.js', ['a.js', 'x/y/a.js'], ['a.jsx']],
    ['/build/logs/', ['build/logs/a', 'build/logs/b/c'], ['build/logs', 'x/build/logs/a']],
    ['docs/*', ['docs/getting-started.md'], ['docs/build-app/troubleshooting.md', 'x/docs/a']],
    ['apps/', ['apps/a', 'x/apps/b/c'], ['apps', 'myapps/a']],
    ['/docs/', ['docs/a'], ['x/docs/a']],
    ['/apps/github', ['apps/github', 'apps/github/a'], ['apps/githubx', 'x/apps/github']],
    ['**/logs', ['logs/a', 'deeply/nested/logs/b', 'logs'], ['logsx']],
    ['docs/**', ['docs/a', 'docs/a/b'], ['docs', 'x/docs/a']],
    ['src/**/x.ts', ['src/x.ts', 'src/a/x.ts', 'src/a/b/x.ts'], ['src/ax.ts']],
    ['foo', ['foo', 'a/foo', 'foo/b', 'a/foo/b'], ['foobar']],
    ['foo/bar', ['foo/bar', 'foo/bar/b'], ['x/foo/bar']],
    ['*.t?', ['a.ts', 'x/a.tx'], ['a.t', 'a.tsx']],
    ['a\\ b.txt', ['a b.txt'], ['a\\ b.txt']],
    ['[ab].c', ['[ab].c'], ['a.c']],
    ['/', [], ['a', '']],
    ['**', ['a', 'b/c'], []],
    ['/*', ['a'], ['a/b']],
    ['a+b.c', ['a+b.c'], ['aab.c', 'a+bxc']],
  ])('%s', (pattern, matching, others) => {
    const regex = patternToRegex(pattern);
    expect(matching.filter((path) => !regex?.test(path))).toEqual([]);
    expect(others.filter((path) => regex?.test(path) && path !== '')).toEqual([]);
  });

  it('refuses three stars', () => {
    expect(patternToRegex('a/***/b')).toBeUndefined();
  });
});

describe('files', () => {
  const file = [
    '# owners',
    '',
    '*  @all # everyone',
    '*.md @docs @acme/writers',
    '/src/ @ada dev@example.org',
    '/src/gen/',
    'bad @not!valid',
    'a\\ b @space',
  ].join('\r\n');
  const lines = parseCodeowners(file);

  it.each([
    ['x', ['@all']],
    ['src/a.md', ['@ada', 'dev@example.org']],
    ['b/a.md', ['@docs', '@acme/writers']],
    ['src/gen/a', []],
    ['bad', ['@all']],
    ['a b', ['@space']],
  ])('%s', (path, owners) => {
    expect(ownersOf(lines, path)).toEqual(owners);
  });

  it('asks owners who are not the author and not asked yet', () => {
    const ask = (paths: readonly string[], more = {}): readonly string[] =>
      decide(file, plainPull({ files: paths.map((path) => changed(path)), author: 'all', ...more })).effects;

    expect(ask(['x', 'b.md', 'src/a'])).toEqual([
      'request-review docs',
      'request-review @writers',
      'request-review ada',
    ]);
    expect(ask(['b.md'], { requestedUsers: ['docs'], requestedTeams: ['writers'] })).toEqual([]);
    expect(ask(['b.md'], { draft: true })).toEqual([]);
    expect(ask(['b.md'], { owner: 'other' })).toEqual(['request-review docs']);
    expect(ask(['src/gen/x'])).toEqual([]);
  });
});
