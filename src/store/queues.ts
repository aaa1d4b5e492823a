import { randomUUID } from 'node:crypto';
import { ReeveError } from '../platform/errors.ts';
import { noteAudit } from './pauses.ts';
import type {
  QueueEvent,
  QueueHistoryRow,
  QueueLease,
  QueueRow,
  QueueRows,
  QueueSave,
} from './queue-rows.ts';
import { pageSizeOf } from './rows.ts';
import { Conditions, columnsOf, now, type Sql, type SqlRow, type Statement } from './sql.ts';

/** Maximum length of a sentence in the history, which may quote a response of the forge. */
const maxTextChars = 1_000;

/**
 * Returns the part of the store that keeps merge queues. `worker` returns the id of this process, so that others can
 * take over its leases.
 */
export function createQueues(sql: Sql, worker: () => string | null): QueueRows {
  return {
    async readQueue({ repositoryId, base }) {
      const row = await sql.get('SELECT * FROM queues WHERE repository_id = ? AND base = ?', [
        repositoryId,
        base,
      ]);
      return row && queueRowOf(row);
    },
    async listQueues({ repositoryId } = {}) {
      const rows = await (repositoryId === undefined
        ? sql.all('SELECT * FROM queues ORDER BY repository, base, repository_id')
        : sql.all('SELECT * FROM queues WHERE repository_id = ? ORDER BY base', [repositoryId]));
      return rows.map(queueRowOf);
    },
    async saveQueue(save) {
      const { repository, base, lease, events = [], audit } = save;
      const guards = [...(lease === undefined ? [] : [holdLease(save, lease)]), saveRow(sql, save)];
      const counts = await sql.batch([
        ...guards,
        ...events.map((event) => appendEvent(save, event)),
        ...(audit === undefined ? [] : noteAudit(audit)),
      ]);
      if (lease !== undefined && counts[0] === 0)
        throw new ReeveError(
          'lease-lost',
          `the merge queue ${repository} ${base} is no longer ours: its lease has ended`,
        );
      return counts[guards.length - 1] === 1;
    },
    async listQueueHistory({ repositoryId, base, before = Number.MAX_SAFE_INTEGER, limit } = {}) {
      const asked = new Conditions();
      if (repositoryId !== undefined) asked.add('repository_id = ?', repositoryId);
      if (base !== undefined) asked.add('base = ?', base);
      asked.add('id < ?', before);
      const rows = await sql.all(
        `SELECT id, repository_id, base, repository, event FROM queue_history
         WHERE ${asked.sql} ORDER BY id DESC LIMIT ?`,
        [...asked.values, pageSizeOf(limit)],
      );
      return rows.map(queueHistoryRowOf);
    },

    async claimQueue({ repositoryId, base }, leaseMs) {
      const token = randomUUID();
      const row = columnsOf(sql, 'queue_leases', {
        repository_id: repositoryId,
        base,
        token,
        worker: worker(),
        lease_ms: leaseMs,
        lease_until: { fromNowMs: leaseMs },
      });
      const [taken] = await sql.batch([
        {
          sql: `INSERT INTO queue_leases (${row.names}) VALUES (${row.marks})
                ON CONFLICT (repository_id, base) DO UPDATE SET ${row.replacements}
                WHERE queue_leases.lease_until <= ?`,
          values: [...row.values, now],
        },
      ]);
      if (taken === 1) return { repositoryId, base, token };
      const held = await sql.get(
        'SELECT token, lease_ms FROM queue_leases WHERE repository_id = ? AND base = ? AND lease_until > ?',
        [repositoryId, base, now],
      );
      if (held !== undefined) await shorten({ repositoryId, base, token: String(held.token) }, held.lease_ms);
      return undefined;
    },
    async extendQueue({ repositoryId, base, token }, leaseMs) {
      const [extended] = await sql.batch([
        {
          sql: `UPDATE queue_leases SET lease_ms = ?, lease_until = ?
                WHERE repository_id = ? AND base = ? AND token = ? AND lease_until > ?`,
          values: [leaseMs, { fromNowMs: leaseMs }, repositoryId, base, token, now],
        },
      ]);
      return extended === 1;
    },
    async releaseQueue({ repositoryId, base, token }) {
      await sql.batch([
        {
          sql: 'DELETE FROM queue_leases WHERE repository_id = ? AND base = ? AND token = ?',
          values: [repositoryId, base, token],
        },
      ]);
    },
  };

  /**
   * Shortens the lease of another process after the clock was set back: it then lasts for the requested time from now.
   */
  async function shorten(
    { repositoryId, base, token }: QueueLease,
    given: SqlRow[string] = 0,
  ): Promise<void> {
    const latest = { fromNowMs: Number(given) };
    const place = 'repository_id = ? AND base = ? AND token = ? AND lease_until > ?';
    const values = [repositoryId, base, token, latest];
    if ((await sql.get(`SELECT token FROM queue_leases WHERE ${place}`, values)) === undefined) return;
    await sql.batch([
      { sql: `UPDATE queue_leases SET lease_until = ? WHERE ${place}`, values: [latest, ...values] },
    ]);
  }
}

