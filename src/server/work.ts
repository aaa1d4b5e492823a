import { mergeQueueKind } from '../actions/queue-desk.ts';
import { operations } from '../contract/operations.ts';
import type { Run } from '../engine/record.ts';
import { messageOf, ReeveError } from '../platform/errors.ts';
import type { AdmittedEvent } from '../rules/sources/admission.ts';
import type { HandleJob } from '../store/leases.ts';
import type { Claim } from '../store/store.ts';
import type { BackoffOptions, Ending } from '../work/deliveries/attempt.ts';
import { createWorker, type Worker } from '../work/deliveries/worker.ts';
import { MergeQueues } from '../work/merge-queue/merge-queues.ts';
import type { Reeve } from '../work/reeve.ts';
import { concernedKind, createConcernedPulls } from '../work/runs/concerned-pulls.ts';
import { createDeliveryHandler } from '../work/runs/delivery.ts';
import { createJudgePeers } from '../work/runs/peers.ts';
import type { Preview } from '../work/runs/preview.ts';
import { createRevertHandler, revertKind } from '../work/runs/revert.ts';
import { caughtUpEvent } from '../work/runs/route-delivery.ts';
import { createRunAttempt } from '../work/runs/run-attempt.ts';
import { createLeaveWaiting, createWaitingHandler, waitingKind } from '../work/runs/waiting.ts';
import { Snapshots } from '../work/sweeps/catch-up/snapshots.ts';
import { maintenanceLanes } from '../work/sweeps/schedule/maintenance.ts';
import { Sweeps } from '../work/sweeps/sweeps.ts';

/** What works on what the store holds. */
export type Work = {
  readonly worker: Worker;
  readonly sweeps: Sweeps;
  readonly queues: MergeQueues;
  readonly snapshots: Snapshots;
};

/** How the worker works, beside the bot that it works for. */
export type WorkOptions = {
  readonly preview?: Preview | undefined;
  readonly backoff?: BackoffOptions | undefined;
  readonly pollMs?: number | undefined;
  /** Deliveries handled at once. */
  readonly concurrency?: number | undefined;
  /** Returns how many answers the forge has given so far; default: every attempt counts as answered. */
  readonly answers?: (() => number) | undefined;
  /** Called with runs that were stored, and the repository whose event or item they are about. */
  readonly onRecorded?: (runs: readonly Run[], repositoryId: number | undefined) => void;
  /** Called with the end of an attempt that was stored. */
  readonly onEnded?: (claim: Claim, ending: Ending) => void;
};

/** Puts the handlers of deliveries and jobs together, and the worker that takes both from the store. At rest. */
export function createWork(reeve: Reeve, options: WorkOptions): Work {
  const { store, client, clock, log } = reeve;
  // The smallest question that needs the credential, the database of the forge, and no right.
  const prober = client.counted({ tries: 1 });
  const askWhoWeAre = (): Promise<unknown> => prober.call(operations.getSelf, {});
  const queues = new MergeQueues(reeve);
  const snapshots = new Snapshots(store, clock);

  // 1. Deliveries, and what goes on with what they began.
  const leaveWaiting = createLeaveWaiting(reeve);
  const attempt = createRunAttempt(reeve);
  const concerned = createConcernedPulls(reeve, { attempt, leaveWaiting });
  const handle = createDeliveryHandler(reeve, {
    attempt,
    concerned,
    leaveWaiting,
    judgePeers: createJudgePeers(reeve, leaveWaiting),
    preview: options.preview,
    async onHandled(event) {
      await noteHandled(event, snapshots, reeve);
      await queues.wakeFor(event);
    },
  });
  // 2. What is due by the clock.
  const sweeps = new Sweeps(reeve, { snapshots, leaveWaiting, askWhoWeAre });
  // 3. Every kind of job of our own.
  const jobs = new Map<string, HandleJob>([
    ...Object.entries(sweeps.jobHandlers),
    ['caught-up', async (job, payload, lease) => handle(job, caughtUpEvent(payload), lease)],
    [concernedKind, concerned.handleJob],
    [waitingKind, createWaitingHandler(reeve, attempt)],
    [revertKind, createRevertHandler(reeve, (run) => queues.leaveReverted(run))],
    [mergeQueueKind, queues.handleJob],
  ]);
  const worker = createWorker({
    store,
    handle,
    async handleJob(job, payload, lease) {
      const handleKind = jobs.get(job.eventType);
      if (handleKind === undefined)
        throw new ReeveError('internal', `there is no handler for jobs of kind ${job.eventType}`);
      return handleKind(job, payload, lease);
    },
    log,
    clock,
    concurrency: options.concurrency,
    answers: options.answers,
    probe: askWhoWeAre,
    localLanes: maintenanceLanes,
    backoff: options.backoff,
    pollMs: options.pollMs,
    onRecorded: options.onRecorded,
    onEnded: options.onEnded,
  });
  return { worker, sweeps, queues, snapshots };
}

/**
 * Notes an event for the snapshots of catching up. An event whose note cannot be stored may be found again, which changes
 * nothing; a delivery that failed for it would be handled again, and its run would not be recorded.
 */
async function noteHandled(event: AdmittedEvent, snapshots: Snapshots, { log }: Reeve): Promise<void> {
  try {
    await snapshots.note(event);
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'a handled event could not be noted for catching up');
  }
}
