import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createNamedSecrets } from '../actions/secrets.ts';
import { memoize } from '../cache/memoize.ts';
import { type Account, findAccount } from '../client/account.ts';
import { type Client, type ClientOptions, createClient } from '../client/client.ts';
import type { SignedIn } from '../client/credentials.ts';
import type { SignInApplication } from '../client/oauth2.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Event } from '../contract/events/events.ts';
import { createMetrics } from '../dashboard/metrics/metrics.ts';
import type { Budgets } from '../engine/budget/budgets.ts';
import { createBudgetLedger, type ReadRuns } from '../engine/budget/ledger.ts';
import type { RunSettings } from '../engine/make-run.ts';
import type { Run } from '../engine/record.ts';
import type { RepeatedChoice } from '../engine/repeated.ts';
import { ReeveError } from '../errors.ts';
import { createFactMemory } from '../facts/ask.ts';
import { createPreview } from '../handlers/preview.ts';
import type { Log } from '../log.ts';
import { createCoverage } from '../receiver/scope.ts';
import type { SecretEntry } from '../receiver/secrets.ts';
import { passwordPath } from '../settings/secrets/dashboard-password.ts';
import { loadFingerprintKey } from '../settings/secrets/named-secrets.ts';
import { createAdmissions } from '../sources/admission.ts';
import { createEnrolment } from '../sources/enrolment.ts';
import type { Grant } from '../sources/grants.ts';
import { createIdentities } from '../sources/identity.ts';
import type { OrganizationSource } from '../sources/organization.ts';
import type { ReportProblems } from '../sources/report.ts';
import type { Retention } from '../store/retention-limits.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import type { BackoffOptions } from '../worker/backoff.ts';
import { createDashboardData } from './dashboard-data.ts';
import { type Doors, openDoors } from './doors.ts';
import { createForgeStateReader } from './forge-state.ts';
import { openRules, type RulesInForce } from './rules-in-force.ts';
import { createWork, type Work } from './work.ts';

export type ServerOptions = {
  readonly forge: SignedIn;
  /** Entries that `examineSecrets` found nothing wrong with. */
  readonly secrets: readonly SecretEntry[];
  /** Folder of everything that survives a restart. */
  readonly data: string;
  /** Folder of the operator's rules; absent: there are none. */
  readonly rules?: string | undefined;
  /** Patterns of served repositories, beside the starred ones. */
  readonly repositories: readonly string[];
  readonly allowAdmin: boolean;
  /** Organizations with rules of their own; default: none. */
  readonly organizations?: readonly OrganizationSource[];
  /** What files of repositories and organizations may use beyond the small set; default: nothing more. */
  readonly grants?: readonly Grant[];
  /** How many changes may be made; default: the engine's. */
  readonly budgets?: Budgets;
  /** Check the rule files of pull requests that touch them; default: no. */
  readonly preview?: boolean;
  /** How repositories are told of rule files that cannot be used; default: by status. */
  readonly reportProblems?: ReportProblems;
  /** What becomes of a delivery that repeats an earlier one; default: it runs. */
  readonly repeated?: RepeatedChoice;
  /** Values that rules of the operator may name; default: none. */
  readonly namedSecrets?: ReadonlyMap<string, string>;
  readonly host: string;
  readonly port: number;
  /** Address that people reach the dashboard at; default: this machine's own addresses alone. */
  readonly dashboard?: string | undefined;
  /** The OAuth2 application by which people sign in to it; default: the password alone opens it. */
  readonly signIn?: SignInApplication | undefined;
  readonly log: Log;
  /** Ends the start with `stopped` once it is aborted; a server that has started is stopped by `stop`. */
  readonly signal?: AbortSignal;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Waits between the attempts of a delivery, and its lifetime; default: the worker's. */
  readonly backoff?: BackoffOptions;
  /** Deliveries handled at once, and calls under way at the forge; default: 8. */
  readonly concurrency?: number | undefined;
  /** Largest body of a delivery in bytes; default: the receiver's, 8 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** How long what happened is kept, and how much of it; default: `standardRetention`. */
  readonly retention?: Retention;
  /** Told of every run. */
  readonly onRun?: (run: Run, event: Event) => void;
  /** Does jobs and nothing else: no door is open, and no clock is looked at. Default: no. */
  readonly jobsOnly?: boolean;
  /** Told of every run over an item of a sweep. */
  readonly onSweepRun?: (run: Run) => void;
};

/** Time that deliveries under way have to finish when the server stops. */
const workGraceMs = 6_000;
/** Longest wait for the forge before the receiver listens. */
const greetingMs = 5_000;

/** The bot, running. */
export interface Server {
  /** Where it listens. */
  readonly url: string;
  readonly store: Store;
  /** Resolves with the reason once nothing can be stored any more (`store-lost`); deliveries get 503 until `stop`. */
  readonly failed: Promise<ReeveError>;
  /**
   * Stops accepting and claiming, lets what is being handled finish for 6 s, then ends it and its calls and gives it back,
   * and closes the store.
   */
  stop(): Promise<void>;
}

