import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { Run } from '../../../engine/record.ts';
import { systemClock } from '../../../platform/clock.ts';
import { ReeveError } from '../../../platform/errors.ts';
import type { Settings } from '../../../server/settings/config.ts';
import type { AuditRows, Store } from '../../../store/store.ts';
import { revertKind, revertStored } from '../../../work/runs/revert.ts';
import { printRun } from '../../output/print-run.ts';
import type { Terminal } from '../../output/terminal.ts';
import { clientOf, openStore } from '../open-store.ts';
import { requireRun } from './find-target.ts';

/**
 * Maximum time to wait for a server to run the job. After that, the command ends with a message, and the job remains.
 */
const patienceMs = 60_000;

/**
 * Reverts the changes of a run that are still in effect. If a server is running, the server writes, because only one
 * process writes to a forge. `target` is the id of the run, the id of its delivery, or `last`. Returns the exit status:
 * 1 if a change was refused or failed.
 */
export async function revert(
  target: string,
  options: { plan?: boolean; json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const id = await findRunId(target, settings);
  const run = options.plan ? await revertHere(id, 'plan', settings) : await revertNow(id, settings);
  if (options.json) terminal.out(JSON.stringify(run));
  else {
    printRun(run, terminal);
    if (run.changes.length > 0)
      terminal.out('The rules stay as they are: the next event may do the same again.');
  }
  return run.refused.length > 0 || run.outcomes.some(({ status }) => status === 'failed') ? 1 : 0;
}

async function findRunId(target: string, settings: Settings): Promise<string> {
  const store = await openStore(settings);
  try {
    return (await requireRun(target, store)).id;
  } finally {
    await store.close();
  }
}

async function revertNow(id: string, settings: Settings): Promise<Run> {
  try {
    return await revertHere(id, 'enforce', settings);
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'store-locked') return revertThere(id, settings);
    throw error;
  }
}

/** Reverts the run in this process. */
async function revertHere(id: string, mode: 'enforce' | 'plan', settings: Settings): Promise<Run> {
  const client = clientOf(settings);
  const store = await openStore(settings, mode === 'plan' ? 'reader' : 'worker');
  try {
    const run = await revertStored(id, { store, client, clock: systemClock }, { mode });
    if (mode === 'enforce') {
      await store.appendRuns([run]);
      await noteRevert(id, store);
    }
    return run;
  } finally {
    await store.close();
  }
}

/** Requests the revert from the running server, and waits for the result. */
async function revertThere(id: string, settings: Settings): Promise<Run> {
  const store = await openStore(settings);
  try {
    await noteRevert(id, store);
    const job = await store.enqueue({
      door: 'cli',
      uuid: randomUUID(),
      kind: revertKind,
      lane: 'revert',
      receivedAt: new Date(),
      payload: { run: id },
    });
    return await waitForRun(job.id, store);
  } finally {
    await store.close();
  }
}

function noteRevert(id: string, store: AuditRows): Promise<void> {
  const by = `${userInfo().username} by reeve revert`;
  return store.noteAudit({ by, action: 'revert', object: `run ${id}` });
}

async function waitForRun(job: string, store: Store): Promise<Run> {
  for (const until = Date.now() + patienceMs; Date.now() < until; await wait(100)) {
    const delivery = await store.readDelivery(job);
    if (delivery?.state === 'dead')
      throw new ReeveError('internal', delivery.reason ?? 'the job was given up');
    if (delivery?.state !== 'settled') continue;
    const [run] = (await store.listRuns({ delivery: job })).items;
    if (run) return run;
  }
  throw new ReeveError(
    'internal',
    `the server has not started the revert yet: see reeve explain ${job} later`,
  );
}
