import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { Automaton } from '../../src/patterns/automaton.ts';
import { createUnlimitedMeter, LimitExceeded, Meter, type Pool } from '../../src/patterns/meter.ts';
import { compileRe2Program, estimateRe2Size } from '../../src/patterns/re2.ts';
import { propertyRuns } from '../support/figure.ts';

const long = process.env.LONG !== undefined;

const atom = fc.constantFrom(
  'a',
  'b',
  'K',
  'ſ',
  'é',
  '😀',
  '.',
  '[ab]',
  '[^a\\n]',
  '\\d',
  '\\w',
  '\\W',
  '\\s',
  '\\pL',
  '\\PL',
  '[[:alpha:]_]',
  '\\b',
  '\\B',
  '^',
  '$',
  '\\A',
  '\\z',
  '\\n',
  '\\x{e9}',
  '\\Qa.b\\E',
  '(?i:k)',
  '(?s:.)',
  '(?m:^)',
  '(?m:$)',
);
const repeat = fc.constantFrom('', '', '', '*', '+', '?', '*?', '{2}', '{1,3}', '{0,2}', '{2,}', '{0}');
const { pattern } = fc.letrec<{ pattern: string; piece: string; group: string }>((tie) => ({
  piece: fc
    .tuple(fc.oneof({ depthSize: 'small' }, atom, atom, tie('group')), repeat)
    .map((parts) => parts.join('')),
  group: fc
    .tuple(fc.constantFrom('(', '(?:', '(?i:', '(?ms:'), tie('pattern'))
    .map(([opening, inner]) => `${opening}${inner})`),
  pattern: fc
    .array(
      fc.array(tie('piece'), { maxLength: 4 }).map((parts) => parts.join('')),
      { minLength: 1, maxLength: 3 },
    )
    .map((ways) => ways.join('|')),
}));
const text = fc
  .array(
    fc.constantFrom(
      'a',
      'b',
      'k',
      'K',
      '\u212a',
      's',
      'ſ',
      'é',
      'É',
      '😀',
      '\ud83d',
      '\n',
      ' ',
      '_',
      '1',
      'a.b',
      '-',
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('an automaton', () => {
  it('agrees with the RE2 library on every pattern and text, with and without known transitions', {
    timeout: 600_000,
  }, () => {
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 6 }), (source, texts) => {
        const oracle = compileOrNothing(source);
        if (oracle === undefined) return;
        const automaton = new Automaton(compileRe2Program(source));
        const meter = createUnlimitedMeter();

        for (const one of [...texts, ...texts]) {
          expect(automaton.matches(one, meter), `${source} on ${JSON.stringify(one)}`).toBe(oracle.test(one));
        }
      }),
      { numRuns: long ? 100_000 : propertyRuns(800) },
    );
  });

  it('agrees with the library on a long text whose states are dropped in between', () => {
    const source = '(a|b|c)*a(a|b|c){11}$';
    const automaton = new Automaton(compileRe2Program(source));
    const oracle = RE2JS.compile(source);
    const letters = Array.from(
      { length: 20_000 },
      (_, place) => 'abc'[((place * place * 7 + place) % 11) % 3] ?? 'a',
    );
    const words = letters.join('');

    for (const end of [20_000, 19_999, 19_998, 19_997, 19_996]) {
      const one = words.slice(0, end);
      expect(automaton.matches(one, createUnlimitedMeter())).toBe(oracle.test(one));
    }
  });

  it('costs the same regardless of earlier matches', () => {
    const texts = fc.array(text, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(pattern, texts, texts, (source, before, after) => {
        if (compileOrNothing(source) === undefined) return;
        const used = new Automaton(compileRe2Program(source));
        for (const one of before) used.matches(one, createUnlimitedMeter());

        expect(costOf(used, after)).toBe(costOf(new Automaton(compileRe2Program(source)), after));
      }),
      { numRuns: propertyRuns(1_000) },
    );
  });

  it('stops before it exceeds the meter, and has spent nothing beyond it', () => {
    const automaton = new Automaton(compileRe2Program('(([abc]{1,30})a){30}$'));
    const pool: Pool = { left: 1_000_000 };
    const meter = new Meter({ pool, reserve: 0, describe: () => 'the limit' });

    expect(() => automaton.matches('abcab'.repeat(10_000), meter)).toThrow(LimitExceeded);
    expect(pool.left).toBeGreaterThanOrEqual(0);
    expect(pool.left).toBeLessThan(200_000);
  });

  it('refuses a text that is too long for the remaining budget without reading it', () => {
    const automaton = new Automaton(compileRe2Program('^a'));
    const pool: Pool = { left: 1_000 };

    expect(() =>
      automaton.matches('b'.repeat(100_000), new Meter({ pool, reserve: 0, describe: () => '' })),
    ).toThrow(LimitExceeded);
    expect(pool.left).toBe(1_000);
  });

  it('keeps little memory of a hostile pattern', () => {
    const automaton = new Automaton(compileRe2Program('[abc]*a[abc]{100}x'));
    const hostile = Array.from(
      { length: 50_000 },
      (_, place) => 'abc'[((place * place * 31 + place) % 17) % 3],
    ).join('');

    automaton.matches(hostile, createUnlimitedMeter());

    expect(automaton.entries).toBeLessThan(512 * 1024);
  });
});

describe('the estimated size of a pattern', () => {
  it('is never below its real size', () => {
    fc.assert(
      fc.property(pattern, (source) => {
        const compiled = compileOrNothing(source);
        if (compiled) expect(estimateRe2Size(source), source).toBeGreaterThanOrEqual(compiled.programSize());
      }),
      { numRuns: long ? 100_000 : propertyRuns(800) },
    );
  });

  it.each([
    ['(([abc]{1,30})a){30}$', 1_800, 2_100],
    ['((a?){30}){30}$', 3_663, 5_000],
    ['\\pL{1000}'.repeat(22), 20_000, 30_000],
    ['^(feat|fix|docs)(\\(.+\\))?!?: .{1,72}$', 150, 220],
    ['a{,5}b{x}', 10, 12],
    ['[]{2}]{3}', 5, 6],
  ])('of %s is between %i and %i', (source, least, most) => {
    expect(estimateRe2Size(source)).toBeGreaterThanOrEqual(least);
    expect(estimateRe2Size(source)).toBeLessThanOrEqual(most);
  });
});

function compileOrNothing(source: string): RE2JS | undefined {
  try {
    return RE2JS.compile(source);
  } catch {
    // The generator also produces invalid patterns.
    return undefined;
  }
}

function costOf(automaton: Automaton, texts: readonly string[]): number {
  const pool: Pool = { left: 1e9 };
  const meter = new Meter({ pool, reserve: 0, describe: () => '' });
  for (const one of texts) automaton.matches(one, meter);
  return 1e9 - pool.left;
}
