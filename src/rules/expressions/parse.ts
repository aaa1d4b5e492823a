import { type ASTNode, Environment as CelEnvironment, ParseError } from '@marcbachmann/cel-js';
import { messageOf } from '../../platform/errors.ts';
import { foreignOperators, foreignSigns } from '../foreign-words.ts';
import type { ExpressionProblem } from '../problem.ts';
import { limits } from './budget.ts';

/** The CEL library, used only as a parser. */
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

/** Returns the syntax tree of an expression, or its syntax error. Never throws. */
export function parseExpression(source: string): ASTNode | ExpressionProblem {
  const whole = { code: 'expression', start: 0, end: source.length } as const;
  if (source.trim() === '') return { ...whole, message: 'the expression is empty' };
  if (source.length > limits.expression)
    return { ...whole, message: `the expression is longer than ${limits.expression} characters` };
  try {
    return parser.parse(source).ast;
  } catch (error) {
    // The library is recursive: nesting that is not covered by its own limits overflows the stack.
    if (error instanceof RangeError) return { ...whole, message: 'the expression is nested too deep' };
    if (!(error instanceof ParseError)) return { ...whole, message: messageOf(error) };
    const start = Math.min(error.range?.start ?? 0, source.length);
    const end = Math.max(start, Math.min(error.range?.end ?? start, source.length));
    return { code: 'expression', ...explainSyntax(error.summary, source, start), start, end };
  }
}

/** Descriptions of the library's limits, for messages. */
const limitWords: Readonly<Record<string, string>> = {
  AstNodes: 'parts',
  Depth: 'levels of nesting',
  ListElements: 'items in a list',
  MapEntries: 'entries in a map',
  CallArguments: 'arguments of a function',
};

/** A syntax error in words, and its remedy if the syntax belongs to another language. */
type ExplainedSyntax = Pick<ExpressionProblem, 'message' | 'fix'>;

/** Explains a syntax error, or returns a hint if the syntax belongs to another language. */
function explainSyntax(summary: string, source: string, at: number): ExplainedSyntax {
  /** Returns the message with the edit that writes `text` instead of what a pattern finds near the error. */
  const edited = (message: string, wrong: RegExp, text: string): ExplainedSyntax => {
    const from = Math.max(0, at - 8);
    const found = wrong.exec(source.slice(from));
    if (found === null || from + found.index > at) return { message };
    const start = from + found.index;
    const written = found[0];
    return { message, fix: { start, end: start + written.length, written, text } };
  };
  const near = source.slice(Math.max(0, at - 1), at + 4);
  const word = /^\w+/.exec(source.slice(at))?.[0] ?? '';
  const before = /\b(not|is)\s+(?:\w*)$/.exec(source.slice(0, at))?.[1] ?? '';
  if (/\bis\s+not\b/.test(source.slice(Math.max(0, at - 3), at + 8)))
    return edited('"is not" is written !=', /\bis\s+not\b/, '!=');
  for (const one of [word, before]) {
    const sign = foreignOperators.get(one);
    if (sign !== undefined)
      return edited(
        `"${one}" is written ${sign}`,
        new RegExp(`\\b${one}\\b${sign === '!' ? '\\s*' : ''}`),
        sign,
      );
  }
  const foreignSign = foreignSigns.find(([sign]) => sign.test(source.slice(Math.max(0, at - 2), at + 2)));
  if (foreignSign) return { message: foreignSign[1] };
  if (/^[\w./*?{},-]+$/.test(source) && /[*/]/.test(source)) {
    return edited(
      `this is a path, not an expression: write touches("${source}")`,
      /^.*$/,
      `touches("${source}")`,
    );
  }
  if (/===|!==/.test(near))
    return edited('equality is written == and !=', /[=!]==/, near.includes('!==') ? '!=' : '==');
  if (/=(?!=)/.test(source.slice(at, at + 1)))
    return edited('equality is written ==', /(?<![=!<>])=(?!=)/, '==');
  if (/^&(?!&)|^\|(?!\|)/.test(source.slice(at))) {
    const sign = source[at] ?? '';
    const wrong = sign === '&' ? /(?<!&)&(?!&)/ : /(?<!\|)\|(?!\|)/;
    return edited('and is written &&, or is written ||', wrong, sign + sign);
  }
  const limit = /^Exceeded max(\w+) \((\d+)\)/.exec(summary);
  if (limit) {
    const message = `the expression has more than ${limit[2]} ${limitWords[limit[1] ?? ''] ?? 'parts'}: move a part to the if of the rule or of a step`;
    return { message };
  }
  const message = `${summary.charAt(0).toLowerCase()}${summary.slice(1)}; conditions are CEL, as in files.size() > 3 && !pull_request.draft`;
  return { message };
}

/** Namespaces of functions without a receiver: `sets.contains(a, b)`. */
export const namespaces: ReadonlySet<string> = new Set(['sets', 'lists', 'math']);

/** Returns the name of a namespaced function (`sets.contains`); undefined if the node does not call one. */
export function namespacedName(node: ASTNode): string | undefined {
  if (node.op !== 'rcall') return undefined;
  const [name, owner] = node.args;
  return owner.op === 'id' && namespaces.has(owner.args) ? `${owner.args}.${name}` : undefined;
}

/** Returns the children of a node. */
export function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [node.args[0]];
    case 'call':
      return node.args[1];
    case 'rcall':
      return namespacedName(node) === undefined ? [node.args[1], ...node.args[2]] : node.args[2];
    case 'list':
      return node.args;
    case 'map':
      return node.args.flat();
    case '!_':
    case '-_':
      return [node.args];
    default:
      return node.args;
  }
}

/** Returns the value of a literal, or undefined if the node is not a literal. */
export function literalOf(node: ASTNode): unknown {
  return node.op === 'value' ? node.args : undefined;
}

/** Returns the names of a member chain (`a.b.c` → a, b, c), or undefined if the node is not a member chain. */
export function chainOf(node: ASTNode): readonly string[] | undefined {
  if (node.op === 'id') return [node.args];
  if (node.op !== '.') return undefined;
  const before = chainOf(node.args[0]);
  return before && [...before, node.args[1]];
}

/** Returns the source text of a node. */
export function textOf(node: ASTNode): string {
  return node.input.slice(node.start, node.end);
}
