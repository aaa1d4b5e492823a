import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type Account, findAccount } from './account.ts';
import { createNamedSecrets } from './actions/secrets.ts';
import { type AppParts, createApp, listen } from './app.ts';
import { createClient } from './client/client.ts';
import type { Credentials } from './client/credentials.ts';
import type { Event } from './contract/events.ts';
import { createMetrics } from './dashboard/metrics.ts';
import { loadDashboardPassword } from './dashboard-password.ts';
import type { Budgets } from './engine/budgets.ts';
import { createLedger, type ReadRuns } from './engine/ledger.ts';
import type { Run } from './engine/record.ts';
import { ReeveError } from './errors.ts';
import { createFactMemory } from './facts/ask.ts';
import { createDeliveryHandler } from './handle-delivery.ts';
import type { Log } from './log.ts';
import { loadFingerprintKey } from './named-secrets.ts';
import { createPreview } from './preview.ts';
import { readingsOf } from './readings.ts';
import type { SecretEntry } from './receiver/secrets.ts';
import { remembering } from './remembering.ts';
import { readRevertJob, revertKind, revertStored } from './revert-job.ts';
import { findRuleFiles } from './sources/folder.ts';
import type { OrganizationSource } from './sources/organization.ts';
import type { Grant } from './sources/powers.ts';
import { createReporter, type ReportProblems } from './sources/report.ts';
import { createRuleSource, type RuleSource } from './sources/rules-for.ts';
import { createServed } from './sources/served.ts';
import { type FolderWatch, watchFolder } from './sources/watch.ts';
import { createStoredMemory } from './store/action-memory.ts';
import { openSqliteStore } from './store/sqlite.ts';
import type { Store } from './store/store.ts';
import { caughtUpEvent } from './sweeps/catch-up.ts';
import { createSeen } from './sweeps/seen.ts';
import { createSweeps } from './sweeps/sweeps.ts';
import type { BackoffOptions } from './worker/backoff.ts';
import { createWorker, type WorkerOptions } from './worker.ts';

export type ServerOptions = {
  readonly forge: { readonly url: string; readonly credentials: Credentials };
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
  /** Values that rules of the operator may name; default: none. */
  readonly namedSecrets?: ReadonlyMap<string, string>;
  readonly host: string;
  readonly port: number;
  readonly log: Log;
  /** Default: the system's clock. */
  readonly clock?: { now(): Date };
  /** Waits between the attempts of a delivery; default: the worker's. */
  readonly backoff?: BackoffOptions;
  /** Told of every run. */
  readonly onRun?: (run: Run, event: Event) => void;
  /** Does jobs and nothing else: no door is open, and no clock is looked at. Default: no. */
  readonly jobsOnly?: boolean;
  /** Told of every run over an item of a sweep. */
  readonly onSweepRun?: (run: Run) => void;
};

/** The bot, running. */
export interface Server {
  /** Where it listens. */
  readonly url: string;
  readonly store: Store;
  /** Stops taking deliveries, finishes what is being handled, closes the store. */
  stop(): Promise<void>;
}

