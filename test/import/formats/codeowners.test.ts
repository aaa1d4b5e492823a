import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeowners } from '../../../src/import/formats/codeowners.ts';
import { createNames, type ForgeNames } from '../../../src/import/names.ts';
import { findPathOwners, parseCodeowners } from '../../../src/patterns/codeowners-file.ts';
import { createUnlimitedMeter } from '../../../src/patterns/meter.ts';
import { hostileText } from '../support/hostile.ts';

const gitea = { hasRoot: true, hasLookaround: true };
const forgejo = { hasRoot: false, hasLookaround: false };

function convert(
  text: string,
  { place = '.github/CODEOWNERS', forge = {} as ForgeNames, users = [] as [string, string][] } = {},
) {
  const names = createNames({ users: new Map(users) }, forge);
  const {
    files = [],
    entries,
    rules,
    todo = [],
  } = codeowners.convert({ path: place, place, text }, { names, target: 'operator' });
  return { file: files[0]?.text ?? '', place: files[0]?.path, entries, rules, todo };
}

/** Owners of a path by the reader of the fact `codeowners`, which is that of the forge. */
function ownersOf(file: string, path: string, dialect = gitea): readonly string[] {
  const found = findPathOwners(parseCodeowners(file, dialect), [path], {
    dialect,
    meter: createUnlimitedMeter(),
  });
  return [...(found[0]?.owners ?? [])].toSorted();
}

describe('a pattern of GitHub owns the same files on the forge', () => {
  // Cases of testdata/patterns.json of hmarr/codeowners at 11d3ff2, which were compared with GitHub.
  it.each<[pattern: string, owned: readonly string[], others: readonly string[]]>([
    ['foo', ['foo', 'foo/bar', 'bar/foo', 'bar/foo/baz'], ['foo.txt', 'bar/foo.txt', 'bar/baz']],
    ['/foo', ['foo', 'foo/bar', 'foo/bar/baz'], ['fool.txt', 'bar/foo', 'bar/foo/baz']],
    ['foo/', ['foo/bar', 'foo/bar/baz', 'bar/foo/baz'], ['foo', 'bar/foo']],
    ['/foo/', ['foo/bar', 'foo/bar/baz'], ['foo', 'bar/foo/baz']],
    ['foo/bar', ['foo/bar', 'foo/bar/baz'], ['foo/bart', 'baz/foo/bar']],
    ['*', ['foo', 'foo/bar', '.x/y'], []],
    ['**', ['foo', 'foo/bar'], []],
    ['*.js', ['a.js', 'x/a.js', 'a.js/b', '.js'], ['a.jsx', 'ajs']],
    ['/*.js', ['a.js'], ['x/a.js']],
    ['foo/*', ['foo/bar'], ['foo', 'foo/bar/baz', 'x/foo/bar']],
    ['foo/**', ['foo/bar', 'foo/bar/baz'], ['foo', 'x/foo/bar']],
    ['**/foo', ['foo', 'x/foo', 'x/y/foo/z'], ['food']],
    ['foo/**/bar', ['foo/bar', 'foo/x/bar', 'foo/x/y/bar/z'], ['foo/xbar', 'foobar']],
    ['f?o', ['foo', 'x/fzo'], ['fo', 'f/o', 'fooo']],
    ['/a*b/c', ['ab/c', 'axxb/c', 'axb/c/d'], ['a/b/c']],
    ['foo\\ bar', ['foo bar', 'x/foo bar'], ['foo', 'bar']],
    ['/app/[slug]/+page(x).ts', ['app/[slug]/+page(x).ts'], ['app/s/+page(x).ts', 'app/[slug]/page(x)zts']],
    ['/$a^{1,2}|b', ['$a^{1,2}|b'], ['$a', 'b']],
    ['/\\!foo', ['!foo'], ['bar', 'foo']],
    ['/ä', ['ä', 'ä/x'], ['a']],
  ])('%s', (pattern, owned, others) => {
    const { file, entries } = convert(`${pattern} @ada`);

    expect(entries.filter(({ part }) => part.startsWith(pattern))).toMatchObject([{ outcome: 'exact' }]);
    for (const dialect of [gitea, forgejo]) {
      for (const path of owned) expect([path, ownersOf(file, path, dialect)]).toEqual([path, ['ada']]);
      for (const path of others) expect([path, ownersOf(file, path, dialect)]).toEqual([path, []]);
    }
  });
});

