import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { type Account, findAccount } from './account.ts';
import { createNamedSecrets } from './actions/secrets.ts';
import { type AppParts, createApp, listen } from './app.ts';
import { type Client, createClient } from './client/client.ts';
import type { Credentials } from './client/credentials.ts';
import { createOAuth2, type SignInApplication } from './client/oauth2.ts';
import type { Event } from './contract/events.ts';
import { createMetrics } from './dashboard/metrics.ts';
import { redirectOf } from './dashboard/sign-in-address.ts';
import { loadDashboardPassword, passwordPath } from './dashboard-password.ts';
import type { Budgets } from './engine/budgets.ts';
import { createLedger, type ReadRuns } from './engine/ledger.ts';
import type { Run } from './engine/record.ts';
import { ReeveError } from './errors.ts';
import { createFactMemory } from './facts/ask.ts';
import type { RunSettings } from './handle-delivery.ts';
import type { Log } from './log.ts';
import { loadFingerprintKey } from './named-secrets.ts';
import { createPreview } from './preview.ts';
import { readingsOf } from './readings.ts';
import type { SecretEntry } from './receiver/secrets.ts';
import { remembering } from './remembering.ts';
import { openRules, type RulesInForce } from './server/rules-in-force.ts';
import { createWork } from './server/work.ts';
import type { OrganizationSource } from './sources/organization.ts';
import type { Grant } from './sources/powers.ts';
import type { ReportProblems } from './sources/report.ts';
import { createServed } from './sources/served.ts';
import { openSqliteStore } from './store/sqlite.ts';
import type { Store } from './store/store.ts';
import type { BackoffOptions } from './worker/backoff.ts';

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
  /** Address that people reach the dashboard at; default: this machine's own addresses alone. */
  readonly dashboard?: string | undefined;
  /** The OAuth2 application by which people sign in to it; default: the password alone opens it. */
  readonly signIn?: SignInApplication | undefined;
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
 * Starts the bot: store, rules, worker, doors. The one place where they are put together. A forge that cannot be reached
 * does not keep it from starting: deliveries are stored and wait.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { log, organizations = [], grants = [], repositories } = options;
  const clock = options.clock ?? { now: () => new Date() };
  const nowMs = (): number => performance.now();
  const metrics = createMetrics();
  const onRequest = metrics.countRequest;
  const client = createClient({ ...options.forge, log, onRequest });
  const account = remembering(() => findAccount(client, options));
  const login = await greet(account, log);
  const whoAmI = async (): Promise<string> => login ?? (await account()).login;

  const store = await openSqliteStore({ path: join(options.data, 'reeve.db'), role: 'worker', clock });
  let rules: RulesInForce | undefined;
  try {
    const served = createServed({ client, login: whoAmI, listed: repositories, nowMs });
    rules = await openRules({
      ...{ folder: options.rules, client, served, organizations, grants, pins: store, nowMs, log },
      reportProblems: options.reportProblems ?? 'status',
    });
    const memory = createFactMemory(nowMs);
    const looks = { client, account, served, grants, organizations, store, memory, clock, nowMs, log };
    const { worker, sweeps } = createWork({
      ...{ client, account, whoAmI, repositories, memory, store, metrics, clock, nowMs, log },
      rules: rules.source,
      settings: await runSettings(options, { client, store, clock }),
      preview: options.preview ? createPreview(looks) : undefined,
      backoff: options.backoff,
      onRun: options.onRun,
      onSweepRun: options.onSweepRun,
    });
    const readings = readingsOf(store, rules, { clock, folder: options.rules, sweeps, metrics });
    const doors = options.jobsOnly
      ? undefined
      : await openDoors(options, { store, log, metrics, readings, nowMs, wake: () => worker.wake() });
    const url = doors?.url ?? '';
    worker.start();
    if (!options.jobsOnly) await sweeps.start();
    const { data } = options;
    log.info({ url, data, ...(doors ? { passwordFile: passwordPath(data) } : {}) }, 'listening');
    return {
      url,
      store,
      async stop() {
        await doors?.app.close();
        await sweeps.scheduler.stop();
        await worker.stop();
        await sweeps.stop();
        await rules?.stop();
        await store.close();
      },
    };
  } catch (error) {
    await rules?.stop();
    await store.close();
    throw error;
  }
}

/** What every run of this process is given, whatever it is about. */
async function runSettings(
  { budgets, namedSecrets, data }: ServerOptions,
  { client, store, clock }: { client: Client; store: Store; clock: { now(): Date } },
): Promise<RunSettings> {
  const readRuns: ReadRuns = (repositoryId, before) =>
    store.listRuns({ repositoryId, limit: 100, ...(before === undefined ? {} : { before }) });
  return {
    ledger: createLedger({ now: clock.now, readRuns }),
    ...(budgets ? { budgets } : {}),
    secrets: createNamedSecrets(namedSecrets ?? new Map(), await loadFingerprintKey(data)),
    capabilities: () => client.capabilities(),
  };
}

type Doors = { readonly app: FastifyInstance; readonly url: string };

async function openDoors(
  { data, secrets, host, port, forge, dashboard, signIn }: ServerOptions,
  {
    wake,
    ...parts
  }: Pick<AppParts, 'store' | 'log' | 'metrics' | 'readings' | 'nowMs'> & { wake: () => void },
): Promise<Doors> {
  const password = await loadDashboardPassword(data);
  const oauth2 = signIn && createOAuth2({ url: forge.url, application: signIn });
  const app = createApp({
    ...{ ...parts, secrets, password, dashboardUrl: dashboard, onStored: wake },
    forge:
      oauth2 && dashboard
        ? {
            oauth2,
            url: forge.url,
            redirectUri: redirectOf(dashboard),
            onRequest: parts.metrics.countRequest,
          }
        : undefined,
    deeds: {
      async runAgain(ids, by) {
        const revived = await parts.store.redrive(ids, by, { settled: true });
        wake();
        return revived;
      },
    },
  });
  return { app, url: await listen(app, { host, port }) };
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
