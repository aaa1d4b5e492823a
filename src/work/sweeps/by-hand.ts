import type { Delivery, Store } from '../../store/store.ts';

/** The unfinished job that was started manually. */
type ByHand = { readonly job: string; readonly in: readonly string[] };

/**
 * Starts the sweep of a rule by hand and returns the id of its job. A sweep of the same rule over the same patterns that
 * has not ended is continued.
 */
export async function startSweepByHand(
  rule: string,
  store: Pick<Store, 'recall' | 'remember' | 'describeDelivery' | 'enqueue'>,
  { patterns, now }: { readonly patterns: readonly string[]; readonly now: Date },
): Promise<string> {
  const key = `sweep-by-hand ${rule}`;
  // Boundary to the store: only this function writes this key.
  const before = (await store.recall(key)) as ByHand | undefined;
  if (before && JSON.stringify(before.in) === JSON.stringify(patterns)) {
    const delivery = await store.describeDelivery(before.job);
    if (delivery && !hasSweepEnded(delivery)) return before.job;
  }
  const slot = `${rule}#by hand@${now.toISOString()}`;
  const { id } = await store.enqueue({
    door: 'cli',
    uuid: slot,
    kind: 'sweep',
    lane: `sweep ${rule}`,
    receivedAt: now,
    payload: { rule, slot, ...(patterns.length > 0 ? { in: patterns } : {}) },
  });
  await store.remember(key, { job: id, in: patterns } satisfies ByHand);
  return id;
}

/** Returns whether the job of a sweep has ended. A deferred one continues by itself later. */
export function hasSweepEnded({ state }: Delivery): boolean {
  return state === 'settled' || state === 'dead' || state === 'deferred';
}