describe('the order of the lines', () => {
  const text = ['* @acme/all @ada', '/docs/ @docs', '*.md @acme/all @ada @writer', '/docs/api/ @api'].join(
    '\n',
  );

  it('is kept by look-ahead: the last line that matches owns a file alone', () => {
    const { file, entries } = convert(text, { forge: { hasOwnerLookahead: true } });

    expect(ownersOf(file, 'src/a')).toEqual(['acme/all', 'ada']);
    expect(ownersOf(file, 'docs/a')).toEqual(['docs']);
    expect(ownersOf(file, 'docs/api/a')).toEqual(['api']);
    expect(ownersOf(file, 'docs/a.md')).toEqual(['acme/all', 'ada', 'writer']);
    expect(entries.filter(({ outcome }) => outcome === 'exact')).toHaveLength(4);
    // A later line with all of the owners adds up to the same, and is not excluded.
    expect(file).toContain('(?!docs/).* @acme/all @ada');
  });

  it('names a file that has more owners on a forge without look-ahead', () => {
    const { file, entries } = convert(text, { forge: { hasOwnerLookahead: false } });

    expect(file).not.toContain('(?!');
    const [note = ''] = entries
      .filter(({ line, outcome }) => line === 1 && outcome === 'differs')
      .map((one) => one.note);
    const [, path = ''] = /^`([^`]+)` belongs to line 2 alone here/.exec(note) ?? [];
    expect(ownersOf(file, path, forgejo)).toEqual(['acme/all', 'ada', 'docs']);
  });

  it('is a difference while the forge is not known, and names a file', () => {
    const { entries } = convert(text);
    expect(entries.filter(({ apart }) => !apart).map(({ line, outcome }) => [line, outcome])).toEqual([
      [1, 'differs'],
      [2, 'differs'],
      [3, 'differs'],
      [4, 'exact'],
    ]);
    expect(entries.find(({ note }) => note?.includes('Forgejo'))?.note).toMatch(/^`x`: exact on Gitea 1\.26/);
  });

  it('leaves out a line whose files later lines own', () => {
    const { file, entries } = convert('* @ada\n/x @eve\n* @grace');

    expect(entries.filter(({ outcome }) => outcome === 'without-meaning').map(({ line }) => line)).toEqual([
      1, 2,
    ]);
    expect(ownersOf(file, 'x')).toEqual(['grace']);
  });

  it('names a file where the pattern would be longer than one may be', () => {
    const folders = Array.from({ length: 150 }, (_, n) => `/folder-with-a-long-name-${n}/ @owner-${n}`);
    const { file, entries } = convert(['* @ada', ...folders].join('\n'), {
      forge: { hasOwnerLookahead: true },
    });

    const [note = ''] = entries
      .filter(({ line, outcome }) => line === 1 && outcome === 'differs')
      .map((one) => one.note);
    const [, path = ''] = /`([^`]+)` belongs to line/.exec(note) ?? [];
    expect(ownersOf(file, path)).toContain('ada');
    expect(ownersOf(file, 'folder-with-a-long-name-0/x')).toEqual(['owner-0']);
  });
});

