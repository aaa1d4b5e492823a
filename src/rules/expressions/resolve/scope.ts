import type { ASTNode } from '@marcbachmann/cel-js';
import { chainOf } from '../parse/tree.ts';
import type { Type } from '../values/types.ts';

/** What is known at one place of an expression: the variables of loops, and the names and members that are surely there. */
export type Scope = {
  readonly variables: ReadonlyMap<string, Type>;
  readonly present: ReadonlySet<string>;
  /** How many loops are around. */
  readonly depth: number;
};

export const emptyScope: Scope = { variables: new Map(), present: new Set(), depth: 0 };

/** Returns the scope in which these names and members are surely there too. */
export function withPresent(scope: Scope, present: ReadonlySet<string>): Scope {
  return present.size === 0 ? scope : { ...scope, present: new Set([...scope.present, ...present]) };
}

/**
 * Returns the names and member chains that are surely there once a condition was true (or false): `has(a.b)` says so of
 * `a` and `a.b`, through `&&`, `||` and `!`.
 */
export function presentAfter(node: ASTNode, truth: boolean): ReadonlySet<string> {
  switch (node.op) {
    case '&&':
    case '||': {
      const [left, right] = node.args;
      const both = (node.op === '&&') === truth;
      const first = presentAfter(left, truth);
      const second = presentAfter(right, truth);
      return new Set(both ? [...first, ...second] : [...first].filter((chain) => second.has(chain)));
    }
    case '!_':
      return presentAfter(node.args, !truth);
    case 'call': {
      const [argument] = node.args[1];
      return truth && node.args[0] === 'has' && argument ? prefixes(chainOf(argument)) : new Set();
    }
    case '!=':
    case '==': {
      const [left, right] = node.args;
      const compared = isNull(right) ? left : isNull(left) ? right : undefined;
      const isThere = (node.op === '!=') === truth;
      return compared && isThere ? prefixes(chainOf(compared)) : new Set();
    }
    default:
      return new Set();
  }
}

function isNull(node: ASTNode): boolean {
  return node.op === 'value' && node.args === null;
}

function prefixes(chain: readonly string[] | undefined): ReadonlySet<string> {
  return new Set((chain ?? []).map((_, place) => (chain ?? []).slice(0, place + 1).join('.')));
}
