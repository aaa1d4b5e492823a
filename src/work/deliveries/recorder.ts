import { messageOf, ReeveError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { WorkerStore } from '../../store/leases.ts';
import type { Claim } from '../../store/store.ts';
import type { Ending } from './ending.ts';
import type { Sleep } from './timer.ts';

/** Records the ending of an attempt in the store. */
type RecordEnding = (claim: Claim, ending: Ending, signal: AbortSignal) => Promise<void>;

/**
 * Creates the recorder. While the disk refuses writes, it retries: completed work must not be repeated. It
 * gives up when the process stops, or the signal is aborted.
 */
export function createRecorder(options: {
  readonly store: Pick<WorkerStore, 'settle' | 'retry' | 'defer' | 'bury' | 'release'>;
  readonly sleep: Sleep;
  readonly stopping: AbortSignal;
  readonly log: Log;
}): RecordEnding {
  const { store, sleep, stopping, log } = options;

  const write = async (claim: Claim, ending: Ending): Promise<void> => {
    if (ending.how === 'settled') return store.settle(claim, ending.runs, ending.reason);
    if (ending.how === 'retry') return store.retry(claim, ending);
    if (ending.how === 'deferred') return store.defer(claim, ending.runs, ending.deferral);
    if (ending.how === 'dead') return store.bury(claim, ending.reason, ending.runs);
    if (ending.how === 'released') return store.release(claim);
  };

  const logEnding = ({ id, eventType, attempts, entry, repository }: Claim, ending: Ending): void => {
    const about = { delivery: id, eventType, attempts };
    if (ending.how === 'settled') log.debug(about, 'settled');
    else if (ending.how === 'deferred') {
      const { why, afterMs } = ending.deferral;
      log.info({ ...about, repository, why, seconds: Math.ceil(afterMs / 1_000) }, 'a run is deferred');
    } else log.warn({ ...about, entry, ...ending, runs: undefined }, `a delivery is ${ending.how}`);
  };

  return async (claim, ending, signal) => {
    for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, 30_000)) {
      try {
        await write(claim, ending);
        logEnding(claim, ending);
        return;
      } catch (error) {
        const mayPass = error instanceof ReeveError && error.code === 'store-unwritable' && !stopping.aborted;
        log.warn(
          { delivery: claim.id, error: messageOf(error) },
          `could not record that it was ${ending.how}`,
        );
        if (!mayPass) return;
        await sleep(waitMs, signal);
        if (signal.aborted) return;
      }
    }
  };
}
