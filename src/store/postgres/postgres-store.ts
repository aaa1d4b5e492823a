import { type Clock, systemClock } from '../../clock.ts';
import { messageOf, ReeveError } from '../../errors.ts';
import { Leases } from '../leases.ts';
import { prune } from '../prune.ts';
import type { Health, Store } from '../store.ts';
import { createClaimingMethods } from './claims/claim.ts';
import { createRoutingMethods } from './claims/routings.ts';
import { createEndingMethods } from './complete.ts';
import type { PostgresContext } from './context.ts';
import { createPostgresIncidents } from './incidents.ts';
import { Intake } from './intake.ts';
import { channelOf, lockClassOf, type PostgresAddress, readAddress } from './link/address.ts';
import { Connections } from './link/connections.ts';
import { asStoreRefusal } from './link/failures.ts';
import { createPostgresMemory } from './memory.ts';
import { migratePostgres } from './migrations.ts';
import { createPostgresPauses } from './pauses.ts';
import { enterWorkers, noPresence, type Presence } from './presence.ts';
import { createPostgresQueries } from './queries.ts';
import { createPostgresQueues } from './queues.ts';
import { createPostgresDeletions } from './retention.ts';
import { findOther, type Liveness, standardLiveness } from './takeovers.ts';

export type PostgresOptions = {
  /** The connection string. Its parameter `schema` names the schema of the tables; default: `reeve`. */
  readonly url: string;
  /** `worker` accepts and claims, beside any number of others; `reader` reads, and inserts jobs. */
  readonly role: 'worker' | 'reader';
  /** Default: the clock of the server, which all processes share. */
  readonly clock?: Pick<Clock, 'now' | 'monotonicMs'>;
  /** Whether a worker is refused while another one is alive. Default: any number of them share the store. */
  readonly isAlone?: boolean;
  /** How soon a process is taken for dead; the same for all of them. Default: `standardLiveness`. */
  readonly liveness?: Liveness;
  /** Called when another process has stored work. */
  readonly onWork?: () => void;
  /** Set if a loss of power may lose what was acknowledged (`fsync` is off): for tests. */
  readonly isVolatile?: boolean;
};

/** Connections of one process, beside one for its claims and one for its heartbeats. */
const connections = 4;

/** Other processes are told about work at most once in this time. */
const announceMs = 20;

/**
 * Opens the store in a PostgreSQL database. Any number of processes share it. Throws `settings`, `store-newer`,
 * `store-unwritable`.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const address = readAddress(options.url);
  const database = new Connections(address, { connections });
  // A claim that the server forgets is made again, so it need not wait for the disk. Its statements are made for indexes: on
  // a table without statistics, the server would read all rows.
  const hasty = new Connections(address, {
    connections: 1,
    settings: { synchronous_commit: 'off', enable_seqscan: 'off', enable_bitmapscan: 'off' },
  });
  try {
    await migratePostgres(address, database);
    if (!options.isVolatile) await requireDurability(database, address);
    return await createPostgresStore({ address, database, hasty }, options);
  } catch (error) {
    await Promise.allSettled([database.close(), hasty.close()]);
    throw asStoreRefusal(error, address.name);
  }
}

/** A server that does not sync loses what was acknowledged. */
async function requireDurability(database: Connections, { name }: PostgresAddress): Promise<void> {
  const { rows } = await database.query("SELECT current_setting('fsync') AS fsync");
  if (rows[0]?.fsync === 'on') return;
  throw new ReeveError(
    'settings',
    `${name} has fsync off: it would lose deliveries that were acknowledged. Set fsync = on`,
  );
}

/** Enters this process among the workers. With `isAlone`, throws `store-locked` while another one is alive. */
async function enter(
  { address, database }: { readonly address: PostgresAddress; readonly database: Connections },
  {
    isAlone,
    liveness,
    leases,
    onWork,
  }: Required<Pick<PostgresOptions, 'isAlone' | 'liveness' | 'onWork'>> & { readonly leases: Leases },
): Promise<Presence> {
  const presence = await enterWorkers({
    address,
    database,
    monotonicMs: systemClock.monotonicMs,
    liveness,
    onVoid: () => leases.clear(),
    onWork,
  });
  const other = isAlone ? await findOther(database, lockClassOf(address.schema), presence.id) : undefined;
  if (other === undefined) return presence;
  await presence.leave();
  throw new ReeveError(
    'store-locked',
    `the store in ${address.name} is in use by another Reeve (${other}): stop it, or give this one its own schema`,
  );
}

async function createPostgresStore(
  parts: { readonly address: PostgresAddress; readonly database: Connections; readonly hasty: Connections },
  { role, clock, isAlone = false, liveness = standardLiveness, onWork = () => {} }: PostgresOptions,
): Promise<Store> {
  const { address, database, hasty } = parts;
  const leases = new Leases();
  const monotonicMs = clock?.monotonicMs ?? systemClock.monotonicMs;
  const worker = role === 'reader' ? noPresence : await enter(parts, { isAlone, liveness, leases, onWork });
  const announcer = createAnnouncer(hasty, channelOf(address.schema), worker);
  const context: PostgresContext = {
    database,
    hasty,
    at: () => clock?.now().toISOString() ?? null,
    now: () => (clock ?? systemClock).now(),
    monotonicMs,
    worker,
    leases,
    requireWorker() {
      if (role !== 'worker')
        throw new ReeveError('internal', 'a store opened as reader neither accepts nor claims');
    },
    announceWork: announcer.announce,
  };
  const intake = new Intake(context);
  const incidents = createPostgresIncidents(context);
  const memory = createPostgresMemory(context);
  let closing: Promise<void> | undefined;

  return {
    async accept(delivery) {
      context.requireWorker();
      if (closing !== undefined)
        throw new ReeveError('store-unwritable', `the store in ${address.name} is closed`);
      return intake.accept(delivery);
    },
    enqueue: (job) => intake.enqueue(job),
    ...createRoutingMethods(context),
    ...createClaimingMethods(context),
    ...createEndingMethods(context),
    ...createPostgresQueries(context),
    ...memory,
    raise: incidents.raise,
    clear: incidents.clear,
    listIncidents: incidents.listIncidents,
    ...createPostgresPauses(context),
    ...createPostgresQueues(context),
    async prune(limits) {
      await incidents.dropEnded();
      return prune(createPostgresDeletions(database), limits);
    },
    async healthy(): Promise<Health> {
      try {
        const padding = '0'.repeat(intake.refusedBytes);
        await memory.remember('health', { at: context.now().toISOString(), padding });
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
        await Promise.all([database.close(), hasty.close()]);
      })();
      return closing;
    },
  };
}

/** Tells the other processes about work. A notification that is lost costs the time until they look by themselves. */
function createAnnouncer(
  hasty: Connections,
  channel: string,
  worker: Presence,
): { announce(): void; finish(): Promise<void> } {
  let announcing: Promise<void> | undefined;
  let isDue = false;
  let restUntil: NodeJS.Timeout | undefined;
  const announce = (): void => {
    isDue = true;
    if (restUntil !== undefined || announcing !== undefined) return;
    isDue = false;
    announcing = hasty
      .query('SELECT pg_notify($1, $2)', [channel, worker.id ?? ''])
      .then(
        () => {},
        () => {},
      )
      .finally(() => {
        announcing = undefined;
        restUntil = setTimeout(() => {
          restUntil = undefined;
          if (isDue) announce();
        }, announceMs).unref();
      });
  };
  return {
    announce,
    async finish() {
      await announcing;
      clearTimeout(restUntil);
    },
  };
}
