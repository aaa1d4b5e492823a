import { randomUUID } from 'node:crypto';
import { ReeveError } from '../../platform/errors.ts';
import { pageSizeOf } from '../paging.ts';
import {
  encodeQueueEvent,
  isAtRest,
  type QueueSaved,
  queueHistoryRowOf,
  queueRowOf,
} from '../queue-codec.ts';
import type { QueueRows, QueueSave } from '../queue-rows.ts';
import { insertAudit, trimAudit } from './audit.ts';
import type { PostgresContext } from './context.ts';
import type { Sql } from './link/connections.ts';
import { storableText } from './link/text.ts';
import { nowSql } from './link/time.ts';

/** Returns the methods about merge queues. */
export function createPostgresQueues(context: PostgresContext): QueueRows {
  const { database, at } = context;
  return {
    ...createQueueLeaseMethods(context),
    async readQueue({ repositoryId, base }) {
      const { rows } = await database.query('SELECT * FROM queues WHERE repository_id = $1 AND base = $2', [
        repositoryId,
        storableText(base),
      ]);
      return rows[0] && queueRowOf(rows[0]);
    },
    async listQueues({ repositoryId } = {}) {
      const { rows } = await database.query(
        `SELECT * FROM queues WHERE $1::bigint IS NULL OR repository_id = $1
         ORDER BY CASE WHEN $1 IS NULL THEN repository END, base, repository_id`,
        [repositoryId ?? null],
      );
      return rows.map(queueRowOf);
    },
    async saveQueue(save) {
      const result = await database.transaction((sql) => saveIn(sql, save, at()));
      if (result === 'lost') {
        const name = `${save.repository} ${save.base}`;
        throw new ReeveError('lease-lost', `the merge queue ${name} is no longer ours: its lease has ended`);
      }
      if (save.audit !== undefined) await trimAudit(database);
      return result === 'saved';
    },
    async listQueueHistory({ repositoryId, base, before = Number.MAX_SAFE_INTEGER, limit } = {}) {
      const { rows } = await database.query(
        `SELECT id, repository_id, base, repository, event FROM queue_history
         WHERE ($1::bigint IS NULL OR repository_id = $1) AND ($2::text IS NULL OR base = $2) AND id < $3
         ORDER BY id DESC LIMIT $4`,
        [repositoryId ?? null, base === undefined ? null : storableText(base), before, pageSizeOf(limit)],
      );
      return rows.map(queueHistoryRowOf);
    },
  };
}

function createQueueLeaseMethods({
  database,
  at,
  worker,
}: PostgresContext): Pick<QueueRows, 'claimQueue' | 'extendQueue' | 'releaseQueue'> {
  return {
    async claimQueue({ repositoryId, base }, leaseMs) {
      const token = randomUUID();
      const name = storableText(base);
      const { count } = await database.query(takeLease, [
        repositoryId,
        name,
        token,
        worker.id,
        leaseMs,
        at(),
      ]);
      if (count === 1) return { repositoryId, base, token };
      await database.query(shortenLease, [repositoryId, name, at()]);
      return undefined;
    },
    async extendQueue({ repositoryId, base, token }, leaseMs) {
      const { count } = await database.query(
        `UPDATE queue_leases SET lease_ms = $4, lease_until = ${nowSql(5)} + $4::bigint * interval '1 ms'
         WHERE repository_id = $1 AND base = $2 AND token = $3 AND lease_until > ${nowSql(5)}`,
        [repositoryId, storableText(base), token, leaseMs, at()],
      );
      return count === 1;
    },
    async releaseQueue({ repositoryId, base, token }) {
      await database.query('DELETE FROM queue_leases WHERE repository_id = $1 AND base = $2 AND token = $3', [
        repositoryId,
        storableText(base),
        token,
      ]);
    },
  };
}

async function saveIn(sql: Sql, save: QueueSave, at: string | null): Promise<QueueSaved> {
  const { repositoryId, repository, state, revision, lease, events = [], audit } = save;
  const base = storableText(save.base);
  if (lease !== undefined) {
    // The lock keeps another process from taking the lease before this is committed.
    const { count } = await sql.query(
      `SELECT token FROM queue_leases
       WHERE repository_id = $1 AND base = $2 AND token = $3 AND lease_until > ${nowSql(4)} FOR SHARE`,
      [repositoryId, base, lease.token, at],
    );
    if (count === 0) return 'lost';
  }
  const values = [
    repositoryId,
    base,
    storableText(repository),
    JSON.stringify(state ?? null),
    at,
    isAtRest(state),
  ];
  const { count } =
    revision === 0
      ? await sql.query(insertQueue, values)
      : await sql.query(updateQueue, [...values, revision]);
  if (count === 0) return 'stale';
  if (events.length > 0) {
    await sql.query(appendEvents, [
      repositoryId,
      base,
      storableText(repository),
      events.map((event) => event.at.toISOString()),
      events.map(encodeQueueEvent),
    ]);
  }
  if (audit !== undefined) {
    const { by, action, object } = audit;
    await sql.query(`${insertAudit} VALUES (${nowSql(1)}, $2, $3, $4)`, [
      at,
      storableText(by),
      action,
      storableText(object),
    ]);
  }
  return 'saved';
}

const insertQueue = `
  INSERT INTO queues (repository_id, base, repository, state, revision, updated_at, is_at_rest)
  VALUES ($1, $2, $3, $4, 1, ${nowSql(5)}, $6)
  ON CONFLICT (repository_id, base) DO NOTHING`;

const updateQueue = `
  UPDATE queues SET repository = $3, state = $4, revision = revision + 1, updated_at = ${nowSql(5)}, is_at_rest = $6
  WHERE repository_id = $1 AND base = $2 AND revision = $7`;

const appendEvents = `
  INSERT INTO queue_history (repository_id, base, repository, at, event)
  SELECT $1, $2, $3, at, event FROM unnest($4::timestamptz[], $5::text[]) WITH ORDINALITY AS given (at, event, position)
  ORDER BY position`;

const takeLease = `
  INSERT INTO queue_leases (repository_id, base, token, worker, lease_ms, lease_until)
  VALUES ($1, $2, $3, $4, $5, ${nowSql(6)} + $5::bigint * interval '1 ms')
  ON CONFLICT (repository_id, base) DO UPDATE SET token = excluded.token, worker = excluded.worker,
    lease_ms = excluded.lease_ms, lease_until = excluded.lease_until
  WHERE queue_leases.lease_until <= ${nowSql(6)}`;

/** After a clock was set back, the other one has as long as it asked for, from now on. */
const shortenLease = `
  UPDATE queue_leases SET lease_until = ${nowSql(3)} + lease_ms * interval '1 ms'
  WHERE repository_id = $1 AND base = $2 AND lease_until > ${nowSql(3)} + lease_ms * interval '1 ms'`;
