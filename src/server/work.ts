import { mergeQueueKind } from '../actions/merging/queue-desk.ts';
import type { Account } from '../client/account.ts';
import type { Client } from '../client/client.ts';
import type { Event } from '../contract/events/events.ts';
import { operations } from '../contract/operations.ts';
import type { Consequences } from '../engine/bounds/consequences.ts';
import type { RunSettings } from '../engine/make-run.ts';
import type { Run } from '../engine/record.ts';
import type { RepeatedChoice } from '../engine/repeated.ts';
import type { FactMemory } from '../facts/fact.ts';
import type { Clock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { statusContextsOf } from '../rules/files/warnings.ts';
import type { Admissions } from '../rules/sources/admission.ts';
import { createStoredMemory } from '../store/action-memory.ts';
import type { HandleJob, WorkerStore } from '../store/leases.ts';
import type { Retention } from '../store/prune.ts';
import type { QueueEvent } from '../store/queue-rows.ts';
import type { Store } from '../store/store.ts';
import type { BackoffOptions } from '../work/deliveries/backoff.ts';
import { createWorker, type Worker } from '../work/deliveries/worker.ts';
import { createQueueDesk } from '../work/merge-queue/desk.ts';
import { createEventHandlers, createJobHandler } from '../work/runs/event-handlers.ts';
import { createMergeQueueHandler } from '../work/runs/merge-queue.ts';
import type { Preview } from '../work/runs/preview.ts';
import { readRevertJob, revertKind, revertStored } from '../work/runs/revert.ts';
import { caughtUpEvent } from '../work/runs/route-delivery.ts';
import { leaveReverted, wakeAllQueues, wakeQueues } from '../work/runs/wake-queues.ts';
import { createSnapshots, type Snapshots } from '../work/sweeps/catch-up/snapshots.ts';
import { maintenanceLanes } from '../work/sweeps/schedule/maintenance.ts';
import { createSweeps, type Sweeps } from '../work/sweeps/sweeps.ts';
import type { Activity } from './activity.ts';
import type { Metrics } from './dashboard/metrics/metrics.ts';
import type { RulesInForce } from './rules-in-force.ts';

/** What works on what the store holds. */
export type Work = {
  readonly worker: Worker;
  readonly sweeps: Sweeps;
  /** Lets every merge queue go on where it was. */
  wakeQueues(): Promise<void>;
};

type WorkOptions = {
  readonly client: Client;
  readonly account: () => Promise<Account>;
  readonly whoAmI: () => Promise<string>;
  /** Patterns of served repositories. */
  readonly repositories: readonly string[];
  readonly admissions: Admissions;
  readonly rules: RulesInForce;
  readonly memory: FactMemory;
  readonly store: Store;
  readonly settings: RunSettings;
  readonly consequences: Consequences;
  readonly repeated: RepeatedChoice | undefined;
  readonly preview: Preview | undefined;
  readonly backoff: BackoffOptions | undefined;
  readonly pollMs?: number | undefined;
  /** Deliveries handled at once. */
  readonly concurrency: number;
  readonly retention: Retention | undefined;
  /** Returns how many answers the forge has given so far. */
  readonly answers: () => number;
  readonly metrics: Pick<Metrics, 'countRun' | 'countQueueEvent'>;
  readonly activity: Activity;
  readonly onRun: ((run: Run, event: Event) => void) | undefined;
  readonly onSweepRun: ((run: Run) => void) | undefined;
  readonly clock: Clock;
  readonly log: Log;
};

/** Puts the handlers of deliveries and jobs together, and the worker that takes both from the store. At rest. */
export function createWork(options: WorkOptions): Work {
  const { client, rules, store, clock, log, backoff, concurrency, answers } = options;
  const onEnqueued = (): void => worker.wake();
  const onQueueEvent = (event: QueueEvent): void => options.metrics.countQueueEvent(event);
  const queue = createQueueDesk({ store, now: clock.now, onEnqueued, onEvent: onQueueEvent });
  const isStatusOfOperator = (context: string): boolean =>
    rules.source.operator().some((rule) => statusContextsOf(rule).includes(context));
  const settings = { ...options.settings, queue, isStatusOfOperator };
  const snapshots = createSnapshots(store, clock);
  // The smallest question that needs the credential, the database of the forge, and no right.
  const prober = client.counted({ tries: 1 });
  const askWhoWeAre = (): Promise<unknown> => prober.call(operations.getSelf, {});
  const { handle, jobs, leaveWaiting } = createServerHandlers(
    { ...options, settings },
    { snapshots, onEnqueued },
  );
  const sweeps = createServerSweeps(
    { ...options, settings },
    {
      snapshots,
      askWhoWeAre,
      handleCaughtUp: async (job, payload, lease) => handle(job, caughtUpEvent(payload), lease),
      onEnqueued,
      leaveWaiting,
    },
  );
  /** Every kind of job of our own. */
  const handleJob = createJobHandler({
    ...sweeps.jobHandlers,
    ...jobs,
    [revertKind]: createRevertHandler(options, onEnqueued),
    [mergeQueueKind]: createMergeQueueHandler({
      ...options,
      rules: rules.source,
      onEnqueued,
      onQueueEvent,
      onWrite: options.metrics.countRun,
    }),
  });
  const worker = createWorker({
    store: withReports(store, rules, options.activity),
    handle,
    handleJob,
    log,
    clock,
    concurrency,
    answers,
    probe: askWhoWeAre,
    localLanes: maintenanceLanes,
    backoff,
    pollMs: options.pollMs,
  });
  return { worker, sweeps, wakeQueues: () => wakeAllQueues({ store, clock, onEnqueued }) };
}

function createServerHandlers(
  options: WorkOptions,
  { snapshots, onEnqueued }: { readonly snapshots: Snapshots; readonly onEnqueued: () => void },
): ReturnType<typeof createEventHandlers> {
  const { client, account, admissions, memory, store, settings, preview, metrics, clock, log } = options;
  return createEventHandlers({
    client,
    consequences: options.consequences,
    account,
    admissions,
    rules: options.rules.source,
    memory,
    store,
    clock,
    settings,
    preview,
    repeated: options.repeated,
    lifetimeMs: options.backoff?.lifetimeMs,
    onEnqueued,
    async onHandled(event) {
      await noteHandled(event, snapshots, log);
      await wakeQueues(event, { store, clock, account, onEnqueued });
    },
    onRun(run, event) {
      metrics.countRun(run);
      options.onRun?.(run, event);
    },
  });
}

/**
 * Notes an event for the snapshots of catching up. An event whose note cannot be stored may be found again, which changes
 * nothing; a delivery that failed for it would be handled again, and its run would not be recorded.
 */
async function noteHandled(event: Event, snapshots: Pick<Snapshots, 'note'>, log: Log): Promise<void> {
  try {
    await snapshots.note(event);
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'a handled event could not be noted for catching up');
  }
}

