import { type ASTNode, Environment as CelEnvironment, ParseError } from '@marcbachmann/cel-js';
import { messageOf } from '../../../platform/errors.ts';
import { limits } from '../budget/costs.ts';
import type { ExpressionProblem } from '../expression-problem.ts';

/** The CEL library, as a parser: it never runs anything. */
const parser = new CelEnvironment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  limits: {
    maxAstNodes: limits.parts,
    maxDepth: limits.depth,
    maxListElements: limits.listItems,
    maxMapEntries: limits.mapEntries,
    maxCallArguments: limits.callArguments,
  },
});

/** Returns the tree of an expression, or what is wrong with its text. Never throws. */
export function parseExpression(source: string): ASTNode | ExpressionProblem {
  const whole = { code: 'expression', start: 0, end: source.length } as const;
  if (source.trim() === '') return { ...whole, message: 'the expression is empty' };
  if (source.length > limits.expression)
    return { ...whole, message: `the expression is longer than ${limits.expression} characters` };
  try {
    return parser.parse(source).ast;
  } catch (error) {
    // The library recurses: a text that is deep in a way its own limits do not count ends here.
    if (error instanceof RangeError) return { ...whole, message: 'the expression is nested too deep' };
    if (!(error instanceof ParseError)) return { ...whole, message: messageOf(error) };
    const start = Math.min(error.range?.start ?? 0, source.length);
    const end = Math.max(start, Math.min(error.range?.end ?? start, source.length));
    return { code: 'expression', message: explainSyntax(error.summary, source, start), start, end };
  }
}

/** What the library calls its limits, in words. */
const limitWords: Readonly<Record<string, string>> = {
  AstNodes: 'parts',
  Depth: 'levels of nesting',
  ListElements: 'items in a list',
  MapEntries: 'entries in a map',
  CallArguments: 'arguments of a function',
};

/** Signs of other languages around the place where the parser stopped, and what is written here. */
const foreignSigns: readonly (readonly [RegExp, string])[] = [
  [
    /=>/,
    'there are no arrow functions: a loop names its variable first, as in files.exists(f, f.filename == "…")',
  ],
  [/\?\./, 'there is no ?. here: ask with has(…) first'],
  [/\?\?/, 'there is no ?? here: write has(x) ? x : "…"'],
  [/~/, 'a pattern is matched with text.matches("…"), a glob with text.glob("…")'],
  [/`/, 'text is written in double or single quotes'],
  [/(?:^|[(\s!])\/[^/\s]/, 'a pattern is text: write text.matches("…") with an RE2 pattern'],
  [/[^|]\|(?!\|)/, 'and is written &&, or is written ||; there are no filters: write x.lower()'],
  [/;/, 'an expression has no ";"'],
];

/** Returns what the author most likely meant, if they know another language. */
function explainSyntax(summary: string, source: string, at: number): string {
  const near = source.slice(Math.max(0, at - 1), at + 4);
  const word = /^\w+/.exec(source.slice(at))?.[0] ?? '';
  const instead: Readonly<Record<string, string>> = {
    and: '&&',
    or: '||',
    not: '!',
    is: '==',
    AND: '&&',
    OR: '||',
    NOT: '!',
  };
  const before = /\b(not|is)\s+(?:\w*)$/.exec(source.slice(0, at))?.[1] ?? '';
  if (/\bis\s+not\b/.test(source.slice(Math.max(0, at - 3), at + 8))) return '"is not" is written !=';
  for (const one of [word, before]) {
    if (Object.hasOwn(instead, one)) return `"${one}" is written ${instead[one]}`;
  }
  const foreignSign = foreignSigns.find(([sign]) => sign.test(source.slice(Math.max(0, at - 2), at + 2)));
  if (foreignSign) return foreignSign[1];
  if (/^[\w./*?{},-]+$/.test(source) && /[*/]/.test(source)) {
    return `this is a path, not an expression: write files.exists(f, f.filename.glob("${source}"))`;
  }
  if (/===|!==/.test(near)) return 'equality is written == and !=';
  if (/=(?!=)/.test(source.slice(at, at + 1))) return 'equality is written ==';
  if (/^&(?!&)|^\|(?!\|)/.test(source.slice(at))) return 'and is written &&, or is written ||';
  const limit = /^Exceeded max(\w+) \((\d+)\)/.exec(summary);
  if (limit)
    return `the expression has more than ${limit[2]} ${limitWords[limit[1] ?? ''] ?? 'parts'}: move a part to the if of the rule or of a step`;
  return `${summary.charAt(0).toLowerCase()}${summary.slice(1)}; conditions are CEL, as in files.size() > 3 && !pull_request.draft`;
}
