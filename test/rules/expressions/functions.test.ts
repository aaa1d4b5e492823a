import { describe, expect, it } from 'vitest';
import { LimitExceeded, Meter } from '../../../src/patterns/meter.ts';
import { resolveExpression } from '../../../src/rules/expressions/resolve.ts';
import { contextOf } from './support/context.ts';
import { evaluate } from './support/evaluate.ts';

const at = new Date('2026-01-02T03:04:05Z');
const given = {
  people: [{ login: 'ada' }, { login: 'eve' }, { login: 'ada' }],
  texts: ['b', 'a', 'b'],
  nan: Number.NaN,
  large: 10n ** 18n,
  at,
  nothing: null,
  pages: Array.from({ length: 200 }, () => Array.from({ length: 60 }, (_, n) => n)),
};

/** Returns a meter with this many units. */
function meterOf(units: number): Meter {
  return new Meter({ pool: { left: units }, reserve: 0, describe: () => 'used up' });
}

describe('a function of lists', () => {
  it.each([
    ['sets.contains([1, 2.0, "a"], [2, "a", 1.0])', true],
    ['sets.contains([1], [])', true],
    ['sets.contains([], [1])', false],
    ['sets.contains([1], ["1"])', false],
    ['sets.contains(people, [{"login": "eve"}])', true],
    ['sets.contains([nan], [nan])', false],
    ['sets.contains([[1, [2]]], [[1, [2]]])', true],
    ['sets.intersects(texts, ["x", "a"])', true],
    ['sets.intersects(texts, [])', false],
    ['sets.intersects([at], [timestamp("2026-01-02T03:04:05Z")])', true],
    ['sets.intersects([at], ["2026-01-02T03:04:05Z"])', false],
    ['sets.intersects([duration("60s")], [duration("1m")])', true],
    ['sets.intersects([large], [1e18])', true],
    ['sets.intersects([null], [nothing])', true],
    ['sets.equivalent(texts, ["a", "b", "a"])', true],
    ['sets.equivalent([1], [1, 2])', false],
    ['sets.equivalent([1, 2], [1])', false],
    ['people.distinct().size()', 2],
    ['[1, 1.0, 2, "1"].distinct() == [1, 2, "1"]', true],
    ['lists.distinct(texts) == ["b", "a"]', true],
    ['texts.sort() == ["a", "b", "b"]', true],
    ['[10, 9, 1.5, -1].sort() == [-1, 1.5, 9, 10]', true],
    ['[large, 1, 2.5].sort()[2] == large', true],
    ['[duration("2h"), duration("1m")].sort()[0] == duration("1m")', true],
    ['lists.sort([])', []],
    ['[[1], 2, [[3]]].flatten() == [1, 2, [3]]', true],
    ['[[1], 2, [[3]]].flatten(2) == [1, 2, 3]', true],
    ['[[1], [2]].flatten(0) == [[1], [2]]', true],
    ['[1, 2, 0.5].sum() == 3.5', true],
    ['[].sum()', 0],
    ['[duration("1m"), duration("1h")].sum() == duration("61m")', true],
    ['math.greatest(1, 2.5, -3) == 2.5', true],
    ['math.least(3)', 3],
    ['math.least([4, large, 2.5]) == 2.5', true],
  ])('%s', (source, value) => {
    expect(evaluate(source, given)).toEqual({ value });
  });

  it.each([
    ['[1, "a"].sort()', /sort\(\) cannot have/],
    ['people.sort()', /sort\(\) cannot have/],
    ['[nothing, 1].sort()', /sort\(\) cannot have/],
    ['["a"].sum()', /sum\(\) cannot have text/],
    ['[1, "a"].sum()', /cannot have/],
    ['[9223372036854775807, 1].sum()', /overflow/],
    ['math.greatest([])', /empty list/],
    ['math.greatest([1, "a"])', /cannot have text/],
    ['pages.flatten().size()', /a list of 12000 items/],
    ['[[1]].flatten(-1)', /depth/],
  ])('%s fails', (source, reason) => {
    expect(evaluate(source, given)).toEqual({ error: expect.stringMatching(reason) });
  });

  it('has a result with the type of the items, so that a wrong field is found at load time', () => {
    const environment = { names: new Map(), absent: new Map() };
    const problemsOf = (source: string) => {
      const resolved = resolveExpression(source, contextOf(environment));
      return 'problems' in resolved ? resolved.problems.map(({ code }) => code) : [];
    };

    expect(problemsOf('["a"].distinct().exists(x, x > 1)')).toEqual(['expression-type']);
    expect(problemsOf('[["a"]].flatten().exists(x, x + 1 == 2)')).toEqual(['expression-type']);
    expect(problemsOf('["a"].sort()[0].startsWith("a")')).toEqual([]);
    expect(problemsOf('[duration("1m")].sum() > duration("1s")')).toEqual([]);
    expect(problemsOf('sets.contians([1], [1])')).toEqual(['unknown-name']);
    expect(problemsOf('sets == 1')).toEqual(['unknown-name']);
    expect(problemsOf('[1].exists(sets, sets == 1)')).toContain('expression');
    expect(problemsOf('math.greatest()')).toEqual(['expression-type']);
    expect(problemsOf('math.greatest("a")')).toEqual(['expression-type']);
  });

  it.each([
    'people.distinct()',
    'texts.sort()',
    '[texts, texts].flatten()',
    'sets.contains(texts, texts)',
    'pages.sum()',
  ])('%s stops at the budget before doing the work', (source) => {
    const many = {
      ...given,
      people: Array(5_000)
        .fill({ a: 1 })
        .map((one, n) => ({ ...one, n })),
    };
    const longTexts = { ...many, texts: Array.from({ length: 1_000 }, (_, n) => `${'x'.repeat(900)}${n}`) };

    expect(evaluate(source, longTexts, meterOf(5_000))).toEqual({ error: 'used up' });
  });
});

