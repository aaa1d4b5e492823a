import { mergeQueueKind } from '../actions/queue-desk.ts';
import type { Client } from '../client/client.ts';
import { isRecord, readMember } from '../contract/events/payload-members.ts';
import { operations } from '../contract/operations.ts';
import type { Run } from '../engine/record.ts';
import { messageOf, ReeveError } from '../platform/errors.ts';
import type { AdmittedEvent } from '../rules/sources/admission.ts';
import type { HandleJob } from '../store/leases.ts';
import { type Claim, foundEventKind } from '../store/store.ts';
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
import { createOwnNotes, type OwnNotes } from '../work/sweeps/catch-up/own-notes.ts';
import { Poller } from '../work/sweeps/catch-up/poll.ts';
import { Snapshots } from '../work/sweeps/catch-up/snapshots.ts';
import type { MaintenanceJob } from '../work/sweeps/schedule/maintenance.ts';
import { Sweeps } from '../work/sweeps/sweeps.ts';

/** Parts that process the stored deliveries and jobs. */
export type Work = {
  readonly worker: Worker;
  readonly sweeps: Sweeps;
  readonly queues: MergeQueues;
  readonly snapshots: Snapshots;
  /** Finds changes in place of webhooks; undefined without polling. */
  readonly poller: Poller | undefined;
  /** Notes Reeve's own writes for polling; undefined without polling. */
  readonly ownNotes: OwnNotes;
};

/** Options of the worker. */
export type WorkOptions = {
  readonly preview?: Preview | undefined;
  readonly backoff?: BackoffOptions | undefined;
  readonly pollMs?: number | undefined;
  /** Interval in seconds in which the forge is polled for changes; absent: webhooks announce them. */
  readonly pollSeconds?: number | undefined;
  /** Number of deliveries handled concurrently. */
  readonly concurrency?: number | undefined;
  /** Returns the number of forge responses so far; default: every attempt counts as answered. */
  readonly answers?: (() => number) | undefined;
  /** Further maintenance jobs, by name. */
  readonly jobs?: Readonly<Record<string, MaintenanceJob>> | undefined;
  /** Called with stored runs and the repository of their event or item. */
  readonly onRecorded?: (runs: readonly Run[], repositoryId: number | undefined) => void;
  /** Called once the ending of an attempt is stored. */
  readonly onEnded?: (claim: Claim, ending: Ending) => void;
};

/**
 * Creates the handlers of deliveries and jobs, and the worker that claims both from the store. The worker is not
 * started.
 */
export function createWork(reeve: Reeve, options: WorkOptions): Work {
  const { store, client, clock, log } = reeve;
  // This is the cheapest request that needs the credential and the forge's database, but no permission.
  const prober = client.counted({ tries: 1 });
  const askWhoWeAre = (): Promise<unknown> => prober.call(operations.getSelf, {});
  const queues = new MergeQueues(reeve);
  const snapshots = new Snapshots(store, clock);
  const { pollSeconds: everySeconds } = options;
  const isPolling = everySeconds !== undefined;
  const ownNotes = createOwnNotes({ client, snapshots, clock, isPolling });
  const poller =
    everySeconds === undefined ? undefined : new Poller(reeve, { snapshots, ownNotes, everySeconds });

  // 1. Deliveries and their follow-up.
  const leaveWaiting = createLeaveWaiting(reeve);
  const runAttempt = createRunAttempt(reeve);
  const attempt: typeof runAttempt = (delivery, event, parts) => {
    ownNotes.know(event.repository);
    return runAttempt(delivery, event, parts);
  };
  const concerned = createConcernedPulls(reeve, { attempt, leaveWaiting });
  const handle = createDeliveryHandler(reeve, {
    attempt,
    concerned,
    leaveWaiting,
    judgePeers: createJudgePeers(reeve, leaveWaiting),
    preview: options.preview,
    async onHandled(event, { isOwn }) {
      await noteHandled(event, { snapshots, isOwn }, reeve);
      await queues.wakeFor(event);
    },
    onPolled: (event) => queues.wakeFor(event),
  });
  // 2. Schedules.
  const sweeps = new Sweeps(reeve, {
    snapshots,
    know: ownNotes.know,
    leaveWaiting,
    askWhoWeAre,
    poller,
    jobs: options.jobs,
  });
  // 3. Internal jobs of all kinds.
  const jobs = new Map<string, HandleJob>([
    ...Object.entries(sweeps.jobHandlers),
    [foundEventKind, async (job, payload, lease) => handle(job, caughtUpEvent(payload), lease)],
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
    localLanes: sweeps.localLanes,
    backoff: options.backoff,
    pollMs: options.pollMs,
    onRecorded: options.onRecorded,
    onEnded: options.onEnded,
  });
  return { worker, sweeps, queues, snapshots, poller, ownNotes };
}

/**
 * Records an event in the snapshots that catch-up compares. If that fails, catch-up may find the event again, which
 * changes nothing; failing the delivery instead would repeat it and lose the record of its run.
 */
async function noteHandled(
  event: AdmittedEvent,
  { snapshots, isOwn }: { readonly snapshots: Snapshots; readonly isOwn: boolean },
  { client, log }: Reeve,
): Promise<void> {
  try {
    await snapshots.note(await withLabels(event, isOwn, client));
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'a handled event could not be recorded for catch-up');
  }
}

/**
 * Returns the event with the labels of its item. Gitea announces replaced labels as an update to no labels. If they are
 * Reeve's own, their response was noted; otherwise they are read.
 */
async function withLabels(event: AdmittedEvent, isOwn: boolean, client: Client): Promise<AdmittedEvent> {
  const { activity, payload, repository, subject } = event;
  const member = isRecord(payload.pull_request) ? 'pull_request' : 'issue';
  const item = payload[member];
  const labels = readMember(item, 'labels');
  if (activity !== 'label_updated' || !isRecord(item) || (Array.isArray(labels) && labels.length > 0))
    return event;
  // Without the activity, the event tells no values.
  if (isOwn || subject?.index === undefined) return { ...event, activity: '' };
  const params = { owner: repository.owner, repo: repository.name, index: subject.index };
  const live = await client.call(operations.getIssue, { params });
  return { ...event, payload: { ...payload, [member]: { ...item, labels: live.labels } } };
}
