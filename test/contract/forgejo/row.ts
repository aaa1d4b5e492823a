import type { Difference } from '../differences.ts';

/** Returns an observed difference of Forgejo 15 with its reason and cases. */
export function onForgejo(reason: string, ...cases: readonly string[]): Difference {
  return { on: ['forgejo 15.0'], cases, reason };
}
