import type { SqlRow } from './rows.ts';

/** Time for which a delivery that may have crashed the process is handled alone; doubles with each suspicion. */
const isolationMs = 10_000;
const maxIsolationMs = 600_000;

/** Returns for how long a delivery is handled alone. */
export function isolationMsOf(suspicion: number): number {
  return Math.min(isolationMs * 2 ** Math.max(suspicion - 1, 0), maxIsolationMs);
}

/**
 * Returns the id of the suspected delivery to handle next. The rows have `id` and `suspicion`, in the order of their ids; both
 * ends take turns, so that a long-running one cannot hide the cause.
 */
export function nextSuspected(rows: readonly SqlRow[]): number | undefined {
  const isOdd = Math.max(...rows.map(({ suspicion }) => Number(suspicion))) % 2 === 1;
  const row = isOdd ? rows[0] : rows.at(-1);
  return row === undefined ? undefined : Number(row.id);
}
