import type { Difference } from '../differences.ts';

/** Returns a row of what Forgejo 15 answers otherwise, as it was seen to: why, and the cases in which it does. */
export function onForgejo(reason: string, ...cases: readonly string[]): Difference {
  return { on: ['forgejo 15.0'], cases, reason };
}
