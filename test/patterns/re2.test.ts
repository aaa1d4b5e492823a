import { describe, expect, it } from 'vitest';
import { createUnlimitedMeter, LimitExceeded, Meter, type Pool } from '../../src/patterns/meter.ts';
import { Re2Compiler } from '../../src/patterns/re2.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';

function matches(pattern: string, text: string): boolean {
  const compiled = new Re2Compiler().compile(pattern);
  if ('reason' in compiled) throw new Error(compiled.reason);
  return compiled.matches(text, createUnlimitedMeter());
}

describe('a pattern', () => {
  it.each([
    ['bug', 'a bug here', true],
    ['^bug$', 'a bug', false],
    ['(?i)FIX(ES)?\\b', 'this fixes it', true],
    ['(?m)^b$', 'a\nb\nc', true],
    ['^.$', '😀', true],
    ['', '', true],
    ['a{2,3}', 'baab', true],
    ['^(?!docs/)', 'docs/a.md', false],
    ['^(?!docs/)', 'src/docs/a', true],
    ['^(?!WIP|draft).*: ', 'draft: x', false],
    ['^(?!WIP|draft).*: ', 'fix: x', true],
    ['(?i)^(?!wip)fix', 'WIP fix', false],
    ['(?i)^(?!wip)fix', 'FIX', true],
    ['^(?!a(b|[)]))a.(c|d)$', 'abc', false],
    ['^(?!a(b|[)]))a.(c|d)$', 'axd', true],
  ])('%s on %s says %s', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });

  it.each([
    ['(?=a)', 'the pattern is not RE2'],
    ['(?!a)b', 'a negative look-ahead stands at the start: ^(?!X)Y'],
    ['^(?!a)b|c', 'a negative look-ahead stands at the start: ^(?!X)Y'],
    ['^(?!a', 'the pattern is not RE2'],
    ['^(?!(?!a))b', 'the pattern is not RE2'],
    ['^(?!\\Q)\\E)b', 'the pattern is not RE2'],
    ['a(b', 'the pattern is not RE2'],
    ['a'.repeat(201), 'longer than 200 characters'],
    ['\\pL{1000}'.repeat(22), 'more than 2500'],
    ['((a?){30}){30}$', 'more than 2500'],
    ['(((a{99}){99}){99})', 'more than 2500'],
  ])('%s is refused: %s', (pattern, reason) => {
    const compiled = new Re2Compiler().compile(pattern);

    expect('reason' in compiled && compiled.reason).toContain(reason);
  });

  it('is refused before it is compiled, which would take a second', () => {
    const before = process.cpuUsage();
    for (let round = 0; round < 200; round += 1) new Re2Compiler().compile('\\pL{1000}'.repeat(22));
    const { user } = process.cpuUsage(before);

    expect(user / 200).toBeLessThan(20_000);
  });

  it('of a file is refused if all patterns together are too large, and counts once no matter how often it is used', () => {
    const patterns = new Re2Compiler();
    const large = (place: number): string => `x${place}.{0,1000}`;
    const results = Array.from({ length: 30 }, (_, place) => patterns.compile(large(place)));

    expect(results.filter((one) => 'matches' in one)).toHaveLength(24);
    expect(patterns.compile(large(0))).toBe(results[0]);
    expect(results[29]).toEqual({
      reason: expect.stringContaining('the patterns of this file have more than 50000 steps'),
    });
  });

  it('is counted together with the other patterns of its rule file', () => {
    const rules = Array.from({ length: 30 }, (_, place) => [
      `r${place}`,
      {
        on: 'issues',
        if: `issue.title.matches("x${place}.{0,1000}")`,
        steps: [{ uses: 'set-labels', with: { add: ['x'] } }],
      },
    ]);
    const text = JSON.stringify({ version: 1, rules: Object.fromEntries(rules) });
    const { problems } = loadRuleFile({ path: 'x.yml', text, level: 'repository', commit: '', registry });

    expect(problems.map(({ code }) => code)).toEqual(Array(6).fill('pattern'));
  });
});

describe('a meter', () => {
  const describeLimit = (): string => 'the limit';

  it('spends its pool first, then its reserve, and then nothing', () => {
    const pool: Pool = { left: 100 };
    const meter = new Meter({ pool, reserve: 50, describe: describeLimit });

    meter.charge(80);
    expect([pool.left, meter.left]).toEqual([20, 70]);
    meter.charge(30);
    expect([pool.left, meter.left]).toEqual([20, 40]);
    expect(() => meter.charge(30)).toThrow(LimitExceeded);
    expect([pool.left, meter.left]).toEqual([20, 40]);
    meter.charge(20);
    meter.charge(20);
    expect(meter.left).toBe(0);
  });

  it('shares its pool with other meters, but not its reserve', () => {
    const pool: Pool = { left: 100 };
    const [one, two] = [1, 2].map(() => new Meter({ pool, reserve: 10, describe: describeLimit }));

    one?.charge(100);
    expect(() => one?.charge(11)).toThrow('the limit');
    expect(() => two?.require(11)).toThrow('the limit');
    two?.require(10);
    two?.charge(10);
    expect([one?.left, two?.left]).toEqual([10, 0]);
  });
});