describe('replace', () => {
  it.each([
    ['"aaa".replace("a", "b")', 'bbb'],
    ['"aaa".replace("a", "b", 2)', 'bba'],
    ['"aaa".replace("a", "b", 0)', 'aaa'],
    ['"aaa".replace("a", "b", -1)', 'bbb'],
    ['"aaaa".replace("aa", "a")', 'aa'],
    ['"abc".replace("x", "y")', 'abc'],
    ['"a😀".replace("", "-")', '-a-😀-'],
    ['"ab".replace("", "-", 2)', '-a-b'],
    ['"a.c".replace(".", "$&")', 'a$&c'],
  ])('%s', (source, value) => {
    expect(evaluate(source)).toEqual({ value });
  });

  it('refuses a result that is too large, without creating it', () => {
    const body = 'a'.repeat(60_000);

    expect(evaluate('body.replace("a", "0123456789")', { body })).toEqual({
      error: expect.stringMatching(/a text of 600000 characters/),
    });
    expect(evaluate('body.replace("", body)', { body })).toHaveProperty('error');
  });
});

describe('format', () => {
  it.each([
    ['"%s".format(["a"])', 'a'],
    ['"%s %s %s %s".format([1, 1.5, true, null])', '1 1.5 true null'],
    ['"%s".format([timestamp("2026-01-02T03:04:05Z")])', '2026-01-02T03:04:05Z'],
    ['"%s".format([duration("90m")])', '5400s'],
    ['"%s".format([["a", 1, [true]]])', '["a", 1, [true]]'],
    ['"%s".format([{"b": 1, "a": "x"}])', '{"a": "x", "b": 1}'],
    ['"%d of %d".format([3, large])', '3 of 1000000000000000000'],
    ['"%f %.0f %.2f".format([1.5, 2.5, 3])', '1.500000 3 3.00'],
    ['"%e %.1e".format([1234.5, 0.00012])', '1.234500e+03 1.2e-04'],
    ['"%b %b %o %x %X %x".format([5, true, 8, 255, 255, "hi"])', '101 1 10 ff FF 6869'],
    ['"100%%".format([])', '100%'],
    ['"%s".format(["%d"])', '%d'],
  ])('%s', (source, value) => {
    expect(evaluate(source, given)).toEqual({ value });
  });

  it.each([
    ['"%s %s".format(["a"])', /more placeholders/],
    ['"%s".format(["a", "b"])', /more values/],
    ['"%y".format(["a"])', /"%" must be followed/],
    ['"a%".format([])', /"%" must be followed/],
    ['"%d".format(["a"])', /%d cannot have text/],
    ['"%f".format(["a"])', /%f cannot have text/],
    ['"%.99f".format([1.0])', /at most 20 digits/],
    ['"%x".format([1.5])', /%x cannot have/],
  ])('%s fails', (source, reason) => {
    expect(evaluate(source, given)).toEqual({ error: expect.stringMatching(reason) });
  });
});

describe('nested loops', () => {
  const numbers = Array.from({ length: 100 }, (_, n) => n);

  it('are charged for every pair of items', () => {
    const cost = (source: string): number => {
      const meter = meterOf(100_000_000);
      expect(evaluate(source, { numbers }, meter)).toEqual({ value: true });
      return 100_000_000 - meter.left;
    };
    const one = cost('numbers.all(a, a >= 0)');
    const two = cost('numbers.all(a, numbers.all(b, a + b >= 0))');

    expect(two).toBeGreaterThan(90 * one);
    expect(() => meterOf(1_000).charge(two)).toThrow(LimitExceeded);
  });

  it('of depth three are refused at load time', () => {
    expect(() => evaluate('numbers.all(a, numbers.all(b, numbers.all(c, c > 0)))', { numbers })).toThrow(
      /more than 2 levels deep/,
    );
  });
});
