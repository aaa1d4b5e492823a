import type { ASTNode } from '@marcbachmann/cel-js';
import { costs } from '../budget/costs.ts';
import { textOf } from '../parse/tree.ts';
import { Failure, TooLarge, Unusable } from '../values/values.ts';
import type { Frame } from './frame.ts';

/** Says whether nothing can be done with a value: it is an error, too large, or null where null has no meaning. */
export function isUnusable(value: unknown, nullHasMeaning: boolean): boolean {
  if (typeof value !== 'object') return value === undefined;
  return value === null ? !nullHasMeaning : value instanceof Unusable;
}

/** Returns the failure of a node whose value cannot be used. */
export function toFailure(value: unknown, node: ASTNode, frame: Frame): Failure {
  if (value instanceof Failure) return value;
  frame.meter.charge(costs.failure);
  if (value instanceof TooLarge) return new Failure(`too large to judge: ${textOf(node)} is ${value.what}`);
  return new Failure(`${textOf(node)} is ${value === null ? 'null' : 'missing'}`);
}

/** Returns the failure of a node that must be true or false. */
export function notBool(value: unknown, node: ASTNode, frame: Frame): Failure {
  if (isUnusable(value, false)) return toFailure(value, node, frame);
  frame.meter.charge(costs.failure);
  return new Failure(`${textOf(node)} is not true or false`);
}
