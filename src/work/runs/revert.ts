import type { Client } from '../../client/client.ts';
import { makeRevertRun } from '../../engine/make-run.ts';
import type { Run } from '../../engine/record.ts';
import type { Clock } from '../../platform/clock.ts';
import { ReeveError } from '../../platform/errors.ts';
import { createStoredMemory } from '../../store/action-memory.ts';
import type { HandleJob } from '../../store/leases.ts';
import type { Store } from '../../store/store.ts';
import type { Reeve } from '../reeve.ts';

/** Kind of the job that asks a running server to revert a run. The payload names the run. */
export const revertKind = 'revert';

/** Creates the handler of revert jobs. Pull requests that the run added to a merge queue leave the queue. */
export function createRevertHandler(reeve: Reeve, leaveReverted: (run: Run) => Promise<void>): HandleJob {
  return async (_job, payload, { signal }) => {
    // The payload comes from our own store, but possibly from a different version of this program.
    const id = typeof payload === 'object' && payload !== null ? Reflect.get(payload, 'run') : undefined;
    if (typeof id !== 'string') throw new ReeveError('internal', 'the job does not name a run to revert');
    const run = await revertStored(id, reeve, { mode: 'enforce', signal });
    reeve.metrics.countRun(run);
    await leaveReverted(run);
    return { runs: [run] };
  };
}

/**
 * Reverts a stored run and returns the result. A second revert of the same run finds that everything has changed, and
 * writes nothing.
 */
export async function revertStored(
  id: string,
  { store, client, clock }: { readonly store: Store; readonly client: Client; readonly clock: Clock },
  how: { readonly mode: 'enforce' | 'plan'; readonly signal?: AbortSignal },
): Promise<Run> {
  const done = await store.readRun(id);
  if (done === undefined) throw new ReeveError('usage', `there is no run "${id}"`);
  return makeRevertRun(done, { ...how, client, clock, memory: createStoredMemory(store) });
}
