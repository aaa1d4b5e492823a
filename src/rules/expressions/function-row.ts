import type { ASTNode } from '@marcbachmann/cel-js';
import type { Matcher } from '../../patterns/automaton.ts';
import { compileGlob, GlobError } from '../../patterns/glob.ts';
import type { Meter } from '../../patterns/meter.ts';
import type { Re2Compiler } from '../../patterns/re2.ts';
import type { ProblemCode } from '../problem.ts';
import { literalOf } from './parse.ts';
import type { Type } from './types.ts';
import { Failure, parseDuration, parseInstant } from './values.ts';

/** How a literal argument is used. It is compiled or checked when the file is loaded. */
type LiteralUse = 'glob' | 'pattern' | 'timezone' | 'moment';

/**
 * A function that expressions may call. The list of functions is closed: a function that a later version of the CEL
 * library adds is unavailable until it is listed here.
 */
export type FunctionRow = {
  readonly name: string;
  /** Types of the receiver; absent for functions without one, such as `size(x)`. */
  readonly of?: readonly Type['kind'][];
  /** Accepted kinds of each argument. */
  readonly takes: readonly (readonly Type['kind'][])[];
  /** Whether the last argument may be repeated. */
  readonly repeats?: true;
  readonly gives: Type;
  /** Returns a more precise result type, derived from the types of the receiver and the arguments. */
  readonly givesFor?: (types: readonly Type[]) => Type;
  readonly meaning: string;
  /** How a literal first argument is used. Except for `moment`, the first argument must then be a literal. */
  readonly literal?: LiteralUse;
  /** Not allowed inside loops, because the cost or the result of the function grows with every item. */
  readonly outsideLoops?: true;
  /**
   * Returns the result, or a Failure. Receives the receiver, if any, followed by the arguments; each value has a kind
   * that the row accepts. Work beyond the call itself is charged before it is done. For a row with a pattern literal,
   * the compiled matcher runs instead.
   */
  readonly run: RunFunction;
  /** Returns the function to run for a literal, if part of the work can be prepared once. */
  readonly bind?: (literal: string) => RunFunction;
};

/** Returns whether a row accepts this number of arguments. */
export function takesCount({ takes, repeats }: FunctionRow, count: number): boolean {
  return repeats ? count >= takes.length : count === takes.length;
}

/** Returns the kinds that the row accepts for each of `count` arguments. */
export function kindsTaken({ takes, repeats }: FunctionRow, count: number): FunctionRow['takes'] {
  const last = takes.at(-1);
  if (!repeats || last === undefined) return takes;
  return [...takes, ...Array.from({ length: count - takes.length }, () => last)];
}

export type RunFunction = (values: readonly unknown[], meter: Meter) => unknown;

type ReadLiteral = { readonly matches?: Matcher } | { readonly code: ProblemCode; readonly reason: string };

/**
 * Reads the literal argument of a function, and compiles it if it is a pattern. Returns the problem if the literal is
 * invalid.
 */
export function readLiteral(
  use: LiteralUse,
  name: string,
  argument: ASTNode,
  patterns: Re2Compiler,
): ReadLiteral {
  switch (use) {
    case 'pattern':
      return readRegex(argument, patterns);
    case 'glob':
      return readGlob(argument);
    case 'timezone':
      return readTimezone(argument);
    case 'moment':
      return readMoment(name, argument);
  }
}

function readRegex(argument: ASTNode, patterns: Re2Compiler): ReadLiteral {
  const value = literalOf(argument);
  if (typeof value !== 'string') {
    const reason = 'the pattern must be a literal text, so that it can be checked here';
    return { code: 'expression', reason };
  }
  const compiled = patterns.compile(value);
  return 'reason' in compiled ? { code: 'pattern', reason: compiled.reason } : compiled;
}

function readGlob(argument: ASTNode): ReadLiteral {
  const globs = (argument.op === 'list' ? argument.args : [argument]).map(literalOf);
  const texts = globs.filter((glob) => typeof glob === 'string');
  if (texts.length !== globs.length) {
    return { code: 'expression', reason: 'globs must be literal texts, so that they can be checked here' };
  }
  try {
    return { matches: compileGlob(texts) };
  } catch (error) {
    if (error instanceof GlobError) return { code: 'pattern', reason: error.message };
    throw error;
  }
}

function readTimezone(argument: ASTNode): ReadLiteral {
  const value = literalOf(argument);
  if (typeof value !== 'string') return { code: 'expression', reason: 'the timezone must be a literal text' };
  return isTimezone(value) ? {} : { code: 'value', reason: `there is no timezone "${value}"` };
}

/** Returns whether this is a valid timezone name (`Europe/Berlin`, `UTC`). */
export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    // Intl throws only for an unknown timezone.
    return false;
  }
}

/** Parses a literal instant or duration at load time, so that mistakes are reported before anything runs. */
function readMoment(name: string, argument: ASTNode): ReadLiteral {
  const value = literalOf(argument);
  if (typeof value !== 'string') return {};
  const isMoment =
    name === 'duration' ? parseDuration(value) !== undefined : !(parseInstant(value) instanceof Failure);
  if (isMoment) return {};
  const example = name === 'duration' ? exampleOfDuration(value) : '2026-01-31T12:00:00Z';
  return {
    code: 'value',
    reason: `"${value.slice(0, 64)}" is not a valid ${name}; write it like ${example}`,
  };
}

/**
 * Returns a valid example for an invalid duration. Days and weeks are converted to hours: they are not valid units,
 * because a day in a timezone may have 23 or 25 hours.
 */
function exampleOfDuration(value: string): string {
  const [, digits = '', unit = ''] = /^(\d{1,4}) ?(d|w)/.exec(value) ?? [];
  if (digits === '') return '15m, 1h30m or 72h';
  return `${Number(digits) * (unit === 'w' ? 7 * 24 : 24)}h`;
}
