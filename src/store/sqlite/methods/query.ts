import type { DatabaseSync } from 'node:sqlite';
import type { Store } from '../../store.ts';
import type { Counts } from '../counts.ts';
import { createReadings } from '../queries.ts';
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
): Pick<
  Store,
  'listDeliveries' | 'readDelivery' | 'describeDelivery' | 'listRuns' | 'readRun' | 'counts' | 'oldestWaiting'
> {
  const { counts, settled } = options;
  const { read } = options.context;
  const readings = createReadings(database);
  return {
    listDeliveries: async (query = {}) => read(() => readings.listDeliveries(query)),
    readDelivery: async (id) => read(() => readings.readDelivery(id)),
    describeDelivery: async (id) => read(() => readings.describeDelivery(id)),
    listRuns: async (query = {}) => read(() => readings.listRuns(query)),
    readRun: async (id) => read(() => readings.readRun(id)),
    counts: async () => read(() => ({ ...counts.countWaiting(), settled: settled.read() })),
    oldestWaiting: async () => read(() => counts.oldestWaiting()),
  };
}