/** Locks the row of a lease, so that another process cannot take the lease before the save is committed. */
function holdLease({ repositoryId, base }: QueueSave, { token }: QueueLease): Statement {
  return {
    sql: `UPDATE queue_leases SET lease_ms = lease_ms
          WHERE repository_id = ? AND base = ? AND token = ? AND lease_until > ?`,
    values: [repositoryId, base, token, now],
    isGuard: true,
  };
}

function saveRow(sql: Sql, { repositoryId, base, repository, state, revision }: QueueSave): Statement {
  const row = columnsOf(sql, 'queues', {
    repository,
    state: JSON.stringify(state ?? null),
    updated_at: now,
    is_at_rest: isAtRest(state),
  });
  if (revision === 0)
    return {
      sql: `INSERT INTO queues (repository_id, base, revision, ${row.names}) VALUES (?, ?, 1, ${row.marks})
            ON CONFLICT (repository_id, base) DO NOTHING`,
      values: [repositoryId, base, ...row.values],
      isGuard: true,
    };
  return {
    sql: `UPDATE queues SET revision = revision + 1, ${row.assignments}
          WHERE repository_id = ? AND base = ? AND revision = ?`,
    values: [...row.values, repositoryId, base, revision],
    isGuard: true,
  };
}

function appendEvent({ repositoryId, base, repository }: QueueSave, event: QueueEvent): Statement {
  const json = JSON.stringify({ ...event, text: event.text.slice(0, maxTextChars) });
  return {
    sql: 'INSERT INTO queue_history (repository_id, base, repository, at, event) VALUES (?, ?, ?, ?, ?)',
    values: [repositoryId, base, repository, event.at.toISOString(), json],
  };
}

function queueRowOf(row: SqlRow): QueueRow {
  return {
    repositoryId: Number(row.repository_id),
    base: String(row.base),
    repository: String(row.repository),
    state: JSON.parse(String(row.state)),
    revision: Number(row.revision),
    updatedAt: new Date(String(row.updated_at)),
  };
}

/** An event in its JSON form. */
type StoredQueueEvent = Omit<QueueEvent, 'at' | 'enteredAt' | 'turnAt'> &
  Readonly<Record<'at', string> & Partial<Record<'enteredAt' | 'turnAt', string>>>;

/** Returns a stored event as a history row. */
function queueHistoryRowOf(row: SqlRow): QueueHistoryRow {
  // Store boundary: only `appendEvent` writes this column.
  const {
    at,
    base: baseCommit,
    enteredAt,
    turnAt,
    ...event
  } = JSON.parse(String(row.event)) as StoredQueueEvent;
  return {
    ...event,
    id: Number(row.id),
    repositoryId: Number(row.repository_id),
    base: String(row.base),
    repository: String(row.repository),
    at: new Date(at),
    ...(baseCommit === undefined ? {} : { baseCommit }),
    ...(enteredAt === undefined ? {} : { enteredAt: new Date(enteredAt) }),
    ...(turnAt === undefined ? {} : { turnAt: new Date(turnAt) }),
  };
}

/**
 * Returns whether a queue is idle. A queue is kept while it is paused, and after a foreign write until the checks of
 * the base have passed.
 */
export function isAtRest(state: unknown): boolean {
  if (typeof state !== 'object' || state === null) return false;
  const { entries, outbox, paused, blocked } = state as Readonly<Record<string, unknown>>;
  const isEmpty = (list: unknown): boolean => Array.isArray(list) && list.length === 0;
  return isEmpty(entries) && isEmpty(outbox) && (paused ?? blocked ?? null) === null;
}
