import type { QueueDesk } from '../actions/queue-desk.ts';
import { createNamedSecrets } from '../actions/secrets.ts';
import type { Client, OnWrite } from '../client/client.ts';
import type { SignedIn } from '../client/credentials.ts';
import type { SignInApplication } from '../client/oauth2.ts';
import type { Event } from '../contract/events/events.ts';
import { confirmAccounts } from '../engine/bounds/accounts.ts';
import { Consequences } from '../engine/bounds/consequences.ts';
import { type OwnEvents, OwnWrites } from '../engine/bounds/own-writes.ts';
import type { RepeatedChoice } from '../engine/bounds/refusals.ts';
import type { Budgets } from '../engine/budget/budgets.ts';
import { createBudgetLedger } from '../engine/budget/ledger.ts';
import { standardDeliveryLifetimeMs } from '../engine/limits.ts';
import type { Run } from '../engine/record.ts';
import type { RunSettings } from '../engine/run-context.ts';
import { createFactMemory } from '../facts/ask.ts';
import { BoundedMap } from '../platform/cache/bounded-map.ts';
import { memoize } from '../platform/cache/caches.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import { ReeveError } from '../platform/errors.ts';
import { createMessageSender } from '../platform/http/message-sender.ts';
import type { Log } from '../platform/log.ts';
import { statusContextsOf } from '../rules/files/warnings.ts';
import { createAdmissions, createEnrolment, createIdentities } from '../rules/sources/admission.ts';
import type { Grant } from '../rules/sources/grants.ts';
import type { OrganizationSource } from '../rules/sources/organization.ts';
import type { ReportProblems } from '../rules/sources/report.ts';
import { createStoredMemory } from '../store/action-memory.ts';
import { openStoreAt } from '../store/open-store.ts';
import { type Retention, standardRetention } from '../store/prune.ts';
import type { Notice, ServerRole, Store } from '../store/store.ts';
import { type AlarmOptions, alarmJobs, createHeartbeat } from '../work/alarms/alarms.ts';
import type { Heartbeat, HeartbeatSettings } from '../work/alarms/heartbeat.ts';
import type { ReportSettings } from '../work/alarms/weekly-report.ts';
import type { BackoffOptions } from '../work/deliveries/attempt.ts';
import { createQueueDesk, reportQueueEvent } from '../work/merge-queue/merge-queues.ts';
import type { Reeve, WorkMetrics } from '../work/reeve.ts';
import { createPreview } from '../work/runs/preview.ts';
import { everyServed } from '../work/sweeps/targets/repositories.ts';
import { type Activity, startActivity } from './activity.ts';
import { createMetrics, type Metrics } from './dashboard/metrics.ts';
import { createDashboardData } from './dashboard-data.ts';
import { type Doors, openDoors } from './doors.ts';
import { type ForgeLink, openForgeLink } from './forge-link.ts';
import { hookJob } from './hooks/watch.ts';
import { createCoverage, type SecretEntry } from './receiver/secrets.ts';
import { createBarToRename } from './renames.ts';
import type { TestRules } from './rule-coverage.ts';
import { openRules, type RulesInForce } from './rules-in-force.ts';
import { recallServerAccount, rememberServerAccount } from './server-account.ts';
import { secretUsesOf, type WebhookForm } from './settings/operator-file.ts';
import { loadFingerprintKey } from './settings/secrets/installation-secret.ts';
import { rememberSettings } from './settings/settings-in-force.ts';
import { announceDropped, announceForgotten, announceMoves, createNoticeTaker } from './shared-caches.ts';
import { createSimulator } from './simulator.ts';
import { isTestRepository } from './test-repositories.ts';
import { createWork, type Work } from './work.ts';

