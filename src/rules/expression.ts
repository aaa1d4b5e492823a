import { type ASTNode, ParseError } from '@marcbachmann/cel-js';
import { messageOf, ReeveError } from '../errors.ts';
import { type FactRequest, keyOf } from '../facts/fact.ts';
import { Budget, TooLargeToJudge } from './budget.ts';
import type { Environment } from './environment.ts';
import type { Knowledge, Known } from './knowledge.ts';
import { createProgram, type Program, written } from './program.ts';
import { follow, type Reads, readsOf } from './reads.ts';
import { type ExpressionProblem, Resolver } from './resolve.ts';
import { emptyScope } from './scope.ts';
import type { Type } from './types.ts';
import { toCel, toReading } from './values.ts';

const maxSource = 2_000;

/** An expression that was looked up in its environment: its tree, type and facts, or all its problems. */
export type ResolvedExpression = {
  readonly node: ASTNode;
  readonly type: Type;
  readonly resolver: Resolver;
};

/** Returns the expression parsed and looked up, or its problems with offsets in the text. Never throws. */
export function resolveExpression(
  source: string,
  environment: Environment,
): ResolvedExpression | { readonly problems: readonly ExpressionProblem[] } {
  const node = parse(source);
  if ('message' in node) return { problems: [node] };
  const resolver = new Resolver(environment);
  const type = resolver.resolve(node, emptyScope);
  return resolver.problems.length > 0 ? { problems: resolver.problems } : { node, type, resolver };
}

function parse(source: string): ASTNode | ExpressionProblem {
  const whole = { code: 'expression', start: 0, end: source.length } as const;
  if (source.trim() === '') return { ...whole, message: 'the expression is empty' };
  if (source.length > maxSource)
    return { ...whole, message: `the expression is longer than ${maxSource} characters` };
  try {
    return written.parse(source).ast;
  } catch (error) {
    // The library recurses: a text that is deep in a way its own limits do not count ends here.
    if (error instanceof RangeError) return { ...whole, message: 'the expression is nested too deep' };
    if (!(error instanceof ParseError)) return { ...whole, message: messageOf(error) };
    const start = Math.min(error.range?.start ?? 0, source.length);
    const end = Math.max(start, Math.min(error.range?.end ?? start, source.length));
    return { code: 'expression', message: explainSyntax(error.summary, source, start), start, end };
  }
}

const limits: Readonly<Record<string, string>> = {
  AstNodes: 'parts',
  Depth: 'levels of nesting',
  ListElements: 'items in a list',
  MapEntries: 'entries in a map',
  CallArguments: 'arguments of a function',
};

/** Says what people who come from other languages most likely meant. */
function explainSyntax(summary: string, source: string, at: number): string {
  const near = source.slice(Math.max(0, at - 1), at + 4);
  const word = /^\w+/.exec(source.slice(at))?.[0] ?? '';
  const instead: Readonly<Record<string, string>> = {
    and: '&&',
    or: '||',
    not: '!',
    AND: '&&',
    OR: '||',
    NOT: '!',
  };
  if (Object.hasOwn(instead, word)) return `"${word}" is written ${instead[word]}`;
  if (/===|!==/.test(near)) return 'equality is written == and !=';
  if (/=(?!=)/.test(source.slice(at, at + 1))) return 'equality is written ==';
  if (/^&(?!&)|^\|(?!\|)/.test(source.slice(at))) return 'and is written &&, or is written ||';
  const limit = /^Exceeded max(\w+) \((\d+)\)/.exec(summary);
  if (limit) return `the expression has more than ${limit[2]} ${limits[limit[1] ?? ''] ?? 'parts'}`;
  return summary.charAt(0).toLowerCase() + summary.slice(1);
}

/** What came of one expression: its value, or why it has none. */
export type Result = { readonly value: unknown } | { readonly error: string; readonly cause?: Error };

/** A part of an expression that runs as a whole, with what it reads. */
export type Part = {
  readonly node: ASTNode;
  readonly text: string;
  readonly reads: Reads;
  readonly program: Program;
};

