import { describe, expect, it } from 'vitest';
import { createUnlimitedMeter } from '../../../src/patterns/meter.ts';
import type { RuleFileSource } from '../../../src/rules/files/load.ts';
import { registry } from '../../../src/rules/registry.ts';
import { load } from '../support/load.ts';

const real: Partial<RuleFileSource> = { registry };

/** Returns a file with these parameters and one rule. */
function fileWith(params: string, rule: string): string {
  return `version: 1\nparams: { ${params} }\nrules:\n  one:\n${rule
    .trim()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')}\n`;
}

function ruleOf(params: string, rule: string, more = real) {
  const { rules, problems } = load(fileWith(params, rule), more);
  const [first] = rules;
  if (first === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return first;
}

function problemsOf(params: string, rule: string): readonly string[] {
  return load(fileWith(params, rule), real).problems.map(
    ({ line, column, code, message }) => `${line}:${column} ${code}: ${message}`,
  );
}

const step = 'steps: [{ uses: comment, with: { text: hi } }]';
const text = (value: string, params: string): unknown => {
  const rule = `on: issues\nsteps:\n  - uses: comment\n    with: { key: k, text: ${value} }`;
  const [first] = ruleOf(params, rule).steps;
  return Reflect.get(first?.arguments.written as object, 'text');
};
const condition = (value: string, params: string): string | undefined =>
  ruleOf(params, `on: issues\nif: ${value}\n${step}`).condition?.source;

describe('${{ params.NAME }} in a value', () => {
  it.each([
    ['text', '"after ${{ params.days }} days"', 'days: { type: int, default: 30 }', 'after 30 days'],
    [
      'two values',
      '"${{params.a}}${{ params . b }}"',
      'a: { type: string, default: x }, b: { type: bool, default: false }',
      'xfalse',
    ],
    [
      'text with another expression',
      '"${{ params.a }} ${{ issue.title }}"',
      'a: { type: string, default: x }',
      'x ${{ issue.title }}',
    ],
    [
      'an expression that names it',
      '"${{ issue.title + params.a }}"',
      'a: { type: string, default: "x\\"}}" }',
      '${{ issue.title + "x\\"}}" }}',
    ],
    ['a literal', '"$${{ params.a }}"', 'a: { type: string, default: x }', '$${{ params.a }}'],
    ['a mention', '"${{ params.a }}"', 'a: { type: string, default: "@acme/ops" }', '@acme/ops'],
  ])('is inserted into %s', (_, value, params, expected) => {
    expect(text(value, params)).toBe(expected);
  });

  it('keeps its type if it is the whole value', () => {
    const params =
      'labels: { type: list, default: [bug, "good first"] }, prune: { type: bool, default: true }, cron: { type: string, default: "7 3 * * *" }, n: { type: int, default: 2 }';
    const rule = `on: { schedule: "\${{ params.cron }}" }
each: pull_request
limits: { changes: "\${{ params.n }}" }
steps:
  - uses: set-labels
    with: { add: "\${{ params.labels }}" }
  - uses: comment
    with: { key: k, text: x, when: "\${{ params.prune }}" }`;

    const { schedules, limits, steps } = ruleOf(params, rule);

    expect(schedules).toEqual([{ cron: '7 3 * * *', timezone: 'UTC' }]);
    expect(limits).toEqual({ changes: 2 });
    expect(steps.map((one) => one.arguments.written)).toEqual([
      { add: ['bug', 'good first'] },
      { key: 'k', text: 'x', when: 'true' },
    ]);
  });

  it('is inserted into patterns', () => {
    const [listening] = ruleOf(
      'base: { type: string, default: "release/*" }, paths: { type: list, default: ["docs/**"] }',
      `on: { pull_request: { branches: ["\${{ params.base }}"], paths: "\${{ params.paths }}" } }\n${step}`,
    ).on;

    expect(listening?.branches?.written).toEqual(['release/*']);
    expect(listening?.branches?.matches('release/1', createUnlimitedMeter())).toBe(true);
    expect(listening?.paths?.written).toEqual(['docs/**']);
  });

  it.each([
    [
      'text',
      'issue.title == params.a',
      'a: { type: string, default: "a\\"b\'c\\\\" }',
      'issue.title == "a\\"b\\\'c\\\\"',
    ],
    [
      'text in braces',
      'issue.title == ${{ params.a }}',
      'a: { type: string, default: x }',
      'issue.title == "x"',
    ],
    [
      'part of a text',
      'issue.title == "v${{ params.a }}!"',
      'a: { type: string, default: "\\"" }',
      'issue.title == "v\\"!"',
    ],
    ['a number', 'issue.number > params.a', 'a: { type: int, default: -3 }', 'issue.number > (-3)'],
    [
      'a list',
      'labels.exists(l, l.name in params.a)',
      'a: { type: list, default: [x, y] }',
      'labels.exists(l, l.name in ["x", "y"])',
    ],
    ['true or false', '${{ params.a }}', 'a: { type: bool, default: false }', 'false'],
    [
      'a line break',
      'issue.title == params.a',
      'a: { type: string, default: "a\\nb" }',
      'issue.title == "a\\nb"',
    ],
  ])('is a literal in a condition: %s', (_, written, params, expected) => {
    expect(condition(JSON.stringify(written), params)).toBe(expected);
  });

  it('leaves similar text unchanged', () => {
    const written = 'issue.title == "params.a" && event.issue.title != issue.params';

    expect(
      problemsOf('a: { type: int, default: 1 }', `on: issues\nif: ${JSON.stringify(written)}\n${step}`),
    ).toEqual([expect.stringContaining('unknown-member')]);
  });

  it('reports problems at their position in the file', () => {
    const rule = `on: issues\nif: issue.titel == params.a && params.b == 1\n${step}`;

    expect(problemsOf('a: { type: string, default: x }', rule)).toEqual([
      '6:36 parameter: there is no parameter "b", did you mean "a"?',
    ]);
    expect(
      problemsOf(
        'a: { type: string, default: a long value }',
        `on: issues\nif: params.a == issue.titel\n${step}`,
      ),
    ).toEqual([expect.stringMatching(/^6:27 unknown-member: .*titel/)]);
  });
});

describe('a parameter', () => {
  it.each([
    [
      'in uses',
      'on: issues\nsteps: [{ uses: "${{ params.a }}" }]',
      'template: uses must not contain an expression',
    ],
    [
      'in in',
      `in: ["\${{ params.a }}/*"]\non: issues\n${step}`,
      'parameter: parameters cannot be used in "in"',
    ],
    [
      'in a key',
      'on: issues\nsteps: [{ uses: set-labels, with: { sync: { "${{ params.a }}": "true" } } }]',
      'parameter: parameters cannot be used in a key',
    ],
    [
      'in a raw text',
      `on: issues\nif: issue.title == r"\${{ params.a }}"\n${step}`,
      'parameter: a parameter cannot be inserted here',
    ],
    [
      'after a backslash',
      `on: issues\nif: issue.title == "\\\${{ params.a }}"\n${step}`,
      'parameter: a parameter cannot be inserted here',
    ],
    [
      'in a list of places',
      'on: { schedule: "7 3 * * *" }\neach: { notification: { in: ["${{ params.a }}/*"] } }\nsteps: [{ uses: mark-notifications, with: { as: read } }]',
      'parameter: parameters cannot be used in "in"',
    ],
  ])('is refused %s', (_, rule, expected) => {
    expect(problemsOf('a: { type: string, default: acme }', rule)[0]).toContain(expected);
  });

  it.each([
    ['x: { type: int, default: "3" }', 'x must be a whole number, not text'],
    ['x: { type: int, default: 1.5 }', 'x must be a whole number, not a fraction'],
    ['x: { type: bool, default: 1 }', 'x must be true or false, not a number'],
    ['x: { type: list, default: a }', 'x must be a list of texts, not text'],
    ['x: { type: int, default: 3, min: 4 }', 'x must be at least 4'],
    ['x: { type: string, default: abc, max: 2 }', 'x must have at most 2 characters'],
    ['x: { type: string, default: c, one-of: [a, b] }', '"c" is not one of the values of x (a, b)'],
    ['x: { type: int, default: 1, one-of: [a] }', 'one-of lists texts'],
    ['x: { type: bool, default: true, max: 1 }', 'cannot have bounds'],
    ['x: { type: int, default: 1, min: 2, max: 1 }', 'no value of x can be'],
    ['x: { type: string, default: "${{ issue.title }}" }', 'the value of a parameter is a constant'],
    ['x: { type: string, default: "a\\u0007b" }', 'control characters'],
    ['x: { type: string }', 'a file that is not included needs a default'],
    ['x: { type: string, example: a }', 'a file that is not included needs a default'],
    ['a-b: { type: int, default: 1 }', '"a-b" is not a valid parameter name'],
    [
      'x: { type: number, default: 1 }',
      'there is no type "number" (string, int, bool, list) did you mean "int"',
    ],
    [
      'x: { type: float, default: 1 }',
      '"float" is not one of the values allowed here (string, int, bool, list)',
    ],
    ['x: 3', 'write x: { type: int, default: 3 }'],
    ['x: [a]', 'write x: { type: list, default: ["a"] }'],
    ['x: { typ: int }', 'did you mean "type"'],
  ])('that is declared as { %s } is refused', (params, expected) => {
    const { problems, rules } = load(fileWith(params, `on: issues\n${step}`), real);

    expect(rules).toEqual([]);
    expect(
      problems.map(({ message, suggestion }) => `${message} did you mean "${suggestion}"`).join('\n'),
    ).toContain(expected);
    expect(problems.every(({ line }) => line === 2)).toBe(true);
  });

  it('without a declaration is a problem, and the message shows how to declare it', () => {
    const file = `version: 1\nrules: { one: { on: issues, steps: [{ uses: comment, with: { text: "\${{ params.x }}" } }] } }\n`;

    expect(load(file, real).problems.map(({ message }) => message)).toEqual([
      'there is no parameter "x": declare it at the top of the file, as in params: { x: { type: string, default: … } }',
    ]);
  });

  it('cannot form an expression with the adjacent text', () => {
    const rule = 'on: issues\nsteps: [{ uses: comment, with: { text: "${{ params.a }}{{ issue.title }}" } }]';

    expect(problemsOf('a: { type: string, default: "$" }', rule)).toEqual([
      expect.stringContaining('together form "${{"'),
    ]);
  });

  it('cannot expand a file to more than 64 KiB', () => {
    const long = 'x'.repeat(4_000);
    const texts = Array.from({ length: 20 }, () => '${{ params.a }}').join('');
    const rule = `on: issues\nsteps: [{ uses: comment, with: { text: "${texts}" } }]`;

    expect(problemsOf(`a: { type: string, default: ${long} }`, rule)).toEqual([
      expect.stringContaining('larger than 64 KiB'),
    ]);
  });

  it('does not affect a loop variable of the same name in a file without parameters', () => {
    const file = `version: 1\nrules: { one: { on: issues, if: "labels.exists(params, params.name == 'x')", steps: [{ uses: comment, with: { text: hi } }] } }\n`;

    expect(load(file, real).problems).toEqual([]);
  });
});