export type ServerOptions = {
  readonly forge: SignedIn;
  /** Entries validated by `examineSecrets`. */
  readonly secrets: readonly SecretEntry[];
  /** Folder of all persistent data. */
  readonly data: string;
  /** Connection string of the PostgreSQL store; absent: the store is a file in the folder. */
  readonly databaseUrl?: string | undefined;
  /** Folder of the operator's rules; absent: none. */
  readonly rules?: string | undefined;
  /** Patterns of served repositories, in addition to the starred ones. */
  readonly repositories: readonly string[];
  readonly allowAdmin: boolean;
  /** Organizations with their own rules; default: none. */
  readonly organizations?: readonly OrganizationSource[];
  /** Permissions of repository and organization files beyond the default set; default: none. */
  readonly grants?: readonly Grant[];
  /** Maximum numbers of changes; default: the engine's. */
  readonly budgets?: Budgets;
  /** Whether the rule files of pull requests that change them are checked; default: no. */
  readonly preview?: boolean;
  /** How unusable rule files are reported in repositories; default: by status. */
  readonly reportProblems?: ReportProblems;
  /** Which events of Reeve's account trigger nothing; default: those that its own changes cause. */
  readonly own?: OwnEvents;
  /** How to handle a delivery that repeats an earlier one; default: it runs. */
  readonly repeated?: RepeatedChoice;
  /** Named secrets for operator rules; default: none. */
  readonly namedSecrets?: ReadonlyMap<string, string>;
  /** Hosts that may receive messages although they are not public or have no TLS; default: none. */
  readonly notifyHosts?: readonly string[];
  /** The address that is called while all is well, and the regular report; default: none. */
  readonly heartbeat?: HeartbeatSettings | undefined;
  readonly report?: ReportSettings | undefined;
  /** Pinned account ids by login; other logins are pinned at first use. Default: none. */
  readonly accounts?: Readonly<Record<string, number>>;
  readonly host: string;
  readonly port: number;
  /** Public URL of the dashboard; default: only this machine's own addresses. */
  readonly dashboard?: string | undefined;
  /** OAuth2 application for sign-in; default: only the password. */
  readonly signIn?: SignInApplication | undefined;
  readonly log: Log;
  /** Aborts startup with `stopped`; once started, the server is stopped by `stop`. */
  readonly signal?: AbortSignal;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Backoff between the attempts of a delivery, and its lifetime; default: the worker's. */
  readonly backoff?: BackoffOptions;
  /** Interval of polling for due retries and for jobs of other processes; default: the worker's, 1 s. */
  readonly pollMs?: number;
  /** Interval in seconds in which the forge is polled for changes; default: webhooks announce them. */
  readonly poll?: number | undefined;
  /** The hooks that the operator file lists; absent: hooks are not examined. */
  readonly webhook?: WebhookForm | undefined;
  /** Number of deliveries handled concurrently, and of concurrent calls to the forge; default: 8. */
  readonly concurrency?: number | undefined;
  /** Largest body of a delivery in bytes; default: the receiver's, 8 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Retention of the history; default: `standardRetention`. */
  readonly retention?: Retention;
  /** Called with every run. */
  readonly onRun?: (run: Run, event: Event) => void;
  /** Runs rule tests for the coverage shown on rule pages; absent: no coverage. */
  readonly testRules?: TestRules;
  /** Role of this process; default: everything. Other roles need `databaseUrl`. */
  readonly role?: ServerRole | undefined;
  /** Whether this process only runs jobs, without receiver, dashboard and schedules. Default: no. */
  readonly jobsOnly?: boolean;
  /** Called with every run for an item of a sweep. */
  readonly onSweepRun?: (run: Run) => void;
};

/** Time for deliveries in progress to finish when the server stops. */
const workGraceMs = 6_000;
/** A running bot. */
export interface Server {
  /** URL of its HTTP server. */
  readonly url: string;
  readonly store: Store;
  /** Resolves with the reason if the store becomes unusable (`store-lost`); deliveries get 503 until `stop`. */
  readonly failed: Promise<ReeveError>;
  /**
   * Stops accepting and claiming work, waits up to 6 s for work in progress, then aborts it and its calls, releases its
   * claims, and closes the store.
   */
  stop(): Promise<void>;
}

/** The started parts; a part that has not started yet is absent. */
type Running = {
  rules?: RulesInForce;
  work?: Work;
  doors?: Doors;
  heartbeat?: Heartbeat | undefined;
  ownWrites?: OwnWrites;
  takeNotice?: (notice: Notice) => void;
};

