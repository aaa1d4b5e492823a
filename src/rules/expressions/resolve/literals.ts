import type { ASTNode } from '@marcbachmann/cel-js';
import { compileGlob } from '../../../patterns/glob.ts';
import { GlobError } from '../../../patterns/glob-error.ts';
import type { Matcher } from '../../../patterns/pattern.ts';
import type { Re2Compiler } from '../../../patterns/re2.ts';
import type { ExpressionProblemCode } from '../expression-problem.ts';
import type { LiteralUse } from '../functions/function-row.ts';
import { literalOf } from '../parse/tree.ts';
import { parseDuration } from '../values/duration.ts';
import { parseInstant } from '../values/instant.ts';
import { Failure } from '../values/values.ts';

type ReadLiteral =
  | { readonly matches?: Matcher }
  | { readonly code: ExpressionProblemCode; readonly reason: string };

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
