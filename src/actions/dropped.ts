import type { PlanContext } from './plan-context.ts';
import { isSame } from './same-names.ts';

/** Time after which a name that the forge dropped is retried: the user may have got access since. */
const againMs = 7 * 24 * 60 * 60_000;

type Dropped = { readonly wanted: unknown; readonly got: unknown; readonly at: string };

/**
 * Forges silently drop names without access from lists. The result of a write is stored, so that the list is
 * reported once and not rewritten on every run.
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

/** Returns whether this proposal recently resulted in this state, so that writing it again would change nothing. */
export async function isKnownDropped(
  key: string,
  wanted: unknown,
  live: unknown,
  { memory, now }: PlanContext,
): Promise<boolean> {
  // The value in the memory was written by the function above.
  const kept = (await memory.get(`dropped ${key}`)) as Dropped | undefined;
  if (kept === undefined || now.getTime() - Date.parse(kept.at) > againMs) return false;
  return isSame(kept.wanted, wanted) && isSame(kept.got, live);
}

/** Forgets the result of a write, because live state shows the wanted value: the forge does not drop it. */
export async function forgetDropped(key: string, { memory, dryRun }: PlanContext): Promise<void> {
  if (dryRun || (await memory.get(`dropped ${key}`)) === undefined) return;
  await memory.set(`dropped ${key}`, undefined);
}
