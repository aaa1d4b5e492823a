import { mergeQueueKind } from '../actions/merging/queue-desk.ts';
import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';

/** Writes of the queues of one repository in an hour: their own budget, beside that of rules. */
const writesPerHour = 2_000;
const hourMs = 3_600_000;
/** Runs of a page, and pages of the last hour that are counted after a start. */
const pageSize = 500;
const maxPages = 20;

/** What the queues of each repository have written of late. */
export interface WriteBudget {
  /** Returns the time until the next write may be sent; 0: now. */
  waitMs(repositoryId: number): Promise<number>;
  /** Notes a write that is about to be sent. */
  note(repositoryId: number): void;
}

/**
 * Creates the budget. It is counted from the stored runs when a repository is first seen, so that a restart forgives nothing, and in
 * memory from then on.
 */
export function createWriteBudget({
  store,
  clock,
}: {
  readonly store: Pick<Store, 'listRuns'>;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
}): WriteBudget {
  const written = new Map<number, number[]>();

  /** Returns the instants of writes, oldest first, by the monotonic clock. */
  const load = async (repositoryId: number): Promise<number[]> => {
    const found: number[] = [];
    const now = { ms: clock.now().getTime(), monotonicMs: clock.monotonicMs() };
    for (let before: string | undefined, page = 0; page < maxPages; page += 1) {
      const query = { repositoryId, limit: pageSize, ...(before === undefined ? {} : { before }) };
      const { items, next } = await store.listRuns(query);
      const ages = items.map(({ trigger }) => ({
        kind: trigger.kind,
        ageMs: now.ms - Date.parse(trigger.at),
      }));
      for (const { kind, ageMs } of ages) {
        // A write of the future was made before the clock was set back.
        if (kind === mergeQueueKind && ageMs < hourMs) found.unshift(now.monotonicMs - Math.max(ageMs, 0));
      }
      if (next === undefined || ages.some(({ ageMs }) => ageMs >= hourMs)) break;
      before = next;
    }
    return found;
  };

  return {
    async waitMs(repositoryId) {
      const times = written.get(repositoryId) ?? (await load(repositoryId));
      written.set(repositoryId, times);
      const from = clock.monotonicMs() - hourMs;
      while ((times[0] ?? from + 1) <= from) times.shift();
      if (times.length === 0) written.delete(repositoryId);
      return times.length < writesPerHour ? 0 : (times[0] ?? 0) - from;
    },
    note(repositoryId) {
      const times = written.get(repositoryId) ?? [];
      times.push(clock.monotonicMs());
      written.set(repositoryId, times);
    },
  };
}
