import { systemClock } from '../../platform/clock.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { markKey, requireFinished } from '../copy/copy-mark.ts';
import { createIncidents } from '../incidents.ts';
import { Leases } from '../leases.ts';
import { createMemory } from '../memory.ts';
import { createPauses } from '../pauses.ts';
import { prune } from '../prune.ts';
import { createQueries } from '../queries.ts';
import { createQueues } from '../queues.ts';
import { createRuleTexts, ruleTextLimits } from '../rule-texts.ts';
import { createSamples } from '../samples.ts';
import { createPostgresSessions } from '../session-rows.ts';
import type { StoreClock } from '../sql.ts';
import type { Health, ServerRole, Store, StoreListeners } from '../store.ts';
import { channelOf, lockClassOf, type PostgresAddress, readAddress } from './address.ts';
import { createClaims } from './claims.ts';
import { createEndings } from './complete.ts';
import { asStoreRefusal, Connections } from './connections.ts';
import type { PostgresContext } from './context.ts';
import { Intake } from './intake.ts';
import { migratePostgres } from './migrations.ts';
import { createAnnouncer } from './notices.ts';
import { PostgresSql } from './postgres-sql.ts';
import {
  enterWorkers,
  type Liveness,
  listProcesses,
  noPresence,
  type Presence,
  requireNoCopy,
  standardLiveness,
} from './presence.ts';
import { createPostgresDeletions } from './retention.ts';

export type PostgresOptions = StoreListeners & {
  /** Connection string. Its parameter `schema` names the schema of the tables; default: `reeve`. */
  readonly url: string;
  /** `reader` reads, and inserts jobs; `web` also accepts deliveries; `worker` and `all` also claim them. */
  readonly role: ServerRole | 'reader';
  /** Default: the clock of the server, which all processes share. */
  readonly clock?: StoreClock;
  /**
   * Timing after which a process is declared dead, which must be the same for all processes. Default:
   * `standardLiveness`.
   */
  readonly liveness?: Liveness;
  /** For tests: set if a power failure may lose acknowledged data (`fsync` is off). */
  readonly isVolatile?: boolean;
};

/**
 * Pool size of one process. There is also one connection each for claims, for the endings of attempts, and for
 * heartbeats.
 */
const connections = 3;
/** Maximum number of connections of a process that accepts or claims deliveries. */
export const connectionsPerProcess = connections + 3;

/**
 * Without statistics, the server would scan a table, or cache a plan that does. With these settings, statements that
 * use indexes keep their plans, which halves their cost.
 */
const madeForIndexes = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  plan_cache_mode: 'force_generic_plan',
};

/**
 * Opens the store in a PostgreSQL database. Any number of processes share it. Throws `settings`, `store-newer`,
 * `store-locked`, `store-unfinished`, `store-unwritable`.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const address = readAddress(options.url);
  // A cached plan may scan all rows, because it was made when there were few.
  const database = new Connections(address, {
    connections,
    settings: { plan_cache_mode: 'force_custom_plan' },
  });
  // Statements around a claim are repeated if the server loses them, so they need not wait for the disk.
  const hasty = new Connections(address, {
    connections: 1,
    settings: { ...madeForIndexes, synchronous_commit: 'off' },
  });
  const planned = new Connections(address, { connections: 1, settings: madeForIndexes });
  try {
    await migratePostgres(address, database);
    const { rows } = await database.query('SELECT value FROM memory WHERE key = $1', [markKey]);
    requireFinished(rows[0]?.value, address.name);
    if (!options.isVolatile) await requireDurability(database, address);
    return await createPostgresStore({ address, database, hasty, planned }, options);
  } catch (error) {
    await Promise.allSettled([database, hasty, planned].map((one) => one.close()));
    throw asStoreRefusal(error, address.name);
  }
}

/** Throws if the server does not sync to disk, because it would lose acknowledged data. */
async function requireDurability(database: Connections, { name }: PostgresAddress): Promise<void> {
  const { rows } = await database.query("SELECT current_setting('fsync') AS fsync");
  if (rows[0]?.fsync === 'on') return;
  throw new ReeveError(
    'settings',
    `${name} has fsync off: it would lose deliveries that were acknowledged. Set fsync = on`,
  );
}

