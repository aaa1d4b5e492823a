import type { Difference } from '../differences.ts';

/** Returns a row of observed differences of Forgejo 15: the reason, and the cases. */
export function onForgejo(reason: string, ...cases: readonly string[]): Difference {
  return { on: ['forgejo 15.0'], cases, reason };
}
