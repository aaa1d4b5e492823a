import type { ASTNode } from '@marcbachmann/cel-js';
import type { FactRequest } from '../facts/fact.ts';
import type { Evaluate } from './frame.ts';
import type { Resolution } from './resolution.ts';

/** What the parts of an expression are made ready by. */
export interface Builder {
  readonly resolution: Resolution;
  /** Returns the node ready to run. */
  build(node: ASTNode): Evaluate;
  /** Returns the slot of a name, of a fact, or of the variable of a loop. */
  slotOf(request: FactRequest): number;
  /** Makes something ready in which a variable has a slot of its own. */
  withVariable<T>(name: string, build: (slot: number) => T): T;
}