type StoreParts = {
  readonly address: PostgresAddress;
  readonly database: Connections;
  readonly hasty: Connections;
  readonly planned: Connections;
};

/** Registers this process among those that share the store. A reader is not registered. */
async function enter(
  { address, database }: StoreParts,
  { role, liveness = standardLiveness, ...options }: PostgresOptions,
  leases: Leases,
): Promise<Presence> {
  if (role === 'reader') return noPresence;
  const { onWork = () => {}, onNotice = () => {}, onTakeover = () => {} } = options;
  const presence = await enterWorkers({
    address,
    database,
    monotonicMs: systemClock.monotonicMs,
    liveness,
    role,
    onVoid: () => leases.clear(),
    onWork,
    onNotice,
    onTakeover,
  });
  try {
    await requireNoCopy(database, address);
    return presence;
  } catch (error) {
    await presence.leave();
    throw error;
  }
}

async function createPostgresStore(parts: StoreParts, options: PostgresOptions): Promise<Store> {
  const { address, database, hasty, planned } = parts;
  const { role, clock, liveness = standardLiveness } = options;
  const lockClass = lockClassOf(address.schema);
  const leases = new Leases();
  const monotonicMs = clock?.monotonicMs ?? systemClock.monotonicMs;
  const worker = await enter(parts, options, leases);
  const announcer = createAnnouncer(hasty, channelOf(address.schema), worker);
  const at = (): string | null => clock?.now().toISOString() ?? null;
  const now = (): Date => (clock ?? systemClock).now();
  const sql = new PostgresSql(database, at);
  const context: PostgresContext = {
    database,
    sql,
    hasty,
    planned,
    at,
    monotonicMs,
    worker,
    leases,
    requireWorker() {
      if (role === 'reader' || role === 'web')
        throw new ReeveError('internal', `a store opened as ${role} claims nothing`);
    },
    announceWork: announcer.announce,
  };
  const intake = new Intake(context);
  const { dropEnded, ...incidents } = createIncidents(sql, { now });
  const memory = createMemory(sql);
  const sessions = createPostgresSessions(sql);
  let closing: Promise<void> | undefined;

  return {
    async accept(delivery) {
      if (role === 'reader') throw new ReeveError('internal', 'a store opened as reader accepts nothing');
      if (closing !== undefined)
        throw new ReeveError('store-unwritable', `the store in ${address.name} is closed`);
      return intake.accept(delivery);
    },
    enqueue: (job) => intake.enqueue(job),
    ...createClaims(context),
    ...createEndings(context),
    ...createQueries(sql),
    ...createSamples(sql),
    ...createRuleTexts(sql, ruleTextLimits),
    ...memory,
    isShared: true,
    sessions,
    announce: announcer.announceNotice,
    isLeader: () => worker.isLeader(),
    listProcesses: () => listProcesses(database, { self: worker.id, lockClass, liveness }),
    ...incidents,
    ...createPauses(sql, announcer.announce),
    ...createQueues(sql, () => worker.id ?? null),
    async prune(limits) {
      await dropEnded();
      await sessions.dropEnded();
      return prune(sql, createPostgresDeletions(database), limits);
    },
    async healthy(): Promise<Health> {
      try {
        const padding = '0'.repeat(intake.refusedBytes);
        await memory.remember('health', { at: now().toISOString(), padding });
        return { ok: true, freeBytes: undefined };
      } catch (error) {
        return { ok: false, freeBytes: undefined, reason: messageOf(error) };
      }
    },
    close() {
      closing ??= (async () => {
        await intake.finish();
        await announcer.finish();
        await worker.leave();
        await Promise.all([database, hasty, planned].map((one) => one.close()));
      })();
      return closing;
    },
  };
}
