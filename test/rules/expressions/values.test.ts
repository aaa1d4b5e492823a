import { describe, expect, it } from 'vitest';
import { Meter, type Pool } from '../../../src/patterns/meter.ts';
import { evaluate } from './support/evaluate.ts';

/** Cases in which the oracle library deviates from CEL, or which it does not support. */
describe('an expression', () => {
  it.each([
    ['-9223372036854775807 - 1', -(2n ** 63n)],
    ['9223372036854775807 - 1', 2n ** 63n - 2n],
    ['9007199254740992 - 1', 9_007_199_254_740_991],
    ['3037000500 * 3037000499', 9_223_372_033_963_249_500n],
    ['-7 / 2', -3],
    ['-7 % 2', -1],
    ['0 * -1', 0],
    ['9007199254740993 == 9007199254740992.0', false],
    ['9007199254740993 > 9007199254740992.0', true],
    ['large == 9007199254740991 && large + 1 == 9007199254740992', true],
    ['1 == 1.0 && 1.0 in [1] && {"a": 1} == {"a": 1.0}', true],
    ['one == true || "1" == one || null == 0 || o == [one] || o == one', false],
    ['1.0 / 0.0 > 1e308', true],
    ['string(2.0) + string(0.5) + string(-3) + string(1.0 / 0.0)', '20.5-3+Inf'],
    ['int("+12") + int(-1.9)', 11],
    ['double("1e3") == 1000', true],
    ['"é😀".size()', 2],
    ['half.size() + size([1, 2]) + size({"a": 1}) + size(o)', 7],
    ['"ß".upperAscii()', 'SS'],
    ['"abc".substring(1, 2) + "abc".substring(3)', 'b'],
    ['"a,b".split(",").join("-")', 'a-b'],
    ['duration("1h30m") - duration("90m") == duration("0s")', true],
    ['string(duration("-1500ms"))', '-1.5s'],
    ['string(duration("1h") + duration("0.25s"))', '3600.25s'],
    ['duration("-90s").getMinutes()', -1],
    ['string(timestamp("2026-03-29T00:30:00Z") + duration("250ms"))', '2026-03-29T00:30:00.250Z'],
    ['string(timestamp("2026-03-29T00:30:00+02:00"))', '2026-03-28T22:30:00Z'],
    ['timestamp(0) == timestamp("1970-01-01T00:00:00Z")', true],
    ['timestamp("2024-12-31T12:00:00Z").getDayOfYear()', 365],
    ['timestamp("2026-03-29T01:30:00Z").getHours("Europe/Berlin")', 3],
    ['timestamp("2026-03-29T00:30:00Z").getHours("Europe/Berlin")', 1],
    ['timestamp("2026-01-01T00:30:00Z").getFullYear("America/New_York")', 2025],
    ['timestamp("2026-01-01T00:30:00Z").getDayOfYear("America/New_York")', 364],
    ['timestamp("2026-01-01T00:30:00Z").getDayOfWeek("America/New_York")', 3],
    ['timestamp("2026-01-01T00:00:00.125Z").getMilliseconds("Asia/Tokyo")', 125],
    ['[[1, 2], [3]].map(a, a.map(b, b * 2).size()) == [2, 1]', true],
    ['o.exists(name, name == "a") && o.map(name, name) == ["a", "b"]', true],
    ['list[1.0] == "b" && list[1] == "b" && o["a"] == 1', true],
    ['"constructor" in o || has(o.constructor) || has(list.length)', false],
    ['true || missing.a.b', true],
    ['(missing.a.b == 1 || one) || true', true],
    ['[1, 0, 2].exists(v, 4 / v == 2)', true],
    ['[1, 0, 2].all(v, 4 / v > 3)', false],
  ])('%s is %s', (source, expected) => {
    const given = {
      large: 9_007_199_254_740_991,
      one: 1,
      o: { a: 1, b: null, c: undefined },
      list: ['a', 'b'],
      missing: null,
      half: 'a\ud83d',
    };
    const result = evaluate(source, given);

    expect(result).toEqual({ value: expected });
  });

  it.each([
    ['-(-9223372036854775807 - 1)', 'integer overflow'],
    ['(-9223372036854775807 - 1) / -1', 'integer overflow'],
    ['9223372036854775807 + 1', 'integer overflow'],
    ['4611686018427387904 * 2', 'integer overflow'],
    ['int(1e300)', 'integer overflow'],
    ['1 / 0', 'division by zero'],
    ['1 % 0', 'modulo by zero'],
    ['1.5 % 2', '"%" cannot have a number with a fraction and a whole number'],
    ['int("") + 1', 'int() needs the text of a whole number'],
    ['int("0b1")', 'int() needs the text of a whole number'],
    ['double("0x10")', 'double() needs the text of a number'],
    ['bool("yes")', 'bool() needs the text true or false'],
    ['timestamp(text) < now', 'timestamp() needs an instant such as 2026-01-31T12:00:00Z'],
    ['timestamp("9999-12-31T23:59:59Z") + duration("1s")', 'the instant is not between the years 1 and 9999'],
    ['duration(text)', 'duration() needs a text such as 15m, 1h30m or 72h'],
    ['"abc".substring(4)', 'substring(): the start is not in the text'],
    ['"abc".substring(1.0)', 'substring() needs whole numbers'],
    ['[1, "a"].join()', 'join() needs a list of texts'],
    ['o.b + 1', 'o.b is null'],
    ['1 + o.zzz', 'o.zzz is missing'],
    ['list[2] == "c"', 'list[2] is missing'],
    ['text.a', 'text.a is missing'],
    ['o.b.c', 'o.b is null'],
    ['o > 1', '">" cannot have an object and a whole number'],
    ['1 in text', '"in" cannot have a whole number and text'],
    ['text && true', 'text is not true or false'],
    ['!o.a', 'o.a is not true or false'],
    ['list.exists(v, v)', 'v is not true or false'],
    ['list.all(v, v.x)', 'v.x is missing'],
    ['text.map(v, v)', 'a loop cannot iterate over text'],
    ['o.a.startsWith("x")', 'there is no startsWith() of a whole number and text'],
    ['o.a.matches("x")', 'a pattern cannot be applied to a whole number'],
    ['long + long == ""', 'too large to judge: a text of 400000 characters'],
    ['many + many == []', 'too large to judge: a list of 12000 items'],
    ['tooLong.contains("x")', 'too large to judge: tooLong is a text of 262145 characters'],
    ['tooMany.size() > 1', 'too large to judge: tooMany is a list of 10001 items'],
    ['tooMany == []', 'too large to judge: tooMany is a list of 10001 items'],
    ['[tooLong] == [text]', 'too large to judge: a text of 262145 characters'],
    [
      'long.contains(long.substring(0, 1025))',
      'too large to judge: the text searched for has more than 1024 characters',
    ],
    ['long.split("").size() > 1', 'too large to judge: a list of more than 10000 items'],
  ])('%s fails: %s', (source, expected) => {
    const given = {
      now: new Date('2026-01-01T00:00:00Z'),
      text: 'some text',
      o: { a: 1, b: null },
      list: ['a', 'b'],
      long: 'x'.repeat(200_000),
      many: Array(6_000).fill(1),
      tooLong: 'x'.repeat(256 * 1024 + 1),
      tooMany: Array(10_001).fill(1),
    };

    expect(evaluate(source, given)).toEqual({ error: expected });
  });

  it('with nested loops costs the product of the numbers of items', () => {
    const list = Array.from({ length: 300 }, (_, n) => n);
    const single = unitsOf('list.all(a, a >= 0)', { list });
    const nested = unitsOf('list.all(a, list.all(b, a + b >= 0))', { list });

    expect(nested).toBeGreaterThan(single * 250);
    expect(nested).toBeLessThan(single * 1_000);
  });

  it('costs the same each time, whatever was evaluated before', () => {
    const given = { body: 'abcab'.repeat(200), list: ['a', 'bc', 'cab'] };
    const source =
      'list.exists(l, body.matches("(ab|c)+a$") && body.contains(l + "x")) || body.size() > 5000';

    expect(unitsOf(source, given)).toBe(unitsOf(source, given));
  });
});

function unitsOf(source: string, given: Readonly<Record<string, unknown>>): number {
  const pool: Pool = { left: 1e9 };
  evaluate(source, given, new Meter({ pool, reserve: 0, describe: () => '' }));
  return 1e9 - pool.left;
}
