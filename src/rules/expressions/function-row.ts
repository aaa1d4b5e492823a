import type { ASTNode } from '@marcbachmann/cel-js';
import type { Matcher } from '../../patterns/automaton.ts';
import { compileGlob, GlobError } from '../../patterns/glob.ts';
import type { Meter } from '../../patterns/meter.ts';
import type { Re2Compiler } from '../../patterns/re2.ts';
import type { ProblemCode } from '../problem.ts';
import { literalOf } from './parse.ts';
import type { Type } from './types.ts';
import { Failure, parseDuration, parseInstant } from './values.ts';

/** What a literal argument is beyond text: it is compiled or checked when the file is loaded. */
type LiteralUse = 'glob' | 'pattern' | 'timezone' | 'moment';

/**
 * One function that expressions may call. The list is closed: what the CEL library learns in a later version stays out
 * until it stands here.
 */
export type FunctionRow = {
  readonly name: string;
  /** Kinds of what stands before the dot; absent for `size(x)`. */
  readonly of?: readonly Type['kind'][];
  /** Kinds of each argument. */
  readonly takes: readonly (readonly Type['kind'][])[];
  /** The last argument may be given several times. */
  readonly repeats?: true;
  readonly gives: Type;
  /** Returns a more precise type of the result, from the types of what stands before the dot and of the arguments. */
  readonly givesFor?: (types: readonly Type[]) => Type;
  readonly meaning: string;
  /** The first argument must be a literal where this says `glob`, `pattern` or `timezone`. */
  readonly literal?: LiteralUse;
  /** Not inside of loops: its cost or its result grows with every item. */
  readonly outsideLoops?: true;
  /**
   * Returns the result, or a Failure. The values are what stands before the dot, then the arguments, each of a kind that
   * the row takes. What the work costs beyond the call is charged before it is done. A row whose literal is a pattern is
   * run by the matcher that was made of the pattern.
   */
  readonly run: RunFunction;
  /** Returns what runs the row with this literal as its argument, where something can be made ready once. */
  readonly bind?: (literal: string) => RunFunction;
};

/** Returns whether a row may be called with this number of arguments. */
export function takesCount({ takes, repeats }: FunctionRow, count: number): boolean {
  return repeats ? count >= takes.length : count === takes.length;
}

/** Returns the kinds that the row takes at each of `count` arguments. */
export function kindsTaken({ takes, repeats }: FunctionRow, count: number): FunctionRow['takes'] {
  const last = takes.at(-1);
  if (!repeats || last === undefined) return takes;
  return [...takes, ...Array.from({ length: count - takes.length }, () => last)];
}

export type RunFunction = (values: readonly unknown[], meter: Meter) => unknown;

type ReadLiteral = { readonly matches?: Matcher } | { readonly code: ProblemCode; readonly reason: string };

/** Reads the argument of a function that wants a literal, compiled where it is a pattern, or says what is wrong with it. */
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

/** Returns whether this is a timezone that dates can be shown in (`Europe/Berlin`, `UTC`). */
export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    // Intl says "no such timezone" by throwing; there is nothing else it could mean.
    return false;
  }
}

/** Instants and spans of time written as literals are tried once here, so that a slip is found before anything runs. */
function readMoment(name: string, argument: ASTNode): ReadLiteral {
  const value = literalOf(argument);
  if (typeof value !== 'string') return {};
  const isMoment =
    name === 'duration' ? parseDuration(value) !== undefined : !(parseInstant(value) instanceof Failure);
  if (isMoment) return {};
  const example = name === 'duration' ? exampleOfDuration(value) : '2026-01-31T12:00:00Z';
  return { code: 'value', reason: `"${value.slice(0, 64)}" is no ${name}; write it like ${example}` };
}

/** Days and weeks are no units, because a day of a timezone may have 23 or 25 hours: they are written in hours. */
function exampleOfDuration(value: string): string {
  const [, digits = '', unit = ''] = /^(\d{1,4}) ?(d|w)/.exec(value) ?? [];
  if (digits === '') return '15m, 1h30m or 72h';
  return `${Number(digits) * (unit === 'w' ? 7 * 24 : 24)}h`;
}
