import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import pg from 'pg';
import { systemClock } from '../../platform/clock.ts';
import { ReeveError } from '../../platform/errors.ts';
import { packageVersion } from '../../platform/package.ts';
import { type ServerRole, type StoreListeners, type StoreProcess, serverRoles } from '../store.ts';
import { channelOf, lockClassOf, type PostgresAddress } from './address.ts';
import {
  asStoreRefusal,
  type Connections,
  connectionOptions,
  isLockTimeout,
  type Queryable,
} from './connections.ts';
import type { WorkerIdentity } from './context.ts';
import { readNotification } from './notices.ts';

/** Timeout of a heartbeat. */
const beatTimeoutMs = 3_000;

/** Registration of this process among those that share the store. */
export interface Presence extends WorkerIdentity {
  /** Returns whether this process is the leader, which enqueues due schedules. */
  isLeader(): boolean;
  /** Announces the end of this process, so that its remaining claims are taken over at once. */
  leave(): Promise<void>;
}

/**
 * Parameters: the id, and how long the process counts as alive afterwards. Returns the time since the last heartbeat,
 * measured by the clock of the server.
 */
const markAlive = `
  UPDATE workers SET seen_at = statement_timestamp(),
    alive_until = statement_timestamp() + $2::integer * interval '1 ms'
  FROM (SELECT seen_at FROM workers WHERE id = $1) AS last
  WHERE id = $1
  RETURNING (extract(epoch FROM statement_timestamp() - last.seen_at) * 1000)::float8 AS silent_ms`;

/** Presence of a process that claims nothing. */
export const noPresence: Presence = {
  id: undefined,
  isCurrent: () => true,
  isLeader: () => false,
  async renew() {},
  async leave() {},
};

type WorkerRow = { readonly id: string; readonly lock: number };

/** The heartbeat connection, which also holds the lock. */
type HeartbeatSession = { readonly client: pg.Client; isLocked: boolean };

type PresenceOptions = Required<StoreListeners> & {
  readonly address: PostgresAddress;
  readonly database: Connections;
  readonly monotonicMs: () => number;
  readonly liveness: Liveness;
  /**
   * Called when the other processes have declared this process dead: its leases are void, and it continues under a new
   * id.
   */
  readonly onVoid: () => void;
  readonly role: ServerRole;
};

/**
 * Registers this process among the workers. The process has one row, one advisory lock that the server releases when
 * its connection ends, and one heartbeat per second for all of its claims. With each heartbeat, it takes over the
 * claims of dead processes, except for `lifeMs` after a connection was lost, because the other processes may then still
 * be reconnecting.
 */
export async function enterWorkers(options: PresenceOptions): Promise<Presence> {
  const heart = new Heart(options, await register(options));
  try {
    await heart.start();
    return heart;
  } catch (error) {
    await heart.leave();
    throw asStoreRefusal(error, options.address.name);
  }
}

