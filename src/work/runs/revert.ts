import type { Client } from '../../client/client.ts';
import { makeRevertRun } from '../../engine/make-run.ts';
import type { Run } from '../../engine/record.ts';
import type { Clock } from '../../platform/clock.ts';

import { ReeveError } from '../../platform/errors.ts';
import { createStoredMemory } from '../../store/action-memory.ts';
import type { Store } from '../../store/store.ts';

/** Kind of the job by which a command asks a running server to take a run back. */
export const revertKind = 'revert';

/** What that job carries: the run to take back. */
type RevertJob = { readonly run: string };

/**
 * Takes back the run that a job names and returns what became of it. The same run a second time finds everything changed
 * since, and writes nothing.
 */
export async function revertStored(
  { run: id }: RevertJob,
  options: {
    store: Pick<Store, 'readRun' | 'remember' | 'recall' | 'revise'>;
    client: Client;
    mode: 'enforce' | 'plan';
    clock: Pick<Clock, 'now' | 'monotonicMs'>;
    /** Ends calls under way, and sends no further change, once it is aborted. */
    signal?: AbortSignal;
  },
): Promise<Run> {
  const { store, client, mode, clock, signal } = options;
  const done = await store.readRun(id);
  if (done === undefined) throw new ReeveError('usage', `there is no run "${id}"`);
  return makeRevertRun(done, { facts: { client, signal }, mode, clock, memory: createStoredMemory(store) });
}

/** Reads the payload of a job. It comes from our own store, but perhaps from another version of this program. */
export function readRevertJob(payload: unknown): RevertJob {
  const run = typeof payload === 'object' && payload !== null ? Reflect.get(payload, 'run') : undefined;
  if (typeof run !== 'string') throw new ReeveError('internal', 'the job names no run to take back');
  return { run };
}
