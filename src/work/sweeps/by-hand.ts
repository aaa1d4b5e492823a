import type { Delivery, Store } from '../../store/store.ts';
import { openKeyOf } from './sweep.ts';

/** The unfinished job that was started manually. */
type ByHand = { readonly job: string; readonly in: readonly string[] };

/**
 * Starts the sweep of a rule by hand and returns the id of its job. With `open`, the rule runs for open issues and pull
 * requests instead of for the items of its schedule. A sweep of the same rule over the same patterns that has not ended
 * is continued.
 */
export async function startSweepByHand(
  rule: { readonly id: string },
  store: Pick<Store, 'recall' | 'remember' | 'describeDelivery' | 'enqueue'>,
  {
    patterns,
    open = false,
    now,
  }: { readonly patterns: readonly string[]; readonly open?: boolean; readonly now: Date },
): Promise<string> {
  const id = open ? openKeyOf(rule) : rule.id;
  const key = `sweep-by-hand ${id}`;
  // Boundary to the store: only this function writes this key.
  const before = (await store.recall(key)) as ByHand | undefined;
  if (before && JSON.stringify(before.in) === JSON.stringify(patterns)) {
    const delivery = await store.describeDelivery(before.job);
    if (delivery && !hasSweepEnded(delivery)) return before.job;
  }
  const slot = slotByHand(id, now);
  const { id: job } = await store.enqueue({
    door: 'cli',
    uuid: slot,
    kind: 'sweep',
    lane: `sweep ${rule.id}`,
    receivedAt: now,
    payload: {
      rule: rule.id,
      slot,
      ...(open ? { open } : {}),
      ...(patterns.length > 0 ? { in: patterns } : {}),
    },
  });
  await store.remember(key, { job, in: patterns } satisfies ByHand);
  return job;
}

/** Returns the slot of a sweep that is started by hand. `describeTrigger` recognizes its form. */
export function slotByHand(key: string, now: Date): string {
  return `${key}#by hand@${now.toISOString()}`;
}

/** Returns whether the job of a sweep has ended. A deferred one continues by itself later. */
export function hasSweepEnded({ state }: Delivery): boolean {
  return state === 'settled' || state === 'dead' || state === 'deferred';
}
