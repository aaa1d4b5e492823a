import type { ASTNode } from '@marcbachmann/cel-js';
import { functionNames } from './functions.ts';
import { namespaces } from './parse.ts';

/** An expression that a rule file names under `conditions`. The expressions of its rules use it by this name. */
export type NamedCondition = {
  readonly name: string;
  readonly node: ASTNode;
};

/** The named conditions of a file, by name. */
export type NamedConditions = ReadonlyMap<string, NamedCondition>;

/** Maximum number of named conditions in a file. */
export const maxConditions = 100;

/** Words that CEL and this language reserve. */
const words: ReadonlySet<string> = new Set([
  ...[
    'true',
    'false',
    'null',
    'in',
    'as',
    'break',
    'const',
    'continue',
    'else',
    'for',
    'function',
    'if',
    'import',
  ],
  ...['let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
  ...['event', 'sender', 'now', 'params', 'item'],
]);

/** Returns why a text cannot name a condition; undefined if it can. `known` are the names of facts and variables. */
export function problemOfConditionName(name: string, known: ReadonlySet<string>): string | undefined {
  if (!/^[a-z][a-z0-9_]{0,62}$/i.test(name))
    return `"${name}" is not a valid name of a condition: use letters, digits and "_", starting with a letter, as in is_green`;
  const isTaken = words.has(name) || namespaces.has(name) || functionNames.includes(name) || known.has(name);
  return isTaken ? `"${name}" already has a meaning in expressions: choose another name` : undefined;
}
