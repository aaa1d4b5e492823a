import type { Run } from '../../engine/record.ts';
import type { Delivery, Store, StoreQueries } from '../../store/store.ts';
import { type DescribedEntry, type DescribedQueue, describeQueue } from '../merge-queue/describe-queue.ts';
import { createCron } from '../sweeps/schedule/cron.ts';
import { readScheduleList, type Scheduled } from '../sweeps/schedule/schedule.ts';

/** An issue or a pull request: `owner/repo#7`. */
export type NumberedItem = { readonly repository: string; readonly index: number };

/** Parses `owner/repo#7`; undefined for any other text. */
export function parseItem(text: string): NumberedItem | undefined {
  const [, repository = '', index = ''] = /^([^/\s]+\/[^/#\s]+)#(\d{1,9})$/.exec(text) ?? [];
  return repository === '' ? undefined : { repository, index: Number(index) };
}

/** A coming look at an issue or pull request. */
export type ComingLook = {
  /** Earliest time of the look; in the past if it is due. */
  readonly at: Date;
  /** Cause of the look: a delivery or job that waits, or a rule with a schedule. */
  readonly by: { readonly delivery: string } | { readonly rule: string };
};

/** Place of a pull request in a merge queue. */
export type QueuePlace = Pick<DescribedQueue, 'repository' | 'base' | 'paused' | 'blocked'> & DescribedEntry;

/** Everything that is stored about one issue or pull request. */
export type AboutItem = {
  /** The item with the name of its repository as stored, which may differ in case. */
  readonly item: NumberedItem;
  /** Id of the repository; undefined if no delivery about it is stored. */
  readonly repositoryId: number | undefined;
  /** Runs about the item, newest first. */
  readonly runs: readonly Run[];
  /** Deliveries and jobs about it that wait for their turn, a retry, or room in a budget. */
  readonly waiting: readonly Delivery[];
  /** Its places in merge queues, one per base branch. */
  readonly queues: readonly QueuePlace[];
  /** Coming looks, earliest first: of what waits, and of rules with a schedule that have visited the item before. */
  readonly looks: readonly ComingLook[];
  /** Whether all stored runs were searched. */
  readonly isWhole: boolean;
};

type AboutStore = StoreQueries & Pick<Store, 'listQueues' | 'listPauses' | 'recall'>;

/** Maximum number of pages of runs that are searched. */
const maxSearches = 40;
const waitingStates = ['claimed', 'accepted', 'retry', 'deferred'] as const;

/**
 * Returns what is stored about an issue or pull request, without requests to the forge. `schedules` are those of the
 * operator's rules; schedules of other rules are read from the store.
 */
export async function readAboutItem(
  asked: NumberedItem,
  {
    store,
    schedules,
    now,
  }: { readonly store: AboutStore; readonly schedules: readonly Scheduled[]; readonly now: Date },
): Promise<AboutItem> {
  const known = await findStoredRepository(asked.repository, store);
  const { repositoryId, repository } = known ?? { repositoryId: undefined, repository: asked.repository };
  const item = { repository, index: asked.index };
  const { runs, isWhole } = await findRuns(item, repositoryId, store);
  const waiting =
    repositoryId === undefined ? [] : await findWaiting(`${repositoryId}#${item.index}`, repositoryId, store);
  const queues = repositoryId === undefined ? [] : await findPlaces(item.index, repositoryId, store);
  const looks: ComingLook[] = waiting.map(({ id, retryAt }) => ({
    at: retryAt ?? now,
    by: { delivery: id },
  }));
  const visited = new Set(
    runs
      .filter(({ trigger }) => trigger.kind === 'schedule')
      .flatMap(({ rules }) => rules.map(({ rule }) => rule)),
  );
  for (const { id, schedule } of [...schedules, ...(await readScheduleList(store))]) {
    const at = visited.has(id) ? createCron(schedule).next(now) : undefined;
    if (at !== undefined) looks.push({ at, by: { rule: id } });
  }
  looks.sort((a, b) => a.at.getTime() - b.at.getTime());
  return { item, repositoryId, runs, waiting, queues, looks, isWhole };
}

/** Returns the id and the stored name of a repository, from the newest delivery about it. */
export async function findStoredRepository(
  name: string,
  store: Pick<StoreQueries, 'listDeliveries'>,
): Promise<{ readonly repositoryId: number; readonly repository: string } | undefined> {
  for (let before: string | undefined; ; ) {
    const page = await store.listDeliveries({ search: name, limit: 500, ...(before ? { before } : {}) });
    for (const { repository, repositoryId, summary } of page.items) {
      // An event that was found by reading the forge has the name in its summary alone.
      const stored = repository ?? summary?.item?.replace(/#\d+$/, '');
      if (repositoryId !== undefined && stored?.toLowerCase() === name.toLowerCase())
        return { repositoryId, repository: stored };
    }
    if (page.next === undefined) return undefined;
    before = page.next;
  }
}

async function findRuns(
  { repository, index }: NumberedItem,
  repositoryId: number | undefined,
  store: StoreQueries,
): Promise<{ runs: readonly Run[]; isWhole: boolean }> {
  const name = `${repository}#${index}`;
  // Without a stored delivery there is no id, but a sweep may have visited the repository.
  const lane = repositoryId === undefined ? '' : `${repositoryId}#${index}`;
  const runs: Run[] = [];
  let before: string | undefined;
  for (let searches = 0; searches < maxSearches; searches += 1) {
    const page = await store.listRuns({
      item: { name, lane },
      limit: 500,
      ...(repositoryId === undefined ? {} : { repositoryId }),
      ...(before === undefined ? {} : { before }),
    });
    // A delivery about one item may start runs of rules about another.
    runs.push(
      ...page.items.filter(
        ({ trigger: { item } }) => item === undefined || item.toLowerCase() === name.toLowerCase(),
      ),
    );
    if (page.next === undefined) return { runs, isWhole: true };
    before = page.next;
  }
  return { runs, isWhole: false };
}

async function findWaiting(
  lane: string,
  repositoryId: number,
  store: StoreQueries,
): Promise<readonly Delivery[]> {
  const found: Delivery[] = [];
  for (const state of waitingStates) {
    for (let before: string | undefined; ; ) {
      const page = await store.listDeliveries({
        repositoryId,
        state,
        limit: 500,
        ...(before ? { before } : {}),
      });
      found.push(...page.items.filter((one) => one.lane === lane));
      if (page.next === undefined) break;
      before = page.next;
    }
  }
  return found;
}

async function findPlaces(
  index: number,
  repositoryId: number,
  store: Pick<Store, 'listQueues' | 'listPauses'>,
): Promise<readonly QueuePlace[]> {
  const rows = await store.listQueues({ repositoryId });
  const pauses = rows.length > 0 ? await store.listPauses() : [];
  return rows.flatMap((row) => {
    const { repository, base, paused, blocked, entries } = describeQueue(row, pauses);
    const entry = entries.find(({ number }) => number === index);
    return entry === undefined ? [] : [{ repository, base, paused, blocked, ...entry }];
  });
}