class Heart implements Presence {
  readonly #options: PresenceOptions;
  readonly #liveness: Liveness;
  readonly #lockClass: number;
  readonly #lead: () => Promise<boolean>;
  #isLeader = false;
  #row: WorkerRow;
  #session: HeartbeatSession | undefined;
  #graceUntilMs: number;
  /** Start of the last heartbeat that the server answered. */
  #beatAtMs: number;
  #beating: Promise<void> | undefined;
  #renewing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PresenceOptions, row: WorkerRow) {
    this.#options = options;
    this.#liveness = options.liveness;
    this.#row = row;
    this.#beatAtMs = options.monotonicMs();
    // This process may have been started at the end of an outage, while the others are reconnecting.
    this.#graceUntilMs = this.#beatAtMs + options.liveness.silentMs;
    this.#lockClass = lockClassOf(options.address.schema);
    // A process that handles nothing does not read the rules that schedules need.
    this.#lead = options.role === 'web' ? async () => false : () => stand(options.database, this.#row.id);
  }

  get id(): string {
    return this.#row.id;
  }

  isCurrent(): boolean {
    return this.#options.monotonicMs() - this.#beatAtMs < this.#liveness.lifeMs;
  }

  isLeader(): boolean {
    return this.#isLeader && this.isCurrent();
  }

  async start(): Promise<void> {
    await this.#beat();
    this.#timer = setInterval(() => {
      this.#beating ??= this.#tick().finally(() => {
        this.#beating = undefined;
      });
    }, this.#liveness.beatMs);
    this.#timer.unref();
  }

  renew(): Promise<void> {
    this.#renewing ??= this.#becomeAnother().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async leave(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
    this.#isLeader = false;
    await resign(this.#options.database, this.#row.id).catch(() => {});
    await this.#options.database
      .query("UPDATE workers SET alive_until = '-infinity' WHERE id = $1", [this.#row.id])
      // The other processes detect the end by themselves.
      .catch(() => {});
    await this.#endSession();
  }

  async #tick(): Promise<void> {
    try {
      await this.#beat();
    } catch {
      // The next heartbeat connects again. Until then, the store reports the error of the server.
      this.#judgeNobodyForALife();
      void this.#endSession();
    }
  }

  async #beat(): Promise<void> {
    if (this.#session === undefined) {
      this.#session = await this.#connect();
      // Notifications that were sent in the meantime are not repeated.
      this.#options.onWork();
      this.#options.onNotice({ topic: 'everything', key: '' });
    }
    const { client } = this.#session;
    if (!this.#session.isLocked) {
      // A lost connection of this process may hold the lock until the server notices.
      const { rows } = await client.query('SELECT pg_try_advisory_lock($1, $2) AS is_locked', [
        this.#lockClass,
        this.#row.lock,
      ]);
      this.#session.isLocked = rows[0]?.is_locked === true;
    }
    const beganMs = this.#options.monotonicMs();
    const { rows } = await client.query(markAlive, [this.#row.id, this.#liveness.lifeMs]);
    if (rows.length === 0) await this.renew();
    // This process has stalled, perhaps because the whole machine did. Other processes may then also have stalled, and
    // appear dead while they reconnect. The clock of this process may not have counted that time.
    if (Number(rows[0]?.silent_ms) > this.#liveness.silentMs) this.#judgeNobodyForALife();
    this.#beatAtMs = beganMs;
    const mayJudge = this.#options.monotonicMs() >= this.#graceUntilMs;
    await takeOver(this.#options, { self: this.#row.id, lockClass: this.#lockClass, mayJudge });
    this.#isLeader = await this.#lead();
  }

  #judgeNobodyForALife(): void {
    this.#graceUntilMs = this.#options.monotonicMs() + this.#liveness.lifeMs;
  }

  async #becomeAnother(): Promise<void> {
    this.#options.onVoid();
    this.#isLeader = false;
    // This process was silent for a long time, which its new row does not show.
    this.#judgeNobodyForALife();
    this.#row = await register(this.#options);
    // The lock belongs to the row, so the next heartbeat takes the new lock.
    if (this.#session !== undefined) this.#session.isLocked = false;
  }

  async #connect(): Promise<HeartbeatSession> {
    const { address, onWork, onNotice } = this.#options;
    const client = new pg.Client({ ...connectionOptions(address), query_timeout: beatTimeoutMs });
    // The next heartbeat reports the error.
    client.on('error', () => {});
    // Notifications from this process are received as well.
    client.on('notification', ({ payload = '' }) => {
      const { from, notice } = readNotification(payload);
      if (from === this.#row.id) return;
      if (notice) onNotice(notice);
      else onWork();
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${channelOf(address.schema)}`);
      return { client, isLocked: false };
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
  }

  /** Ends the connection, without waiting for a dead one. */
  async #endSession(): Promise<void> {
    const ended = this.#session?.client.end().catch(() => {});
    this.#session = undefined;
    await Promise.race([ended, systemClock.sleep(1_000)]);
  }
}

/**
 * Inserts a row for this process. Until its first heartbeat, the process counts as alive for as long as after a
 * heartbeat.
 */
async function register({ database, liveness, role }: PresenceOptions): Promise<WorkerRow> {
  const id = randomUUID();
  const { rows } = await database.query(
    `INSERT INTO workers (id, name, role, version, started_at, seen_at, alive_until)
     VALUES ($1, $3, $4, $5, statement_timestamp(), statement_timestamp(),
       statement_timestamp() + $2::integer * interval '1 ms')
     RETURNING lock`,
    [id, liveness.lifeMs, `${hostname()} ${process.pid}`, role, packageVersion()],
  );
  return { id, lock: Number(rows[0]?.lock) };
}

/**
 * Returns whether this process is the leader, and makes it the leader if there is none. The leader remains until its
 * row among the workers is deleted. The others delete the row of a dead process (`takeOver`), and the first process
 * that asks afterwards is the next leader.
 */
async function stand(sql: Queryable, worker: string): Promise<boolean> {
  const { rows } = await sql.query(
    'SELECT worker, worker IN (SELECT id FROM workers) AS is_there FROM leader',
  );
  const [leader] = rows;
  if (leader?.is_there === true) return leader.worker === worker;
  const { count } = await sql.query(
    `INSERT INTO leader (worker) SELECT id FROM workers WHERE id = $1
     ON CONFLICT (one) DO UPDATE SET worker = excluded.worker WHERE leader.worker NOT IN (SELECT id FROM workers)`,
    [worker],
  );
  return count === 1;
}

/** Resigns as leader, so that another process can become the leader at once. */
async function resign(sql: Queryable, worker: string): Promise<void> {
  await sql.query('DELETE FROM leader WHERE worker = $1', [worker]);
}

type ProcessesQuery = {
  /** Id of this process. */
  readonly self: string | undefined;
  /** Class of the locks that live processes hold. */
  readonly lockClass: number;
  readonly liveness: Liveness;
};

/** Returns the live processes, oldest first. */
export async function listProcesses(
  sql: Queryable,
  { self, lockClass, liveness }: ProcessesQuery,
): Promise<readonly StoreProcess[]> {
  const { rows } = await sql.query(
    `SELECT id, name, role, version, started_at, seen_at, id IN (SELECT worker FROM leader) AS is_leader
     FROM workers WHERE alive_until >= statement_timestamp()
       AND (seen_at >= statement_timestamp() - $2::integer * interval '1 ms' OR ${hasSessionLock(1)})
     ORDER BY started_at, id`,
    [lockClass, liveness.silentMs],
  );
  return rows.map((row) => ({
    id: String(row.id),
    name: String(row.name),
    role: roleOf(row.role),
    version: String(row.version),
    startedAt: new Date(String(row.started_at)),
    seenAt: new Date(String(row.seen_at)),
    isLeader: row.is_leader === true,
    isSelf: row.id === self,
  }));
}

/** Returns a known role. A later version may use roles that this version does not know. */
function roleOf(value: unknown): ServerRole {
  return serverRoles.find((role) => role === value) ?? 'all';
}

/** Timing of heartbeats, in milliseconds. */
export type Liveness = {
  /** Interval between two heartbeats. */
  readonly beatMs: number;
  /** Time without a heartbeat after which a process that does not hold its lock is dead. */
  readonly silentMs: number;
  /**
   * Time without a heartbeat after which a process is dead even if it holds its lock. During this time, processes may
   * still be reconnecting.
   */
  readonly lifeMs: number;
};

export const standardLiveness: Liveness = { beatMs: 1_000, silentMs: 3_000, lifeMs: 15_000 };

/** `lockClass`: class of the locks that live processes hold. */
type TakeOver = { readonly self: string; readonly lockClass: number; readonly mayJudge: boolean };

/**
 * Takes over the claims of dead processes, for the process `self`. Without `mayJudge`, only processes that have
 * announced their end count as dead. The same applies if the last heartbeat of `self` is old, because `self` has
 * stalled since then, perhaps together with the others. A claim locks the row of its process until it is committed, and
 * claims nothing once that row is deleted (`claims.ts`). The row is therefore deleted first; claims without a row are
 * released afterwards, and none can be added.
 */
async function takeOver(
  { database, liveness, onTakeover }: PresenceOptions,
  { self, lockClass, mayJudge }: TakeOver,
): Promise<void> {
  const values = [mayJudge, lockClass, liveness.silentMs, liveness.lifeMs, self];
  const { rows } = await database.query(findDead, values);
  if (rows[0]?.is_needed !== true) return;
  const taken = await database.transaction(async (session) => {
    await session.query(removeDead, values);
    const { count } = await session.query(giveBack);
    await session.query(
      'DELETE FROM queue_leases WHERE worker IS NOT NULL AND worker NOT IN (SELECT id FROM workers)',
    );
    return count;
  });
  if (taken > 0) onTakeover(taken);
}

/** Returns the SQL condition that the lock of a row of `workers` is held. The class is parameter `number`. */
function hasSessionLock(number: number): string {
  return `EXISTS (
    SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
      AND classid = $${number}::bigint::oid AND objid = workers.lock::bigint::oid
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;
}

/**
 * Parameter 1: whether processes that have not announced their end may be declared dead; 2: class of their locks; 3, 4:
 * `Liveness`; 5: the process that judges.
 */
const isDead = `(alive_until = '-infinity' OR $1
  AND EXISTS (SELECT FROM workers AS self
    WHERE self.id = $5 AND self.seen_at >= statement_timestamp() - $3::integer * interval '1 ms')
  AND statement_timestamp() - pg_postmaster_start_time() > $4::integer * interval '1 ms'
  AND (alive_until < statement_timestamp()
    OR seen_at < statement_timestamp() - $3::integer * interval '1 ms' AND NOT ${hasSessionLock(2)}))`;

const findDead = `SELECT EXISTS (SELECT FROM workers WHERE ${isDead})
  OR EXISTS (SELECT FROM deliveries WHERE state = 'claimed' AND worker NOT IN (SELECT id FROM workers)) AS is_needed`;

const removeDead = `DELETE FROM workers WHERE id IN (SELECT id FROM workers WHERE ${isDead} FOR UPDATE SKIP LOCKED)`;

/**
 * Returns the deliveries of a dead process to their lanes. If the process had one delivery, the attempt and the crash
 * are counted. If it had several, the attempts do not count, and each delivery is suspected (`createSuspects`).
 */
const giveBack = `
  WITH orphans AS (
    SELECT id, count(*) OVER (PARTITION BY worker) AS together FROM deliveries
    WHERE state = 'claimed' AND worker NOT IN (SELECT id FROM workers)
  )
  UPDATE deliveries SET state = 'accepted', lease = NULL, worker = NULL,
    crashes = crashes + (together = 1)::integer,
    suspicion = suspicion + (together > 1)::integer,
    attempts = attempts - (together > 1)::integer
  FROM orphans WHERE deliveries.id = orphans.id AND state = 'claimed' AND worker NOT IN (SELECT id FROM workers)`;

/**
 * Number of the copy's lock. It differs from 0, which the migration uses, and from the numbers of processes, which
 * start at 1.
 */
const copyLock = 2 ** 31 - 1;

/**
 * Default wait for the lock: the server completes the last statement of a killed copy, and holds the copy's lock until
 * then.
 */
const releaseMs = 15_000;

/**
 * Reserves a store for a copy until the connection ends. The lock is taken before processes are listed, and a starting
 * process inserts its row before it checks the lock, so at least one of the two sees the other. Throws `store-locked`;
 * if another copy holds the lock, only after `waitMs`.
 */
export async function takeCopyLock(
  client: pg.Client,
  { schema, name }: PostgresAddress,
  waitMs: number = releaseMs,
): Promise<void> {
  await client.query(`SET lock_timeout = ${waitMs}`);
  try {
    await client.query('SELECT pg_advisory_lock($1, $2)', [lockClassOf(schema), copyLock]);
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    throw new ReeveError('store-locked', `the store in ${name} is used by another reeve store copy`);
  }
  await client.query('RESET lock_timeout');
  const { rows: live } = await client.query(
    `SELECT name, ceil(extract(epoch FROM alive_until - statement_timestamp()))::integer AS seconds FROM workers
     WHERE alive_until >= statement_timestamp() ORDER BY alive_until DESC LIMIT 1`,
  );
  if (live[0] === undefined) return;
  throw new ReeveError(
    'store-locked',
    `the store in ${name} is in use by a Reeve (${live[0].name}): stop it; one that was killed counts as running for ${live[0].seconds} s more`,
  );
}

/** Throws `store-locked` while a copy reads or writes the store. */
export async function requireNoCopy(sql: Queryable, { schema, name }: PostgresAddress): Promise<void> {
  const { rows } = await sql.query(
    `SELECT EXISTS (
       SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
         AND classid = $1::bigint::oid AND objid = $2::bigint::oid
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS is_locked`,
    [lockClassOf(schema), copyLock],
  );
  if (rows[0]?.is_locked !== true) return;
  throw new ReeveError(
    'store-locked',
    `the store in ${name} is being copied: start again when reeve store copy has ended`,
  );
}