/** An independent reading of a pattern of GitHub: segment by segment, by trial. */
function isMatch(pattern: string, path: string): boolean {
  const isAnchored = pattern.slice(0, -1).includes('/');
  const want = pattern.replace(/^\//, '').split('/');
  const have = path.split('/');
  const isFolder = want.at(-1) === '';
  if (isFolder) want.pop();
  const fits = (glob: string, name: string): boolean =>
    glob === ''
      ? name === ''
      : glob[0] === '*'
        ? fits(glob.slice(1), name) || (name !== '' && fits(glob, name.slice(1)))
        : name !== '' && (glob[0] === '?' || glob[0] === name[0]) && fits(glob.slice(1), name.slice(1));
  const from = (w: number, h: number): boolean => {
    const segment = want[w];
    if (segment === undefined) {
      const left = have.length - h;
      if (isFolder) return left > 0;
      return left === 0 || (want.at(-1) !== '*' && want.at(-1) !== '**');
    }
    if (segment === '**') {
      if (w === want.length - 1) return h < have.length;
      return Array.from({ length: have.length - h + 1 }, (_, skip) => h + skip).some((at) => from(w + 1, at));
    }
    const name = have[h];
    if (name === undefined || (segment === '*' && name === '')) return false;
    return fits(segment, name) && from(w + 1, h + 1);
  };
  if (pattern === '*' || pattern === '**') return true;
  if (isAnchored || pattern.startsWith('/')) return from(0, 0);
  return have.some((_, at) => from(0, at));
}

describe('random files', () => {
  const segment = fc.constantFrom('a', 'b', 'a*', '*', '?', '*.c', 'a.c');
  const pattern = fc
    .tuple(
      fc.constantFrom('', '/'),
      fc.array(fc.oneof({ weight: 5, arbitrary: segment }, fc.constant('**')), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.constantFrom('', '', '/'),
    )
    .map(([start, segments, end]) => `${start}${segments.join('/')}${end}`)
    // Two `**` next to each other, or a slash after one, are read in different ways by different readers.
    .filter((one) => !/\*\*\/(\*\*|$)|^\/?\*\*\/?$/.test(one));
  const owners = fc.subarray(['x', 'y', 'z'], { minLength: 0 });
  const lines = fc.array(fc.tuple(pattern, owners), { minLength: 1, maxLength: 5 });
  const path = fc
    .array(fc.constantFrom('a', 'b', 'c', 'ab', 'a.c', '.c'), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('/'));

  it('have the owners of GitHub on a forge with look-ahead', () => {
    fc.assert(
      fc.property(lines, fc.array(path, { minLength: 5, maxLength: 20 }), (written, paths) => {
        const text = written
          .map(([one, names]) => [one, ...names.map((name) => `@${name}`)].join(' '))
          .join('\n');
        const { file } = convert(text, { forge: { hasOwnerLookahead: true } });
        for (const one of paths) {
          const last = written.findLast(([glob]) => isMatch(glob, one));
          expect([text, one, ownersOf(file, one)]).toEqual([text, one, (last?.[1] ?? []).toSorted()]);
        }
      }),
    );
  });

  it('differ on a forge without look-ahead only by lines whose note says so', () => {
    fc.assert(
      fc.property(lines, fc.array(path, { minLength: 5, maxLength: 20 }), (written, paths) => {
        const text = written
          .map(([one, names]) => [one, ...names.map((name) => `@${name}`)].join(' '))
          .join('\n');
        const { file, entries } = convert(text, { forge: { hasOwnerLookahead: false } });
        const isNoted = entries.some(({ note = '' }) => note.includes(' alone here'));
        for (const one of paths) {
          const last = written.findLast(([glob]) => isMatch(glob, one))?.[1] ?? [];
          const found = ownersOf(file, one, forgejo);
          expect(last.every((owner) => found.includes(owner))).toBe(true);
          if (!isNoted) expect([text, one, found]).toEqual([text, one, last.toSorted()]);
        }
      }),
    );
  });

  it('add no line and no owner, whatever they contain', () => {
    const hostile = hostileText({ maxLength: 20 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(hostile, fc.constantFrom('@ada', '', '@ada # @eve', '@ada @acme/t')), {
          maxLength: 4,
        }),
        (written) => {
          const { file } = convert(written.map((parts) => parts.join(' ')).join('\n'));
          const read = parseCodeowners(file, gitea);
          expect(read.length).toBeLessThanOrEqual(written.length);
          for (const { owners: names, isNegative } of read) {
            expect(isNegative).toBe(false);
            for (const name of names) expect(name).toMatch(/^[\w.-]+(\/[\w.-]+)?$/);
          }
        },
      ),
    );
  });
});

describe('a line', () => {
  it.each<[why: string, line: string, outcome: string, note: string]>([
    // "About code owners": "Using ! to negate a pattern doesn't work".
    ['with `!`', '!docs/ @ada', 'without-meaning', 'does not negate'],
    ['with an invalid owner', 'docs/ ada', 'without-meaning', '`ada` is neither'],
    ['with three asterisks', 'a/***/b @ada', 'without-meaning', 'three asterisks'],
    ['with a path that no file has', './src/* @ada', 'without-meaning', 'no file has such a path'],
    ['without owners', 'docs/', 'exact', 'have no owner, here and on the forge'],
    [
      'with an address',
      '/docs/ docs@example.org',
      'differs',
      '`docs/x`: the owner `docs@example.org` is an address',
    ],
    ['with a bot', '/docs/ @renovate[bot]', 'without-meaning', 'neither'],
    ['with a comment', '/docs/ @ada # the docs', 'exact', ''],
  ])('%s is %s', (_, line, outcome, note) => {
    const [entry] = convert(line).entries.filter(({ part }) => part === line);

    expect(entry?.outcome).toBe(outcome);
    expect(entry?.note ?? '').toContain(note);
  });

  it('has the names of the forge, and says that it has no such team', () => {
    const { file, entries } = convert('* @ada @acme/docs', {
      users: [['ada', 'lovelace']],
      forge: { teams: ['acme/other'] },
    });

    expect(file).toContain('.* @lovelace @acme/docs');
    expect(entries[0]?.note).toContain('the forge has no team `acme/docs`');
  });

  it('that matches no file of the default branch says so', () => {
    const { entries } = convert('/src/ @ada\n/lib/ @eve', { forge: { files: ['src/a.ts'] } });

    expect(
      entries
        .filter(({ note = '' }) => note.includes('no file of the default branch'))
        .map(({ line }) => line),
    ).toEqual([2]);
  });

  it('exempts its files from earlier lines even if it has no owner', () => {
    const { file } = convert('* @ada\n/generated/\n/mail/ a@example.org');

    expect([ownersOf(file, 'generated/x'), ownersOf(file, 'mail/x'), ownersOf(file, 'x')]).toEqual([
      [],
      [],
      ['ada'],
    ]);
  });
});

describe('the place of the result', () => {
  it.each([
    ['.github/CODEOWNERS', '.gitea/CODEOWNERS'],
    ['.gitlab/CODEOWNERS', '.gitea/CODEOWNERS'],
    ['docs/CODEOWNERS', 'docs/CODEOWNERS'],
    ['CODEOWNERS', 'CODEOWNERS'],
  ])('of %s is %s', (place, expected) => {
    expect(convert('* @ada', { place }).place).toBe(expected);
  });

  it('is none without a line that has an owner', () => {
    expect(convert('# nothing\n').place).toBeUndefined();
  });
});

// "Code Owners syntax and error handling" of GitLab.
describe('a file of GitLab', () => {
  const text = [
    '* @root',
    '[Docs] @docs',
    '*.md',
    '/docs/ @writer',
    '!/docs/generated.md',
    '^[Optional][2] @opt',
    'lib/',
    '[docs]',
    'README.md @readme',
    '[Roles]',
    '/x @@maintainers @a/b/c @ada',
  ].join('\n');

  it('adds up the owners of its sections, and in each the last line wins', () => {
    const { file } = convert(text, { place: '.gitlab/CODEOWNERS', forge: { hasOwnerLookahead: true } });

    expect(ownersOf(file, 'a.md')).toEqual(['docs', 'root']);
    expect(ownersOf(file, 'docs/a.md')).toEqual(['root', 'writer']);
    expect(ownersOf(file, 'docs/generated.md')).toEqual(['root']);
    expect(ownersOf(file, 'x/README.md')).toEqual(['readme', 'root']);
    expect(ownersOf(file, 'x/lib/a')).toEqual(['opt', 'root']);
    // Without a slash at its end, a name is a file in GitLab.
    expect(ownersOf(file, 'x')).toEqual(['ada', 'root']);
    expect(ownersOf(file, 'x/y')).toEqual(['root']);
  });

  it('says that approvals are optional or counted, and that roles are no owners', () => {
    const { entries } = convert(text);

    expect(entries.find(({ line }) => line === 6)).toMatchObject({
      outcome: 'differs',
      note: expect.stringContaining('it asks for 2 approvals'),
    });
    expect(entries.find(({ line }) => line === 11)).toMatchObject({
      outcome: 'differs',
      note: expect.stringContaining('`@@maintainers`'),
    });
  });
});

it('a file of thousands of lines is converted', () => {
  const lines = Array.from({ length: 3_000 }, (_, n) => `/packages/p${n}/ @owner${n}`);
  const { file, entries } = convert(['*.md @docs', ...lines].join('\n'), {
    forge: { hasOwnerLookahead: true },
  });

  expect(entries.filter(({ outcome }) => outcome === 'exact')).toHaveLength(3_000);
  expect(ownersOf(file, 'packages/p2999/a')).toEqual(['owner2999']);
});
