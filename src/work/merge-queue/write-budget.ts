import { mergeQueueKind } from '../../actions/queue-desk.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Store } from '../../store/store.ts';

/** Hourly write limit of the queues of one repository. This budget is separate from that of rules. */
const writesPerHour = 2_000;
const hourMs = 3_600_000;
/** Page size of runs, and maximum number of pages of the last hour that are counted after a start. */
const pageSize = 500;
const maxPages = 20;

/** Key prefix of the writes in a shared store. Each value has an instant `at`, which is that of the last write. */
export const queueWritesPrefix = 'queue writes ';
/** Time for which such a value is kept after its `at`. */
export const queueWritesKeptMs = hourMs;

/** Recent writes of the queues of each repository. */
export interface WriteBudget {
  /** Returns the time until the next write is allowed; 0 if it is allowed now. */
  waitMs(repositoryId: number): Promise<number>;
  /** Records a write that is about to be sent. */
  note(repositoryId: number): Promise<void>;
}

/** Dependencies of the budget. */
type BudgetParts = { readonly store: Store; readonly clock: Clock };

/**
 * Creates the budget. It is counted from the stored runs when a repository is first used, so that a restart resets
 * nothing. From then on, it is kept in memory or, if processes share the store, in the store.
 */
export function createWriteBudget(parts: BudgetParts): WriteBudget {
  return parts.store.isShared ? createSharedBudget(parts) : createBudgetInMemory(parts);
}

/** Returns the ages of the writes of the last hour, oldest first. */
async function loadAges(repositoryId: number, store: Store, nowMs: number): Promise<readonly number[]> {
  const found: number[] = [];
  for (let before: string | undefined, page = 0; page < maxPages; page += 1) {
    const query = { repositoryId, limit: pageSize, ...(before === undefined ? {} : { before }) };
    const { items, next } = await store.listRuns(query);
    const ages = items.map(({ trigger }) => ({ kind: trigger.kind, ageMs: nowMs - Date.parse(trigger.at) }));
    for (const { kind, ageMs } of ages) {
      // A write dated in the future was made before the clock was set back.
      if (kind === mergeQueueKind && ageMs < hourMs) found.unshift(Math.max(ageMs, 0));
    }
    if (next === undefined || ages.some(({ ageMs }) => ageMs >= hourMs)) break;
    before = next;
  }
  return found;
}

/**
 * Creates a budget that is kept in memory. It uses the monotonic clock, so changes of the wall clock have no effect.
 */
function createBudgetInMemory({ store, clock }: BudgetParts): WriteBudget {
  const written = new Map<number, number[]>();
  const load = async (repositoryId: number): Promise<number[]> => {
    const nowMs = clock.monotonicMs();
    return (await loadAges(repositoryId, store, clock.now().getTime())).map((ageMs) => nowMs - ageMs);
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
    async note(repositoryId) {
      const times = written.get(repositoryId) ?? [];
      times.push(clock.monotonicMs());
      written.set(repositoryId, times);
    },
  };
}

type StoredWrites = { readonly at: string; readonly writtenMs: readonly number[] };

function createSharedBudget({ store, clock }: BudgetParts): WriteBudget {
  const keyOf = (repositoryId: number): string => `${queueWritesPrefix}${repositoryId}`;
  /** Returns the instants of the last hour. Instants ahead of this clock count for an hour from now. */
  const recent = (value: unknown, nowMs: number): readonly number[] | undefined =>
    // Store boundary: only the code here writes the values under these keys.
    (value as StoredWrites | undefined)?.writtenMs
      .map((ms) => Math.min(ms, nowMs))
      .filter((ms) => ms > nowMs - hourMs);
  const read = async (repositoryId: number, nowMs: number): Promise<readonly number[]> => {
    const known = recent(await store.recall(keyOf(repositoryId)), nowMs);
    return known ?? (await loadAges(repositoryId, store, nowMs)).map((ageMs) => nowMs - ageMs);
  };
  return {
    async waitMs(repositoryId) {
      const nowMs = clock.now().getTime();
      const times = await read(repositoryId, nowMs);
      return times.length < writesPerHour ? 0 : (times[0] ?? 0) - (nowMs - hourMs);
    },
    async note(repositoryId) {
      const now = clock.now();
      const counted = await read(repositoryId, now.getTime());
      await store.revise(keyOf(repositoryId), (value) => {
        const writtenMs = [...(recent(value, now.getTime()) ?? counted), now.getTime()];
        return { at: now.toISOString(), writtenMs } satisfies StoredWrites;
      });
    },
  };
}
