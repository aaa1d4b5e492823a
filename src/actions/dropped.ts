import type { PlanContext } from './plan-context.ts';
import { isSame } from './same-names.ts';

/** After this long a name that the forge dropped is tried again: the person may have been given access since. */
const againMs = 7 * 24 * 60 * 60_000;

type Dropped = { readonly wanted: unknown; readonly got: unknown; readonly at: string };

/**
 * Forges drop names without access from lists and say nothing. What a write came to is remembered, so that the list is
 * reported once and not rewritten for ever.
 */
export async function rememberDropped(
  key: string,
  wanted: unknown,
  got: unknown,
  { memory, now }: PlanContext,
): Promise<void> {
  const kept: Dropped = { wanted, got, at: now.toISOString() };
  await memory.set(`dropped ${key}`, kept);
}

/** Returns whether this wish came to this very state lately, so that writing it again would change nothing. */
export async function isKnownDropped(
  key: string,
  wanted: unknown,
  live: unknown,
  { memory, now }: PlanContext,
): Promise<boolean> {
  // What the memory holds was put there by the function above.
  const kept = (await memory.get(`dropped ${key}`)) as Dropped | undefined;
  if (kept === undefined || now.getTime() - Date.parse(kept.at) > againMs) return false;
  return isSame(kept.wanted, wanted) && isSame(kept.got, live);
}
