import type { Inverse } from './inverse.ts';

const reasons = new WeakMap<Inverse, string>();

/** Returns the inverse of changes that cannot be reverted, with the reason. */
export function irreversible(reason: string): Inverse {
  const inverse: Inverse = async ({ after }) => ({ value: after, undo: () => reason });
  reasons.set(inverse, reason);
  return inverse;
}

/** Returns why changes with this inverse are never reverted; undefined if they may be. */
export function irreversibleReason(inverse: Inverse | undefined): string | undefined {
  return inverse && reasons.get(inverse);
}
