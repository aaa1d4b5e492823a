import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import pg from 'pg';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { packageVersion } from '../../platform/package.ts';
import { type Notice, type ServerRole, type StoreProcess, serverRoles } from '../shared-store.ts';
import type { WorkerIdentity } from './context.ts';
import { channelOf, lockClassOf, type PostgresAddress } from './link/address.ts';
import { type Connections, connectionOptions, type Sql } from './link/connections.ts';
import { asStoreRefusal } from './link/failures.ts';
import { readNotification } from './notices.ts';
import { createTakeovers, hasSessionLock, type Liveness } from './takeovers.ts';

/** A heartbeat that takes longer than this goes nowhere. */
const beatTimeoutMs = 3_000;

/** The place of this process among those that share the store. */
export interface Presence extends WorkerIdentity {
  /** Returns whether this process is the one that enqueues what is due. */
  isLeader(): boolean;
  /** Announces the end of this process: what it has still claimed is taken over at once. */
  leave(): Promise<void>;
}

/** Parameters: the id, and how long the process is alive after it. Returns how long it was silent, by the clock of the server. */
const markAlive = `
  UPDATE workers SET seen_at = statement_timestamp(),
    alive_until = statement_timestamp() + $2::integer * interval '1 ms'
  FROM (SELECT seen_at FROM workers WHERE id = $1) AS last
  WHERE id = $1
  RETURNING (extract(epoch FROM statement_timestamp() - last.seen_at) * 1000)::float8 AS silent_ms`;

/** For a process that claims nothing. */
export const noPresence: Presence = {
  id: undefined,
  isCurrent: () => true,
  isLeader: () => false,
  async renew() {},
  async leave() {},
};

type WorkerRow = { readonly id: string; readonly lock: number };

/** The connection of the heartbeats, which also holds the lock. */
type HeartbeatSession = { readonly client: pg.Client; isLocked: boolean };

type PresenceOptions = {
  readonly address: PostgresAddress;
  readonly database: Connections;
  readonly monotonicMs: Clock['monotonicMs'];
  readonly liveness: Liveness;
  /** Called when the others have taken this process for dead: its leases are void, and it goes on under another id. */
  readonly onVoid: () => void;
  readonly role: ServerRole;
  /** Called when another process has stored work. */
  readonly onWork: () => void;
  readonly onNotice: (notice: Notice) => void;
  /** Called with the number of deliveries that were taken over from processes that died. */
  readonly onTakeover: (count: number) => void;
};

/**
 * Enters this process among the workers. It has one row, one advisory lock that the server releases when its connection ends,
 * and one heartbeat a second for all of its claims. With each heartbeat it takes over what dead processes have left, though not
 * within a lease after a connection was lost: then the others may still be on their way back.
 */
export async function enterWorkers(options: PresenceOptions): Promise<Presence> {
  const heart = new Heart(options, await register(options.database, options));
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
  readonly #takeOver: ReturnType<typeof createTakeovers>;
  readonly #lead: () => Promise<boolean>;
  #isLeader = false;
  #row: WorkerRow;
  #session: HeartbeatSession | undefined;
  #graceUntilMs: number;
  /** Begin of the last heartbeat that the server has answered. */
  #beatAtMs: number;
  #beating: Promise<void> | undefined;
  #renewing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PresenceOptions, row: WorkerRow) {
    this.#options = options;
    this.#liveness = options.liveness;
    this.#row = row;
    this.#beatAtMs = options.monotonicMs();
    // It may have been started at the end of an outage from which the others are on their way back.
    this.#graceUntilMs = this.#beatAtMs + options.liveness.silentMs;
    this.#lockClass = lockClassOf(options.address.schema);
    this.#takeOver = createTakeovers(options.database, this.#lockClass, options);
    // One that handles nothing reads no rules for their schedules.
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
      // The others find out by themselves.
      .catch(() => {});
    await this.#endSession();
  }

  async #tick(): Promise<void> {
    try {
      await this.#beat();
    } catch {
      // The next one connects again. Until then the store itself says what is wrong with the server.
      this.#judgeNobodyForALife();
      void this.#endSession();
    }
  }

  async #beat(): Promise<void> {
    if (this.#session === undefined) {
      this.#session = await this.#connect();
      // What was notified meanwhile is not repeated.
      this.#options.onWork();
      this.#options.onNotice({ topic: 'everything', key: '' });
    }
    const { client } = this.#session;
    if (!this.#session.isLocked) {
      // A connection of ours that was lost may hold it until the server notices.
      const { rows } = await client.query('SELECT pg_try_advisory_lock($1, $2) AS is_locked', [
        this.#lockClass,
        this.#row.lock,
      ]);
      this.#session.isLocked = rows[0]?.is_locked === true;
    }
    const beganMs = this.#options.monotonicMs();
    const { rows } = await client.query(markAlive, [this.#row.id, this.#liveness.lifeMs]);
    if (rows.length === 0) await this.renew();
    // It stood still, perhaps with the machine and so with others, which look dead now and are on their way back. The clock of
    // this process may not have counted that time.
    if (Number(rows[0]?.silent_ms) > this.#liveness.silentMs) this.#judgeNobodyForALife();
    this.#beatAtMs = beganMs;
    await this.#takeOver({ self: this.#row.id, mayJudge: this.#options.monotonicMs() >= this.#graceUntilMs });
    this.#isLeader = await this.#lead();
  }

  #judgeNobodyForALife(): void {
    this.#graceUntilMs = this.#options.monotonicMs() + this.#liveness.lifeMs;
  }

  async #becomeAnother(): Promise<void> {
    this.#options.onVoid();
    this.#isLeader = false;
    // It was silent for long, which does not show on its new row.
    this.#judgeNobodyForALife();
    this.#row = await register(this.#options.database, this.#options);
    // The lock belongs to the row: the next heartbeat takes the new one.
    if (this.#session !== undefined) this.#session.isLocked = false;
  }

  async #connect(): Promise<HeartbeatSession> {
    const { address, onWork, onNotice } = this.#options;
    const client = new pg.Client({ ...connectionOptions(address), query_timeout: beatTimeoutMs });
    // The next heartbeat finds out.
    client.on('error', () => {});
    // Our own come back as well.
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

  /** Ends the connection; one that leads nowhere is not waited for. */
  async #endSession(): Promise<void> {
    const ended = this.#session?.client.end().catch(() => {});
    this.#session = undefined;
    await Promise.race([ended, systemClock.sleep(1_000)]);
  }
}

/** Makes a row for this process. Until its first heartbeat it is as alive as after one. */
async function register(
  database: Connections,
  { liveness, role }: Pick<PresenceOptions, 'liveness' | 'role'>,
): Promise<WorkerRow> {
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
 * One process of all is the leader. It stays so for as long as its row among the workers is there: of a process that died, the
 * others remove that row (`takeovers.ts`), and the first of them to ask is the next leader.
 */
async function stand(sql: Sql, worker: string): Promise<boolean> {
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

/** Lets another process become the leader at once. */
async function resign(sql: Sql, worker: string): Promise<void> {
  await sql.query('DELETE FROM leader WHERE worker = $1', [worker]);
}

type ProcessesQuery = {
  /** Id of this process. */
  readonly self: string | undefined;
  /** Of the locks that live processes hold. */
  readonly lockClass: number;
  readonly liveness: Pick<Liveness, 'silentMs'>;
};

/** Returns the processes that are alive, oldest first. */
export async function listProcesses(
  sql: Sql,
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

/** A later version may have roles that this one does not know. */
function roleOf(value: unknown): ServerRole {
  return serverRoles.find((role) => role === value) ?? 'all';
}
