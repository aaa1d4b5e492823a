import type { Action } from './action.ts';
import { setLabels } from './set-labels.ts';

/** Every action that a step can use. */
export const actions: readonly Action[] = [setLabels as Action];

const byName = new Map(actions.map((action) => [action.name, action]));

/** Returns the action with this name, or undefined. */
export function findAction(name: string): Action | undefined {
  return byName.get(name);
}