/**
 * Starts the bot: forge link, store, rules, worker, doors. This is the only place that combines them; `work.ts` defines
 * what the worker does. An unreachable forge does not prevent the start: deliveries are stored and wait. The same holds
 * for a refused credential if this store has worked before; otherwise `forge-unauthorized` is thrown, so that a first
 * mistake is noticed at once.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { log, data, organizations = [], grants = [] } = options;
  const {
    signal,
    concurrency = 8,
    clock = systemClock,
    role = 'all',
    own = 'changes',
    poll,
    webhook,
  } = options;
  const running: Running = {};
  const wake = (): void => running.work?.worker.wake();

  // 1. The forge, and the store.
  const metrics = createMetrics();
  const onWrite: OnWrite = async (operation, input) => {
    // The record comes first: if it fails, the write is not sent, and no note of it must stay open.
    const ends = [
      await running.ownWrites?.begin(operation, input),
      await running.work?.ownNotes?.onWrite(operation, input),
    ];
    return async (answer, isRefused) => {
      for (const end of ends) await end?.(answer, isRefused);
    };
  };
  const link = await openForgeLink({ ...options, own, onWrite, metrics, signal, concurrency, clock });
  const { client, login } = link;
  const lost = Promise.withResolvers<ReeveError>();
  const store = await openStoreAt(options, {
    role,
    isAlone: options.jobsOnly,
    clock,
    onLost: lost.resolve,
    onWork: wake,
    onNotice: (notice) => running.takeNotice?.(notice),
    onTakeover(deliveries) {
      metrics.countTakeover(deliveries);
      log.warn({ deliveries }, 'took over deliveries of a process that died');
    },
  });
  /** The account, which is also remembered if the forge did not confirm it before the start. */
  const account = memoize(async () => {
    const found = await link.account();
    if (link.greeted === undefined && !options.jobsOnly) await rememberServerAccount(store, found);
    return found;
  });
  const activity = startActivity({ store, clock, log });
  const stop = async (): Promise<void> => {
    const { doors, work, rules, heartbeat } = running;
    await inTurn([
      async () => heartbeat?.stop(),
      () =>
        allSettledOrThrow([
          doors?.close(),
          work?.sweeps.scheduler.stop(),
          work?.poller?.stop(),
          work?.worker.stop({ graceMs: workGraceMs }),
        ]),
      async () => link.halt(new ReeveError('stopped', 'the process is stopping')),
      async () => work?.sweeps.stop(),
      async () => rules?.stop(),
      () => activity.stop(),
      async () => running.ownWrites?.close(),
      () => store.close(),
    ]);
  };

  try {
    await checkGreeting(link, store, options);
    const actionMemory = createStoredMemory(store);
    // Events that are found by reading may name no account, so that only the record tells Reeve's own.
    running.ownWrites = await OwnWrites.open(store, clock);
    await confirmAccounts(actionMemory, options.accounts ?? {}, clock.now());
    if (!options.jobsOnly)
      await rememberSettings(store, options, await loadFingerprintKey(data, { store, log }));
    // 2. The rules in force.
    const served = createEnrolment({ client, login, listed: options.repositories, clock });
    const rules = await openRules({
      folder: options.rules,
      client,
      served,
      everyServed: () => everyServed(client, { login, listed: options.repositories }),
      organizations,
      grants,
      store,
      clock,
      log,
      reportProblems: options.reportProblems ?? 'status',
      isPolled: options.poll !== undefined,
      testRules: options.testRules,
      onMoved: announceMoves(store),
    });
    running.rules = rules;
    // 3. The bot as its workers use it. Other processes may invalidate its caches.
    const memory = createFactMemory(clock);
    const admissions = createAdmissions({
      identities: createIdentities({ client, clock }),
      served,
      isTest: (repository) => isTestRepository(store, repository),
      coverageOf: createCoverage(options.secrets),
      onRefused: (kind) => metrics.countRefusedDelivery(kind),
    });
    running.takeNotice = createNoticeTaker({ rules: rules.source, admissions, memory });
    const counts = countWith(metrics, activity, options);
    const queue = createQueueDesk({
      store,
      now: () => clock.now(),
      wake,
      onEvent: (event) => reportQueueEvent(event, { metrics: counts, log }),
    });
    const reeve: Reeve = {
      ...(await runSettings(options, { client, store, clock, queue, rules })),
      client,
      account,
      clock,
      log,
      memory: announceDropped(memory, store),
      actionMemory,
      ownWrites: own === 'changes' ? running.ownWrites : undefined,
      polledWrites: running.ownWrites,
      store,
      admissions: announceForgotten(admissions, store),
      rules: rules.source,
      everyRule: () => rules.everyRule(),
      served: { login, listed: options.repositories },
      metrics: counts,
      lifetimeMs: options.backoff?.lifetimeMs ?? standardDeliveryLifetimeMs,
      repeated: options.repeated,
      retention: options.retention ?? standardRetention,
      wake,
    };
    // 4. The worker and its handlers.
    const logFailed = createFailureLog(log);
    const { namedSecrets = new Map<string, string>(), notifyHosts: hosts = [], heartbeat, report } = options;
    const alarms: AlarmOptions = {
      ...{ hosts, heartbeat, report },
      secrets: namedSecrets,
      uses: secretUsesOf({ heartbeat, report }),
      send: createMessageSender({ hosts }),
      forge: () => link.state(running.work?.worker.status().forge ?? { state: 'ok' }),
    };
    const work = createWork(reeve, {
      jobs: {
        ...alarmJobs(reeve, alarms),
        ...(webhook && poll === undefined && { hooks: hookJob({ webhook, client, login, store }) }),
      },
      preview: options.preview ? createPreview({ ...reeve, memory }, { grants, organizations }) : undefined,
      backoff: options.backoff,
      pollMs: options.pollMs,
      pollSeconds: poll,
      concurrency,
      answers: link.answers,
      onRecorded(runs, repositoryId) {
        reportOn(runs, repositoryId, rules);
        logFailed(runs);
      },
      onEnded(claim, ending) {
        if (ending.how === 'dead') logFailed(ending.runs ?? []);
        if (ending.how === 'settled') activity.countHandled(claim, ending.runs);
        if (ending.how === 'dead') activity.countDead(claim);
      },
    });
    running.work = work;
    // 5. The doors.
    if (!options.jobsOnly) {
      const { worker, sweeps } = work;
      running.doors = await openDoors({
        ...options,
        store,
        metrics,
        activity,
        dashboardData: createDashboardData(reeve, {
          folder: options.rules,
          scheduler: sweeps.scheduler,
          refusals: () => metrics.refusals(),
          forge: () => link.state(worker.status().forge),
          forgeUrl: options.forge.url,
          coverage: rules.coverage,
        }),
        isPublic: role !== 'worker',
        clock,
        // A store that announces new work wakes the worker itself, and does so earlier.
        wake: store.onCommitted === undefined ? () => worker.wake() : () => {},
        simulate: createSimulator(reeve, { organizations, grants, isServed: (at) => served.has(at) }),
        forgeUrl: options.forge.url,
      });
    }
    const { url = '', passwordFile } = running.doors ?? {};
    if (role !== 'web') {
      work.worker.start();
      await work.queues.wakeAll();
      if (!options.jobsOnly) {
        await work.sweeps.start();
        running.heartbeat = createHeartbeat(reeve, alarms);
        running.heartbeat?.start();
      }
    }
    if (running.doors) rules.coverage?.start();
    log.info({ url, data, role: role === 'all' ? undefined : role, passwordFile }, 'listening');
    return { url, store, stop, failed: lost.promise };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    link.ignoreSignal();
  }
}

