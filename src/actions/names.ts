import { createHash } from 'node:crypto';
import type { Subject } from '../contract/events/subject.ts';
import { trimSpace } from '../contract/written-texts.ts';
import type { PlanContext } from './plan-context.ts';

/** Returns whether two values are equal; lists of names are compared without regard to order and case. */
export function isSame(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) && !Array.isArray(other)) return one === other;
  const [first, second] = [toNames(one), toNames(other)];
  return first.length === second.length && first.every((name, place) => name === second[place]);
}

/** Returns the names of a list in lower case, sorted and without duplicates; empty if the value is not a list. */
export function toNames(value: unknown): readonly string[] {
  return Array.isArray(value) ? [...new Set(value.map(toLowerCase))].sort() : [];
}

/** Returns a name in lower case, as forges compare names. */
export function toLowerCase(name: unknown): string {
  return String(name).toLowerCase();
}

/**
 * Returns `count` of the names, ranked by a hash of the subject and the name: the same names for the same issue or pull
 * request, evenly distributed over many. Adding a name to the pool, or removing one, affects only the choices that
 * include this name.
 */
export function pickByHash(
  pool: readonly string[],
  count: number,
  { repository, index }: Subject,
): readonly string[] {
  const rankOf = (name: string): string =>
    createHash('sha256')
      .update(`${repository?.id}#${index} ${toLowerCase(name)}`)
      .digest('hex');
  const ranked = pool.map((name) => ({ name, rank: rankOf(name) }));
  const inOrder = ranked.toSorted((one, other) => (one.rank < other.rank ? -1 : 1));
  return inOrder.slice(0, Math.max(count, 0)).map(({ name }) => name);
}

/** Returns the names of accounts or teams, trimmed and without case-insensitive duplicates, in order. */
export function distinctNames(written: readonly string[]): readonly string[] {
  const names = written.map(trimSpace);
  return [
    ...new Map(names.map((name) => [toLowerCase(name), name] as const).toReversed()).values(),
  ].toReversed();
}

/** Time after which a name that the forge dropped is tried again, because the user may have gained access since. */
const againMs = 7 * 24 * 60 * 60_000;

type Dropped = { readonly wanted: unknown; readonly got: unknown; readonly at: string };

/**
 * Records the result of a write to a list of names. Forges silently drop names without access; with this record, the
 * list is reported once instead of being rewritten on every run.
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

/**
 * Returns whether a recent write of this value resulted in the live state, so that another write would change nothing.
 */
export async function isKnownDropped(
  key: string,
  wanted: unknown,
  live: unknown,
  { memory, now }: PlanContext,
): Promise<boolean> {
  // The cast is safe: only the function above writes this key.
  const kept = (await memory.get(`dropped ${key}`)) as Dropped | undefined;
  if (kept === undefined || now.getTime() - Date.parse(kept.at) > againMs) return false;
  return isSame(kept.wanted, wanted) && isSame(kept.got, live);
}

/**
 * Deletes the recorded result of a write once the live list has the wanted value, because the forge then no longer
 * drops names.
 */
export async function forgetDropped(key: string, { memory, dryRun }: PlanContext): Promise<void> {
  if (dryRun || (await memory.get(`dropped ${key}`)) === undefined) return;
  await memory.set(`dropped ${key}`, undefined);
}
