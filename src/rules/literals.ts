import { type ASTNode, evaluate } from '@marcbachmann/cel-js';
import type { LiteralUse } from './functions.ts';
import { type CompiledPattern, compileGlob, compilePattern } from './patterns.ts';
import type { ProblemCode } from './problem.ts';

/** Returns the value of a literal, or undefined where the node is none. */
export function literalOf(node: ASTNode): unknown {
  return node.op === 'value' ? node.args : undefined;
}

export type ReadLiteral =
  | { readonly pattern?: CompiledPattern }
  | { readonly code: ProblemCode; readonly reason: string };

/** Reads the argument of a function that wants a literal, compiled where it is a pattern, or says what is wrong with it. */
export function readLiteral(use: LiteralUse, name: string, argument: ASTNode): ReadLiteral {
  switch (use) {
    case 'pattern':
      return readPattern(argument);
    case 'glob':
      return readGlob(argument);
    case 'timezone':
      return readTimezone(argument);
    case 'moment':
      return readMoment(name, argument);
  }
}

function readPattern(argument: ASTNode): ReadLiteral {
  const value = literalOf(argument);
  if (typeof value !== 'string') {
    return {
      code: 'expression',
      reason: 'the pattern must be a literal text, so that it can be checked here',
    };
  }
  const compiled = compilePattern(value);
  return 'reason' in compiled ? { code: 'pattern', reason: compiled.reason } : { pattern: compiled };
}

function readGlob(argument: ASTNode): ReadLiteral {
  const globs = (argument.op === 'list' ? argument.args : [argument]).map(literalOf);
  const texts = globs.filter((glob) => typeof glob === 'string');
  if (texts.length !== globs.length) {
    return { code: 'expression', reason: 'globs must be literal texts, so that they can be checked here' };
  }
  const compiled = compileGlob(texts);
  return 'reason' in compiled ? { code: 'pattern', reason: compiled.reason } : { pattern: compiled };
}

function readTimezone(argument: ASTNode): ReadLiteral {
  const value = literalOf(argument);
  if (typeof value !== 'string') return { code: 'expression', reason: 'the timezone must be a literal text' };
  return isTimezone(value) ? {} : { code: 'value', reason: `there is no timezone "${value}"` };
}

/** Says whether this is a timezone that dates can be shown in (`Europe/Berlin`, `UTC`). */
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
  try {
    evaluate(`${name}(${JSON.stringify(value.slice(0, 64))})`);
    return {};
  } catch {
    const example = name === 'duration' ? '15m, 1h30m or 72h' : '2026-01-31T12:00:00Z';
    return { code: 'value', reason: `"${value.slice(0, 64)}" is no ${name}; write it like ${example}` };
  }
}
