import type { Client } from '../../client/client.ts';
import type { AnyInput, Operation } from '../../contract/operation.ts';

/** A change that was made, as far as taking it back needs it. Plain data: it was read from the store. */
export type DoneChange = {
  readonly operation: string;
  readonly input: AnyInput;
  readonly target: string;
  readonly before: unknown;
  readonly after: unknown;
};

/** The request that takes a change back; `except` names what of it cannot be had back. */
export type Undo = { readonly operation: Operation; readonly input: AnyInput; readonly except?: string };

/** What is there now, in the form of the change's `after`; `undo` says how to have `before` back, or why that cannot be. */
type Live = { readonly value: unknown; readonly undo: () => Undo | string };

/** How the changes of one operation are taken back. Only reads: what is to be written is returned. */
export type Inverse = (change: DoneChange, client: Client) => Promise<Live>;

/** Returns whether what is there is what the change made of it: every member that `after` has, and nothing else asked. */
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
