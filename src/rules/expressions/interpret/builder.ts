import type { ASTNode } from '@marcbachmann/cel-js';
import type { Resolution } from '../resolve/resolution.ts';
import type { Evaluate } from './frame.ts';

/** What the parts of an expression are made ready by. */
export interface Builder {
  readonly resolution: Resolution;
  /** Returns the node ready to run. */
  build(node: ASTNode): Evaluate;
  /** Makes something ready in which a variable has a slot of its own. */
  withVariable<T>(name: string, build: (slot: number) => T): T;
}