/** The problem of an expression that could be looked up, but not run. */
export function tooDeep(source: string): { readonly problems: readonly ExpressionProblem[] } {
  const message = 'the expression is nested too deep';
  return { problems: [{ code: 'expression', message, start: 0, end: source.length }] };
}

/** Returns the part of an expression that starts at this node. */
export function createPart(node: ASTNode, resolver: Resolver): Part {
  return {
    node,
    text: node.input.slice(node.start, node.end),
    reads: readsOf(node),
    program: createProgram(node, resolver),
  };
}

/** The values of one evaluation: each name is looked up and turned into what CEL sees once, for all parts. */
export class Values {
  readonly budget = new Budget();
  readonly #knowledge: Knowledge;
  readonly #environment: Environment;
  readonly #known = new Map<string, Known | undefined>();

  constructor(knowledge: Knowledge, environment: Environment) {
    this.#knowledge = knowledge;
    this.#environment = environment;
  }

  find(request: FactRequest): Known | undefined {
    const key = keyOf(request);
    if (!this.#known.has(key)) this.#known.set(key, this.#convert(request));
    return this.#known.get(key);
  }

  #convert(request: FactRequest): Known | undefined {
    const known = this.#knowledge.find(request);
    if (known === undefined || 'error' in known) return known;
    return { value: toCel(known.value, this.#environment.names.get(request.name)?.shape) };
  }
}

/** Runs one part. Never throws. */
export function runPart(part: Part, values: Values): Result {
  const names: Record<string, unknown> = Object.create(null);
  for (const request of part.reads.needs) {
    const known = values.find(request);
    if (known === undefined) return { error: `there is no ${keyOf(request)} here` };
    if ('error' in known) return failure(known.error);
    if (request.argument === undefined) names[request.name] = known.value;
  }
  for (const { name } of part.reads.asks) {
    const known = values.find({ name });
    if (known && 'value' in known) names[name] ??= known.value;
    else if (known && !isAbsence(known.error)) return failure(known.error);
  }
  const facts = part.program.calls.map((call) => {
    const known = values.find(call);
    return known && 'value' in known ? known.value : undefined;
  });
  try {
    return { value: part.program.run(names, facts, values.budget) };
  } catch (error) {
    return { error: explain(error, part, values) };
  }
}

/** What the forge says is not there is an answer to has(), not a failure. */
function isAbsence(error: Error): boolean {
  return error instanceof ReeveError && error.code === 'forge-not-found';
}

function failure(cause: Error): Result {
  return { error: cause.message, cause };
}

function explain(error: unknown, part: Part, values: Values): string {
  if (error instanceof TooLargeToJudge) return error.message;
  const summary = error instanceof Error && 'summary' in error ? String(error.summary) : messageOf(error);
  if (summary.includes('TooLarge')) return `too large to judge: ${largeOf(part, values)}`;
  return brokenChain(part, values) ?? summary;
}

function largeOf(part: Part, values: Values): string {
  const texts = Object.entries(readingsOf(part, values)).filter(([, value]) =>
    /^\(a (list|text) of /.test(String(value)),
  );
  return (
    texts.map(([name, value]) => `${name} is ${String(value).slice(1, -1)}`).join(', ') || 'a list or a text'
  );
}

function brokenChain(part: Part, values: Values): string | undefined {
  for (const read of part.reads.reads) {
    const known = values.find(read.root);
    const broken = known && 'value' in known ? follow(read, known.value).broken : undefined;
    if (broken !== undefined) return broken;
  }
  return undefined;
}

/** Returns what a part saw: member chain or fact as written → value, cut for reading. */
export function readingsOf(part: Part, values: Values): Record<string, unknown> {
  const readings: Record<string, unknown> = {};
  for (const read of part.reads.reads) {
    const known = values.find(read.root);
    if (known && 'value' in known) readings[read.text] = toReading(follow(read, known.value).value);
  }
  return readings;
}
