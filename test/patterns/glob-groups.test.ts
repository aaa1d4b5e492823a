import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGlob } from '../../src/patterns/glob.ts';
import { GlobGroups } from '../../src/patterns/glob-groups.ts';
import { createUnlimitedMeter, LimitExceeded, Meter, type Pool } from '../../src/patterns/meter.ts';
import { propertyRuns } from '../support/figure.ts';

const segment = fc.constantFrom('a', 'b', 'ab', '.md', 'a.md', 'b.tar.gz', 'é', '😀', '...', '\n');
const name = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const part = fc.constantFrom(
  'a',
  'b',
  '*',
  '**',
  '*.md',
  '*.gz',
  '*.tar.gz',
  '?b',
  '[ab]',
  '{a,b}',
  'a*',
  '*b',
  'é',
  '\\*',
);
const written = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const glob = fc.oneof(
  written,
  fc.constantFrom(
    'a/**',
    'a/**/*',
    '**/a/**',
    '**/a/**/*',
    '**/a',
    '**/*.md',
    '**/*.tar.gz',
    'a/b',
    'a/b/**',
    'a/*b',
    '**',
    '*',
  ),
);
const entries = fc
  .tuple(glob, fc.array(fc.tuple(fc.boolean(), glob), { maxLength: 3 }))
  .map(([first, rest]) => [first, ...rest.map(([excludes, one]) => (excludes ? `!${one}` : one))]);

/** Returns whether a name is in a group, by one glob after the other. */
function isIn(name: string, group: readonly string[]): boolean {
  const meter = createUnlimitedMeter();
  const matches = (one: string): boolean => compileGlob(one)(name, meter);
  const included = group.filter((entry) => !entry.startsWith('!'));
  const excluded = group.filter((entry) => entry.startsWith('!')).map((entry) => entry.slice(1));
  return included.some(matches) && !excluded.some(matches);
}

const quantities = ['some', 'every'] as const;

/** Returns the groups, each once for some name, and then each once for every name. */
function setOf(groups: readonly (readonly string[])[]): GlobGroups {
  const set = new GlobGroups();
  for (const quantity of quantities) for (const group of groups) set.add(group, quantity);
  return set;
}

function limitedMeter(pool: Pool): Meter {
  return new Meter({ pool, reserve: 0, describe: () => 'the limit' });
}

function costOf(set: GlobGroups, names: readonly string[]): number {
  const pool = { left: 1e12 };
  set.test(names, limitedMeter(pool));
  return 1e12 - pool.left;
}

describe('groups of globs', () => {
  it('agree with one glob after the other, whatever the order of the entries', () => {
    fc.assert(
      fc.property(
        fc.array(entries, { minLength: 1, maxLength: 8 }),
        fc.array(name, { minLength: 1, maxLength: 6 }),
        (groups, names) => {
          const results = setOf(groups).test(names, createUnlimitedMeter());

          for (const [place, group] of groups.entries()) {
            const wanted = names.map((one) => isIn(one, group));
            const text = `${JSON.stringify(group)} on ${JSON.stringify(names)}`;
            expect(results[place], text).toBe(wanted.includes(true));
            expect(results[groups.length + place], text).toBe(!wanted.includes(false));
          }
        },
      ),
      { numRuns: propertyRuns(1_500) },
    );
  });

  it('cost the same regardless of earlier names', () => {
    const names = fc.array(name, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(
        fc.array(entries, { minLength: 1, maxLength: 5 }),
        names,
        names,
        (groups, before, after) => {
          const used = setOf(groups);
          used.test(before, createUnlimitedMeter());

          expect(costOf(used, after)).toBe(costOf(setOf(groups), after));
        },
      ),
      { numRuns: propertyRuns(500) },
    );
  });

  it('test the same list once for each meter', () => {
    const set = setOf([['a/**'], ['**/b?']]);
    const names = ['a/b1', 'c'];
    const pool = { left: 1_000_000 };
    const meter = limitedMeter(pool);
    const first = set.test(names, meter);
    const { left } = pool;

    expect(set.test(names, meter)).toBe(first);
    expect(pool.left).toBe(left);
    expect(set.test([...names], meter)).not.toBe(first);
  });

  it('use one glob after the other once their common states cost too much, with the same result', () => {
    const letter = (seed: number): string => 'abcdefgh/'[(Math.imul(seed, 0x9e3779b1) >>> 8) % 9] ?? 'a';
    const letters = (seed: number, count: number): readonly string[] =>
      Array.from({ length: count }, (_, at) => letter(seed * 97 + at));
    const groups = Array.from({ length: 60 }, (_, n) => [
      `**/*${letters(n, 4).join('*').replaceAll('/', 'x')}*`,
    ]);
    const names = Array.from({ length: 300 }, (_, n) => letters(1_000 + n, 24).join(''));
    const results = setOf(groups).test(names, createUnlimitedMeter());

    expect(costOf(setOf(groups), names)).toBeGreaterThan(4_000_000);
    for (const [place, group] of groups.entries()) {
      expect(results[place]).toBe(names.some((one) => isIn(one, group)));
      expect(results[groups.length + place]).toBe(names.every((one) => isIn(one, group)));
    }
  });

  it('stop before they exceed the meter', () => {
    const pool = { left: 50_000 };
    const names = Array.from({ length: 10_000 }, (_, n) => `src/${n}/file.ts`);

    expect(() => setOf([['**/*a*b*'], ['src/*/c?']]).test(names, limitedMeter(pool))).toThrow(LimitExceeded);
    expect(pool.left).toBeGreaterThanOrEqual(0);
  });

  it('have nothing in every group if there are no names', () => {
    expect(setOf([['**']]).test([], createUnlimitedMeter())).toEqual([false, false]);
  });

  it.each([
    [['!a/**'], 'only excludes'],
    [[''], 'is empty'],
    [['/a'], 'paths do not start with a slash'],
    [['a', '!@(b|c)'], 'has the group'],
  ])('refuse %j', (group, message) => {
    expect(() => new GlobGroups().add(group, 'some')).toThrow(message);
  });
});
