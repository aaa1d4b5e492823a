import { userInfo } from 'node:os';
import { ReeveError } from '../../../platform/errors.ts';
import type { Settings } from '../../../server/settings/config.ts';
import type { Delivery, Store } from '../../../store/store.ts';
import { count, plain, type Terminal } from '../../output/terminal.ts';
import { openStore } from '../open-store.ts';
import { findRuns, isDeliveryId, requireDelivery, whyNoRun, whyNotDead } from './find-target.ts';

/** Outcome of one requested delivery. */
type Redriven = { readonly delivery: string; readonly redriven: boolean; readonly reason?: string };

/**
 * Redrives dead deliveries and resets their number of attempts: the given ones (by their ids, by the ids of their runs,
 * or `last`), or all. A running server claims them within a second. User and time are recorded with the deliveries.
 * Returns the exit status: 1 if a given delivery was not dead.
 */
export async function redrive(
  targets: readonly string[],
  options: { all?: boolean; json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  if (targets.length > 0 === (options.all ?? false))
    throw new ReeveError('usage', 'name dead deliveries, their runs or last, or give --all');
  const store = await openStore(settings);
  try {
    const by = `${userInfo().username} by reeve redrive`;
    const ids = options.all ? await deadIds(store) : await idsOf(targets, store);
    const deliveries = options.all ? undefined : await redriveEach(ids, store, by);
    const redriven =
      deliveries === undefined
        ? await store.redrive(ids, by)
        : deliveries.filter((one) => one.redriven).length;
    if (options.json) terminal.out(JSON.stringify({ asked: ids.length, redriven, deliveries }));
    else printRedriven(redriven, deliveries, terminal);
    return redriven === ids.length ? 0 : 1;
  } finally {
    await store.close();
  }
}

/**
 * Handles dead, settled and deferred deliveries again, from live state: those with the given ids, of the given runs, or for
 * `last` that of the run which `reeve explain last` shows. Returns the exit status: 1 if a
 * delivery is in none of these states.
 */
export async function rerun(
  targets: readonly string[],
  options: { json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const store = await openStore(settings);
  try {
    const by = `${userInfo().username} by reeve rerun`;
    const last = { isMeant: ({ door }: Delivery) => door === 'webhook' };
    const done: Redriven[] = [];
    for (const target of targets) {
      // While there is no run, `last` is the newest delivery.
      const [run] = target === 'last' ? await findRuns(target, store) : [];
      const delivery = await requireDelivery(run?.id ?? target, store, last);
      const redriven = (await store.redrive([delivery], by, { settled: true })) === 1;
      const found = redriven ? undefined : await store.describeDelivery(delivery);
      const reason = found === undefined ? 'it is deleted' : whyNoRun(found);
      done.push(redriven ? { delivery, redriven } : { delivery, redriven, reason });
    }
    if (options.json) terminal.out(JSON.stringify({ deliveries: done }));
    else
      for (const { delivery, redriven, reason } of done)
        terminal.out(
          redriven
            ? `delivery ${delivery} will be handled again; reeve explain ${delivery} shows the result`
            : plain(`delivery ${delivery} is not handled again: ${reason}`),
        );
    return done.every(({ redriven }) => redriven) ? 0 : 1;
  } finally {
    await store.close();
  }
}

/** Returns the delivery ids of the targets, without duplicates. */
async function idsOf(targets: readonly string[], store: Store): Promise<readonly string[]> {
  const ids = new Set<string>();
  const last = { state: 'dead', isMeant: () => true } as const;
  // Unknown ids are reported with the others, because an older list may contain ids of deleted deliveries.
  for (const target of targets)
    ids.add(isDeliveryId(target) ? target : await requireDelivery(target, store, last));
  return [...ids];
}

async function redriveEach(ids: readonly string[], store: Store, by: string): Promise<readonly Redriven[]> {
  const done: Redriven[] = [];
  for (const delivery of ids) {
    const found = await store.describeDelivery(delivery);
    const why =
      found === undefined ? 'there is no delivery with this id, or it is deleted' : whyNotDead(found);
    const redriven = why === undefined && (await store.redrive([delivery], by)) === 1;
    const reason = why ?? 'it was redriven in the meantime';
    done.push(redriven ? { delivery, redriven } : { delivery, redriven, reason });
  }
  return done;
}

function printRedriven(redriven: number, each: readonly Redriven[] | undefined, terminal: Terminal): void {
  for (const { delivery, reason } of each ?? [])
    if (reason !== undefined) terminal.out(plain(`delivery ${delivery} is not redriven: ${reason}`));
  if (each === undefined && redriven === 0) terminal.out('No delivery is dead.');
  else if (redriven > 0 || each === undefined)
    terminal.out(`${count(redriven, 'delivery')} will be tried again`);
}

async function deadIds(store: Store): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let before: string | undefined; ; ) {
    const page = await store.listDeliveries({
      state: 'dead',
      limit: 500,
      ...(before === undefined ? {} : { before }),
    });
    ids.push(...page.items.map(({ id }) => id));
    if (page.next === undefined) return ids;
    before = page.next;
  }
}
