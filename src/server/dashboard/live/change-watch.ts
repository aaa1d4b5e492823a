import { messageOf } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import type { DashboardData } from '../data.ts';

/** Notifies listeners that pages may have changed. */
export interface ChangeWatch {
  /** Calls `onChange` after each change until the returned function is called. */
  listen(onChange: () => void): () => void;
  stop(): void;
}

type WatchedData = Pick<DashboardData, 'rules'> & {
  readonly store: Pick<
    DashboardData['store'],
    'counts' | 'listDeliveries' | 'listRuns' | 'listAudit' | 'listPauses' | 'listQueueHistory'
  >;
};

/** Interval of the comparison. All streams of a process share one. */
const pollMs = 2_000;

/**
 * Creates the watch. It compares counts and newest rows in the store, where other processes write too, and reads nothing
 * while there is no listener.
 */
export function createChangeWatch(data: WatchedData, log: Log): ChangeWatch {
  const listeners = new Set<() => void>();
  let seen: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  const look = async (): Promise<void> => {
    try {
      const now = await readMark(data);
      if (seen !== undefined && now !== seen) for (const onChange of listeners) onChange();
      seen = now;
    } catch (error) {
      // The pages themselves say what is wrong with the store.
      log.debug({ error: messageOf(error) }, 'no comparison for live pages');
    }
    // One look at a time, however slow the store is.
    if (listeners.size > 0) timer = setTimeout(look, pollMs).unref();
    else [timer, seen] = [undefined, undefined];
  };

  return {
    listen(onChange) {
      listeners.add(onChange);
      timer ??= setTimeout(look, 0).unref();
      return () => void listeners.delete(onChange);
    },
    stop() {
      listeners.clear();
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** Returns a text that differs when a list begins with another row, or a count is another one. */
async function readMark({ store, rules }: WatchedData): Promise<string> {
  const one = { limit: 1 };
  const { items: deliveries } = await store.listDeliveries(one);
  const { items: runs } = await store.listRuns(one);
  return JSON.stringify([
    await store.counts(),
    deliveries.map(({ id, state }) => [id, state]),
    runs.map(({ id }) => id),
    await store.listAudit(one),
    await store.listPauses(),
    await store.listQueueHistory(one),
    rules().map(({ id, line, mode, coverage }) => [id, line, mode, coverage]),
  ]);
}