/**
 * Starts the bot: store, receiver, worker. The one place where they are put together. A forge that cannot be reached does
 * not keep it from starting: deliveries are stored and wait.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { log } = options;
  const clock = options.clock ?? { now: () => new Date() };
  const nowMs = (): number => performance.now();
  const metrics = createMetrics();
  const client = createClient({
    ...options.forge,
    log,
    onRequest: (request) => metrics.countRequest(request),
  });
  const account = remembering(() => findAccount(client, options));
  const login = await greet(account, log);

  const store = await openSqliteStore({ path: join(options.data, 'reeve.db'), role: 'worker', clock });
  let watch: FolderWatch | undefined;
  const whoAmI = async () => login ?? (await account()).login;
  try {
    const served = createServed({
      client,
      login: whoAmI,
      listed: options.repositories,
      nowMs,
    });
    const { backoff, budgets, organizations = [], grants = [] } = options;
    const reporter = createReporter({ client, how: options.reportProblems ?? 'status', pins: store, log });
    const { onRead } = reporter;
    const sources = { client, served, organizations, grants, pins: store, nowMs, log, onRead };
    const rules = createRuleSource({ ...sources, operatorRules: [] });
    watch = await putInForce(options.rules, rules, log);
    const memory = createFactMemory(nowMs);
    const readRuns: ReadRuns = (repositoryId, before) =>
      store.listRuns({ repositoryId, limit: 100, ...(before === undefined ? {} : { before }) });
    const settings = {
      ledger: createLedger({ now: clock.now, readRuns }),
      ...(budgets ? { budgets } : {}),
      secrets: createNamedSecrets(options.namedSecrets ?? new Map(), await loadFingerprintKey(options.data)),
      capabilities: () => client.capabilities(),
    };
    const looks = { client, account, served, grants, organizations, store, memory, clock, nowMs, log };
    const handle = createDeliveryHandler({
      client,
      account,
      rules,
      memory,
      store,
      clock,
      nowMs,
      settings,
      ...(options.preview ? { preview: createPreview(looks) } : {}),
      onRun(run, event) {
        metrics.countRun(run);
        options.onRun?.(run, event);
      },
    });
    const seen = createSeen(store, nowMs);
    const sweeps = createSweeps({
      ...{ client, account, memory, store, clock, nowMs, sleep, log, settings, seen },
      served: { login: whoAmI, listed: options.repositories },
      actionMemory: createStoredMemory(store),
      rules,
      handleCaughtUp: async (job, payload) => handle(job, caughtUpEvent(payload)),
      onEnqueued: () => worker.wake(),
      onRun(run) {
        metrics.countRun(run);
        options.onSweepRun?.(run);
      },
    });
    const handleJob: NonNullable<WorkerOptions['handleJob']> = async (job, payload, lease) => {
      if (job.eventType !== revertKind) return sweeps.handleJob(job, payload, lease);
      const run = await revertStored(readRevertJob(payload), {
        ...{ store, client, mode: 'enforce', clock, nowMs },
      });
      metrics.countRun(run);
      return [run];
    };
    const noting: typeof handle = async (delivery, event) => {
      const runs = await handle(delivery, event);
      await seen.note(event);
      return runs;
    };
    const parts = { store, handle: noting, handleJob, log, clock };
    const worker = createWorker({ ...parts, ...(backoff ? { backoff } : {}) });
    const readings = readingsOf(store, rules, { clock, folder: options.rules });
    const onStored = (): void => worker.wake();
    const doors = options.jobsOnly
      ? undefined
      : await openDoors(options, { store, log, metrics, readings, onStored });
    const url = doors?.url ?? '';
    worker.start();
    if (!options.jobsOnly) await sweeps.start();
    log.info({ url, data: options.data }, 'listening');
    return {
      url,
      store,
      async stop() {
        await doors?.app.close();
        await watch?.stop();
        await sweeps.scheduler.stop();
        await worker.stop();
        await sweeps.stop();
        await reporter.idle();
        await store.close();
      },
    };
  } catch (error) {
    await watch?.stop();
    await store.close();
    throw error;
  }
}

type Doors = { readonly app: FastifyInstance; readonly url: string };

async function openDoors(
  { data, secrets, host, port }: ServerOptions,
  parts: Omit<AppParts, 'secrets' | 'password'>,
): Promise<Doors> {
  const app = createApp({ ...parts, secrets, password: await loadDashboardPassword(data) });
  return { app, url: await listen(app, { host, port }) };
}

/** Resolves after that time; rejects at once when the signal is aborted. */
function sleep(ms: number, signal?: AbortSignal): Promise<unknown> {
  return wait(ms, undefined, signal ? { signal } : {});
}

/** Says whom Reeve acts as. Returns its name, or undefined where the forge cannot be asked now. */
async function greet(account: () => Promise<Account>, log: Log): Promise<string | undefined> {
  try {
    const { login } = await account();
    log.info({ account: login }, `acting as @${login}; events by @${login} trigger nothing`);
    return login;
  } catch (error) {
    if (!(error instanceof ReeveError) || !error.retryable) throw error;
    log.warn({ error: error.message }, 'the forge cannot be asked now; deliveries are stored and wait');
    return undefined;
  }
}

/** Puts the operator's rules in force, and those that the folder holds from then on. */
async function putInForce(
  folder: string | undefined,
  rules: RuleSource,
  log: Log,
): Promise<FolderWatch | undefined> {
  if (folder === undefined) {
    log.info({}, 'no REEVE_RULES: there are no rules of the operator, only those of repositories');
    return undefined;
  }
  // A folder that is not there is a mistake at the start; later it may be away for a moment.
  await findRuleFiles([folder]);
  const watch = watchFolder(folder, { log, onRules: (loaded) => rules.replaceOperatorRules(loaded) });
  await watch.look();
  return watch;
}