/**
 * Remembers the account that the forge has confirmed. After a refusal of the credential, throws it if this store has
 * never worked, or if this process does not receive or handle deliveries; otherwise logs the remedy.
 */
async function checkGreeting(
  { refusal, greeted, expect }: ForgeLink,
  store: Store,
  { forge, jobsOnly, log }: ServerOptions,
): Promise<void> {
  const remembered = await recallServerAccount(store);
  expect(greeted ?? remembered);
  // A command beside the server may have another token.
  if (greeted !== undefined && !jobsOnly) await rememberServerAccount(store, greeted);
  if (refusal === undefined) return;
  const hasWorked =
    remembered !== undefined || Object.values(await store.counts()).some((number) => number > 0);
  if (jobsOnly || !hasWorked) throw refusal;
  const remedy = forge.readCredentials
    ? 'write a new token to the token file; it is used without a restart'
    : 'set FORGE_TOKEN to a new token and restart';
  log.error(
    { error: refusal.message, remedy },
    'the forge refuses the token; deliveries are stored until it accepts a new one',
  );
}

/** Returns the context common to all runs of this process. */
async function runSettings(
  options: ServerOptions,
  {
    client,
    store,
    clock,
    queue,
    rules,
  }: {
    readonly client: Client;
    readonly store: Store;
    readonly clock: Clock;
    readonly queue: QueueDesk;
    readonly rules: RulesInForce;
  },
): Promise<RunSettings> {
  const { budgets, namedSecrets = new Map(), notifyHosts: hosts = [], data, log } = options;
  return {
    ledger: createBudgetLedger({
      now: () => clock.now(),
      store,
      readRuns: (repositoryId, before) =>
        store.listRuns({ repositoryId, limit: 100, ...(before === undefined ? {} : { before }) }),
    }),
    pauses: () => store.listPauses(),
    budgets,
    secrets: createNamedSecrets(namedSecrets, await loadFingerprintKey(data, { store, log })),
    messages: createMessageSender({ hosts }),
    capabilities: () => client.capabilities(),
    consequences: new Consequences(store, clock),
    queue,
    isStatusOfOperator: (context) =>
      rules.source.operator().some((rule) => statusContextsOf(rule).includes(context)),
    barToRename: createBarToRename(options, (owner) => rules.source.rulesAbove(owner)),
  };
}

