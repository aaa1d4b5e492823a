import type { Store } from './store.ts';

/** The methods of a store that only read deliveries and runs. */
export type StoreQueries = Pick<
  Store,
  | 'listDeliveries'
  | 'readDelivery'
  | 'describeDelivery'
  | 'readHeaders'
  | 'listRuns'
  | 'readRun'
  | 'readLatestRuns'
  | 'counts'
  | 'oldestWaiting'
>;
