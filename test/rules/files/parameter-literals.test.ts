import type { ASTNode } from '@marcbachmann/cel-js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { childrenOf, literalOf, parseExpression } from '../../../src/rules/expressions/parse.ts';
import { endOfInserted, opening } from '../../../src/rules/expressions/template.ts';
import { expandCondition, expandText } from '../../../src/rules/files/expand.ts';
import { type ParameterValue, problemOfValue } from '../../../src/rules/files/parameters.ts';

/** Texts made of parts that end literals, comments and expressions elsewhere. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '"',
        "'",
        '\\',
        '//',
        '\n',
        '}}',
        '${{',
        '$',
        '{{',
        '"""',
        "'''",
        ' || true',
        ') || (',
        ' r"',
        'params.a',
        'é',
        '\u202e',
        '\u{1f600}',
        '\ud800',
        '#',
        '`',
        '\t',
        '\u0000',
      ),
      fc.string({ maxLength: 5, unit: 'binary' }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''))
  .filter((text) => problemOfValue('a', { type: 'string' }, text) === undefined);

const conditions = [
  'x == params.a',
  'x == ${{ params.a }} && y',
  'x == "${{ params.a }}"',
  "x == 'a${{ params.a }}b' || y",
  'x in [params.a, "q"] // it\'s "quoted\n && y == "${{params.a}}"',
  'f("\\\\${{ params.a }}", params.a) ? r"\\d" : params.a + \'"\'',
  'x.params.a == b"q" + params.a',
  'x == "" + params.a + """t"t""" + "${{ params.a }}"',
];

/** Returns a syntax tree without the values of its literals. */
function shapeOf(node: ASTNode): unknown {
  const value = literalOf(node);
  return value === undefined
    ? [node.op, typeof node.args === 'string' ? node.args : '', childrenOf(node).map(shapeOf)]
    : typeof value;
}

const given = (value: ParameterValue) => ({
  values: new Map([['a', value]]),
  isDeclared: true,
  charge: () => true,
});

const shapeWith = (condition: string, value: string): unknown => {
  const parsed = parseExpression(expandCondition(condition, given(value)).text);
  if ('message' in parsed) throw new Error(`${parsed.message} in ${condition}`);
  return shapeOf(parsed);
};

it.each(conditions)('no value changes the expression %s', (condition) => {
  const plain = shapeWith(condition, 'x');

  fc.assert(
    fc.property(hostile, (value) => {
      expect(shapeWith(condition, value)).toEqual(plain);
    }),
    { numRuns: 300 },
  );
});

it.each(['x == params.a', 'x == "${{ params.a }}"', "x == '${{ params.a }}'"])(
  'a value reaches the expression %s unchanged',
  (condition) => {
    fc.assert(
      fc.property(hostile, (value) => {
        const parsed = parseExpression(expandCondition(condition, given(value)).text);
        const right = 'op' in parsed ? childrenOf(parsed as ASTNode)[1] : undefined;
        expect(right && literalOf(right)).toBe(value);
      }),
      { numRuns: 300 },
    );
  },
);

it('no value of a text parameter adds an expression to the text or removes one', () => {
  const source =
    '${{ params.a }} ${{ issue.title }}{{ x }}${{ params.a }}{{ y }} $${{ z }}${{ "q" + params.a }}';
  const expressionsIn = (text: string): number => {
    let count = 0;
    for (let at = text.indexOf(opening); at >= 0; at = text.indexOf(opening, at)) {
      if (text[at - 1] === '$') at += opening.length;
      else {
        count += 1;
        at = endOfInserted(text, at + opening.length) ?? text.length;
      }
    }
    return count;
  };

  fc.assert(
    fc.property(hostile, (value) => {
      const { text, problems } = expandText(source, given(value));
      if (problems.length === 0) expect(expressionsIn(text)).toBe(2);
      else expect(value.endsWith('$')).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});