/**
 * Starts the bot: store, rules, worker, doors. The one place where they are put together. A forge that cannot be reached
 * does not keep it from starting: deliveries are stored and wait.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { log, data, organizations = [], grants = [], repositories, signal, concurrency = 8 } = options;
  const { clock = systemClock } = options;
  const metrics = createMetrics();
  const forgeState = createForgeStateReader(() => clock.now());
  /** Answers of the forge, by which it shows that it works. */
  let answers = 0;
  const onRequest: ClientOptions['onRequest'] = (request) => {
    metrics.countRequest(request);
    forgeState.note(request.status);
    if (request.status !== undefined && request.status < 500 && request.status !== 401) answers += 1;
  };
  /** Ends every call at the forge that is under way. */
  const halt = new AbortController();
  const client = createClient({ ...options.forge, log, onRequest, signal: halt.signal, concurrency });
  const account = memoize(() => findAccount(client, options));
  const haltStart = (): void => halt.abort(signal?.reason);
  signal?.throwIfAborted();
  signal?.addEventListener('abort', haltStart, { once: true });
  const login = await greet(account, log);
  signal?.throwIfAborted();
  const whoAmI = async (): Promise<string> => login ?? (await account()).login;

  const lost = Promise.withResolvers<ReeveError>();
  const path = join(data, 'reeve.db');
  const store = await openSqliteStore({ path, role: 'worker', clock, onLost: lost.resolve });
  let [rules, work, doors]: [RulesInForce?, Work?, Doors?] = [];
  const stop = async (): Promise<void> => {
    const scheduled = work?.sweeps.scheduler.stop();
    await Promise.all([doors?.close(), scheduled, work?.worker.stop({ graceMs: workGraceMs })]);
    halt.abort(new ReeveError('stopped', 'the process is stopping'));
    await work?.sweeps.stop();
    await rules?.stop();
    await store.close();
  };
  try {
    const served = createEnrolment({ client, login: whoAmI, listed: repositories, clock });
    rules = await openRules({
      folder: options.rules,
      client,
      served,
      organizations,
      grants,
      store,
      clock,
      log,
      reportProblems: options.reportProblems ?? 'status',
    });
    const memory = createFactMemory(clock);
    const admissions = createAdmissions({
      identities: createIdentities({ client, clock }),
      served,
      coverageOf: createCoverage(options.secrets),
      onRefused: (kind) => metrics.countRefusedDelivery(kind),
    });
    const looks = { client, account, grants, organizations, store, memory, clock, log };
    work = createWork({
      client,
      account,
      whoAmI,
      repositories,
      memory,
      store,
      metrics,
      clock,
      log,
      admissions,
      rules,
      settings: await runSettings(options, { client, store, clock }),
      repeated: options.repeated,
      preview: options.preview ? createPreview(looks) : undefined,
      backoff: options.backoff,
      concurrency,
      answers: () => answers,
      retention: options.retention,
      onRun: options.onRun,
      onSweepRun: options.onSweepRun,
    });
    const { worker, sweeps } = work;
    if (!options.jobsOnly) {
      const { secrets, host, port, dashboard, signIn, forge } = options;
      const dashboardData = createDashboardData(store, rules.source, {
        clock,
        folder: options.rules,
        sweeps,
        metrics,
        forge: () => forgeState.state(worker.status().forge),
      });
      doors = await openDoors({
        store,
        log,
        metrics,
        dashboardData,
        clock,
        wake: () => worker.wake(),
        data,
        secrets,
        host,
        port,
        dashboard,
        signIn,
        forgeUrl: forge.url,
        maxBodyBytes: options.maxBodyBytes,
      });
    }
    const url = doors?.url ?? '';
    worker.start();
    if (!options.jobsOnly) await sweeps.start();
    log.info({ url, data, ...(doors ? { passwordFile: passwordPath(data) } : {}) }, 'listening');
    return { url, store, stop, failed: lost.promise };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    signal?.removeEventListener('abort', haltStart);
  }
}

/** What every run of this process is given, whatever it is about. */
async function runSettings(
  { budgets, namedSecrets, data }: ServerOptions,
  { client, store, clock }: { client: Client; store: Store; clock: Pick<Clock, 'now'> },
): Promise<RunSettings> {
  const readRuns: ReadRuns = (repositoryId, before) =>
    store.listRuns({ repositoryId, limit: 100, ...(before === undefined ? {} : { before }) });
  return {
    ledger: createBudgetLedger({ now: clock.now, readRuns }),
    budgets,
    secrets: createNamedSecrets(namedSecrets ?? new Map(), await loadFingerprintKey(data)),
    capabilities: () => client.capabilities(),
  };
}

/**
 * Logs the account that Reeve acts as. Returns its name, or undefined where the forge cannot be asked now, or has not
 * answered within 5 s: until the receiver listens, every delivery is lost.
 */
async function greet(account: () => Promise<Account>, log: Log): Promise<string | undefined> {
  const asked = account().then(({ login }) => {
    log.info({ account: login }, `acting as @${login}; events by @${login} trigger nothing`);
    return login;
  });
  const answered = new AbortController();
  const late = sleep(greetingMs, undefined, { signal: answered.signal }).then(() => {
    log.warn({}, 'the forge has not answered yet; deliveries are stored and wait');
    return undefined;
  });
  try {
    return await Promise.race([asked, late]);
  } catch (error) {
    if (!(error instanceof ReeveError) || !error.retryable || error.code === 'stopped') throw error;
    log.warn({ error: error.message }, 'the forge cannot be asked now; deliveries are stored and wait');
    return undefined;
  } finally {
    answered.abort();
    // Nothing waits for the loser of the race; a later call gets the error by asking again.
    for (const lost of [asked, late]) lost.catch(() => {});
  }
}
