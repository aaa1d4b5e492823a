import type { Client } from '../../client/client.ts';
import type { AnyInput, Operation } from '../../contract/operation.ts';

/** An applied change, as far as a revert needs it. Plain data from the store. */
export type DoneChange = {
  readonly operation: string;
  readonly input: AnyInput;
  readonly target: string;
  readonly before: unknown;
  readonly after: unknown;
};

/**
 * The request that reverts a change; `except` lists the parts that cannot be restored. Changes that were made by one request
 * are reverted by one as well if their undos have `join`, which returns its input.
 */
export type Undo = {
  readonly operation: Operation;
  readonly input: AnyInput;
  readonly except?: string;
  readonly join?: (inputs: readonly AnyInput[]) => AnyInput;
};

/** Live state in the form of the change's `after`; `undo` is the request that restores `before`, or why it is impossible. */
type LiveValue = { readonly value: unknown; readonly undo: () => Undo | string };

/** Reverts changes of one operation. It only reads, and returns the request to send. */
export type Inverse = (change: DoneChange, client: Client) => Promise<LiveValue>;

/** Returns whether live state still equals the change's result, in every member of `after`. */
export function isStill(after: unknown, live: unknown): boolean {
  if (typeof after !== 'object' || after === null) return (after ?? null) === (live ?? null);
  if (Array.isArray(after)) {
    return (
      Array.isArray(live) &&
      after.length === live.length &&
      after.every((item, at) => isStill(item, live[at]))
    );
  }
  if (typeof live !== 'object' || live === null) return false;
  return Object.entries(after).every(([key, value]) => isStill(value, Reflect.get(live, key)));
}

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
