import type { DatabaseSync } from 'node:sqlite';
import type { StoreQueries } from '../../store-queries.ts';
import type { Counts } from '../counts.ts';
import { createQueries } from '../queries.ts';
import type { StoreContext } from './context.ts';
import type { SettledCount } from './settled-count.ts';

/** Returns the methods of the store that only read. */
export function createQueryMethods(
  database: DatabaseSync,
  options: {
    readonly context: Pick<StoreContext, 'read'>;
    readonly counts: Counts;
    readonly settled: SettledCount;
  },
): StoreQueries {
  const { counts, settled } = options;
  const { read } = options.context;
  const queries = createQueries(database);
  return {
    listDeliveries: async (query = {}) => read(() => queries.listDeliveries(query)),
    readDelivery: async (id) => read(() => queries.readDelivery(id)),
    describeDelivery: async (id) => read(() => queries.describeDelivery(id)),
    readHeaders: async (id) => read(() => queries.readHeaders(id)),
    listRuns: async (query = {}) => read(() => queries.listRuns(query)),
    readRun: async (id) => read(() => queries.readRun(id)),
    readLatestRuns: async (deliveries) => read(() => queries.readLatestRuns(deliveries)),
    counts: async () => read(() => ({ ...counts.countWaiting(), settled: settled.read() })),
    oldestWaiting: async () => read(() => counts.oldestWaiting()),
  };
}
