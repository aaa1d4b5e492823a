import { isObserved } from '../../../engine/describe-change.ts';
import type { Run } from '../../../engine/record.ts';
import { ReeveError } from '../../../platform/errors.ts';
import type { Delivery, StoreQueries } from '../../../store/store.ts';

/** Returns whether a target is a delivery id. Delivery ids consist of digits; run ids do not. */
export const isDeliveryId = (target: string): boolean => /^\d+$/.test(target);

/**
 * Returns the runs of a target, oldest first: the run with this id, the runs of the delivery with this id, or for
 * `last` the newest run; empty if there is none. A change by Reeve causes an event whose run skips every rule; `last`
 * is not that run but the one that made the change.
 */
export async function findRuns(target: string, store: StoreQueries): Promise<readonly Run[]> {
  if (target === 'last') {
    const { items } = await store.listRuns({ limit: 50 });
    return [items.find((run) => !isAboutOwnChange(run)) ?? items[0]].filter((run) => run !== undefined);
  }
  const run = await store.readRun(target);
  if (run) return [run];
  return isDeliveryId(target) ? (await store.listRuns({ delivery: target })).items.toReversed() : [];
}

const isAboutOwnChange = ({ rules }: Run): boolean =>
  rules.every(({ verdict }) => verdict === 'skipped') && rules.some(({ reason }) => reason === 'own');

/** Returns the delivery with this id; undefined for every other target. */
export async function describeTarget(target: string, store: Pick<StoreQueries, 'describeDelivery'>) {
  return isDeliveryId(target) ? store.describeDelivery(target) : undefined;
}

/**
 * Returns the single run of a target. For a delivery with several runs, this is the run with changes; for `last`, the
 * newest run that made changes. Throws `usage` if there is none, or if several have changes.
 */
export async function requireRun(target: string, store: StoreQueries): Promise<Run> {
  if (target === 'last') return requireLastChanging(store);
  const runs = await findRuns(target, store);
  const changing = runs.length === 1 ? runs : runs.filter(({ changes }) => changes.length > 0);
  const [run] = changing;
  if (run !== undefined && changing.length === 1) return run;
  if (changing.length > 1) {
    const list = changing.map(({ id, trigger }) => `${id}  ${trigger.at}`).join('\n  ');
    throw new ReeveError(
      'usage',
      `several runs of delivery ${target} changed something, name one:\n  ${list}`,
    );
  }
  if (runs.length > 0) throw new ReeveError('usage', `no run of delivery ${target} changed anything`);
  if ((await describeTarget(target, store)) !== undefined)
    throw new ReeveError('usage', `delivery ${target} has no run: reeve explain ${target} shows why`);
  throw unknownTarget(target, 'reeve explain last shows the newest run');
}

/** Number of newest runs among which the last one with changes is searched. */
const maxSearched = 500;

/** Returns the newest run with changes that were not only observed; undefined if there is none among the newest. */
export async function findLastChanging(store: StoreQueries): Promise<Run | undefined> {
  const { items } = await store.listRuns({ limit: maxSearched });
  return items.find((run) => run.changes.some((change) => !isObserved(run, change)));
}

async function requireLastChanging(store: StoreQueries): Promise<Run> {
  const run = await findLastChanging(store);
  if (run !== undefined) return run;
  const any = (await store.listRuns({ limit: 1 })).items.length > 0;
  throw new ReeveError(
    'usage',
    any
      ? `none of the ${maxSearched} newest runs changed anything; reeve runs lists them`
      : 'there is no run yet',
  );
}

/**
 * Returns the delivery id of a target: that delivery, the delivery that started a run, or for `last` the newest
 * delivery that `isMeant` accepts. Throws `usage` if there is none.
 */
export async function requireDelivery(
  target: string,
  store: StoreQueries,
  last: { readonly state?: Delivery['state']; readonly isMeant: (delivery: Delivery) => boolean },
): Promise<string> {
  if (target === 'last') return findLast(store, last);
  const delivery = await describeTarget(target, store);
  if (delivery) return delivery.id;
  const run = await store.readRun(target);
  if (run === undefined) throw unknownTarget(target, 'the dashboard lists deliveries and runs');
  if (run.trigger.delivery !== undefined) return run.trigger.delivery;
  throw new ReeveError('usage', `run ${target} was not started by a delivery`);
}

async function findLast(
  store: StoreQueries,
  {
    state,
    isMeant,
  }: { readonly state?: Delivery['state']; readonly isMeant: (delivery: Delivery) => boolean },
): Promise<string> {
  for (let before: string | undefined; ; ) {
    const page = await store.listDeliveries({
      limit: 200,
      ...(state === undefined ? {} : { state }),
      ...(before === undefined ? {} : { before }),
    });
    const found = page.items.find(isMeant);
    if (found) return found.id;
    if (page.next === undefined) break;
    before = page.next;
  }
  throw new ReeveError('usage', state === 'dead' ? 'no delivery is dead' : 'there is no delivery yet');
}

function unknownTarget(target: string, hint: string): ReeveError {
  return new ReeveError('usage', `there is no run or delivery "${target}"; ${hint}`);
}

/** Returns why a delivery has no run or is not yet handled, as the end of a sentence. */
export function whyNoRun({ state, reason, copyOf, repeatOf, retryAt }: Delivery): string {
  if (copyOf !== undefined) {
    return `it is a duplicate of delivery ${copyOf}, which arrived less than a minute earlier; see reeve explain ${copyOf}`;
  }
  const why = reason ?? 'the reason is not recorded';
  if (state === 'dead') return `it was given up: ${why}`;
  if (state === 'settled') return repeatOf === undefined ? why : `${why} (it repeats delivery ${repeatOf})`;
  if (state === 'claimed') return 'it is being handled now';
  const next = retryAt === undefined ? '' : `, next attempt at ${retryAt.toISOString()}`;
  return reason === undefined ? `it waits for its turn${next}` : `it waits: ${reason}${next}`;
}

/** Returns why a delivery cannot be redriven; undefined if it is dead. */
export function whyNotDead(delivery: Delivery): string | undefined {
  if (delivery.state === 'dead') return undefined;
  if (delivery.state !== 'settled') return `${whyNoRun(delivery)}; only dead deliveries are redriven`;
  const result = delivery.reason === undefined ? 'it was handled' : `it was handled: ${delivery.reason}`;
  return `${result}; reeve replay ${delivery.id} shows what the current rules would do`;
}