/**
 * Returns the functions that report runs and queue events to the metrics, the charts and the callbacks of the options.
 */
function countWith(metrics: Metrics, activity: Activity, { onRun, onSweepRun }: ServerOptions): WorkMetrics {
  return {
    countRun(run, event) {
      metrics.countRun(run);
      activity.countRun(run);
      if (event) onRun?.(run, event);
    },
    countSweepRun(run) {
      metrics.countRun(run);
      activity.countRun(run);
      activity.countSweepRun(run);
      onSweepRun?.(run);
    },
    countQueueEvent: (event) => metrics.countQueueEvent(event),
  };
}

/** Number of runs whose failures are remembered, so that a repeated record of a run is not logged again. */
const maxLoggedRuns = 1_000;

/**
 * Returns a function that logs one line for each recorded run with changes that failed, for example because the forge
 * refused them. Attempts that are retried record no run. The errors contain no secrets, because runs contain none.
 */
function createFailureLog(log: Log): (runs: readonly Run[]) => void {
  const logged = new BoundedMap<string, true>(maxLoggedRuns);
  return (runs) => {
    for (const { id, trigger, changes, outcomes, forgeRequests = [] } of runs) {
      const failed = outcomes.filter(({ status }) => status === 'failed');
      const [first] = failed;
      if (first === undefined || logged.has(id)) continue;
      logged.set(id, true);
      const change = changes.find((one) => one.id === first.change);
      const answer = forgeRequests.find(
        ({ method, status = 0 }) => method === change?.method && status >= 400,
      );
      const about = {
        run: id,
        delivery: trigger.delivery,
        rules: change?.rules,
        action: change?.action,
        item: trigger.item ?? change?.path,
        status: answer?.status,
        error: first.error,
        more: failed.length > 1 ? failed.length - 1 : undefined,
      };
      log.warn(about, 'a change failed');
    }
  };
}

/** Refreshes the report of a repository whose own rules were evaluated. */
function reportOn(runs: readonly Run[], repositoryId: number | undefined, rules: RulesInForce): void {
  const isOwn = runs.some((run) =>
    run.rules.some(({ level, verdict }) => level === 'repository' && verdict !== 'skipped'),
  );
  if (isOwn && repositoryId !== undefined) rules.refreshReport(repositoryId);
}

/** Runs all steps in order, even after a failure, and then throws the first error, if any. */
async function inTurn(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) await step().catch((error) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}

/** Waits for all promises, and then throws the first error, if any. */
async function allSettledOrThrow(promises: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  const failed = (await Promise.allSettled(promises)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