function createServerSweeps(
  options: WorkOptions,
  parts: Pick<
    Parameters<typeof createSweeps>[0],
    'snapshots' | 'askWhoWeAre' | 'handleCaughtUp' | 'onEnqueued' | 'leaveWaiting'
  >,
): Sweeps {
  const { client, account, rules, memory, store, settings, metrics, clock, log } = options;
  return createSweeps({
    ...parts,
    client,
    account,
    memory,
    store,
    clock,
    log,
    settings,
    rules: { operator: rules.source.operator, everyRule: rules.everyRule },
    served: { login: options.whoAmI, listed: options.repositories },
    actionMemory: createStoredMemory(store),
    retention: options.retention,
    lifetimeMs: options.backoff?.lifetimeMs,
    onRun(run) {
      metrics.countRun(run);
      options.activity.countSweepRun(run);
      options.onSweepRun?.(run);
    },
  });
}

/** Returns the handler of the job that takes a run back. What it let into a merge queue leaves it. */
function createRevertHandler(
  { store, client, clock, metrics }: WorkOptions,
  onEnqueued: () => void,
): HandleJob {
  return async (_job, payload, { signal }) => {
    const asked = readRevertJob(payload);
    const run = await revertStored(asked, { store, client, mode: 'enforce', clock, signal });
    metrics.countRun(run);
    await leaveReverted(run, { store, clock, onEnqueued });
    return { runs: [run] };
  };
}

/** Returns the store for the worker; once runs are stored, they are counted, and repositories whose own rules they evaluated are reported on. */
function withReports(
  store: Store,
  rules: Pick<RulesInForce, 'refreshReport'>,
  activity: Pick<Activity, 'countHandled' | 'countDead'>,
): WorkerStore {
  const report = (runs: readonly Run[], repositoryId: number | undefined): void => {
    const isOwn = runs.some((run) =>
      run.rules.some(({ level, verdict }) => level === 'repository' && verdict !== 'skipped'),
    );
    if (isOwn && repositoryId !== undefined) rules.refreshReport(repositoryId);
  };
  return {
    ...store,
    async settle(claim, runs, reason) {
      await store.settle(claim, runs, reason);
      report(runs, claim.repositoryId);
      activity.countHandled(claim, runs);
    },
    async bury(claim, reason, runs) {
      await store.bury(claim, reason, runs);
      activity.countDead(claim);
    },
    async advance(claim, part) {
      await store.advance(claim, part);
      report(part.runs, part.repositoryId ?? claim.repositoryId);
    },
  };
}
