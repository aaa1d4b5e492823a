import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { pageSizeOf } from '../paging.ts';
import { encodeQueueEvent, type QueueSaved, queueHistoryRowOf, queueRowOf } from '../queue-codec.ts';
import type { QueueHistoryRow, QueueKey, QueueLease, QueueRow, QueueRows, QueueSave } from '../queue-rows.ts';
import type { SqlRow } from '../rows.ts';

/** The rows of merge queues, to be used inside the transactions of a store. */
export interface QueueTable {
  read(key: QueueKey): QueueRow | undefined;
  list(query: { readonly repositoryId?: number | undefined }): readonly QueueRow[];
  save(save: QueueSave, now: Date): QueueSaved;
  claim(key: QueueKey, leaseMs: number, now: Date): QueueLease | undefined;
  /** Returns whether the lease was still in force. */
  extend(lease: QueueLease, leaseMs: number, now: Date): boolean;
  release(lease: QueueLease): void;
  /** Ends every lease: those of an earlier process. */
  releaseAll(): void;
  history(query: Parameters<QueueRows['listQueueHistory']>[0]): readonly QueueHistoryRow[];
}

/** Prepares the table. */
export function createQueueTable(database: DatabaseSync): QueueTable {
  const one = database.prepare('SELECT * FROM queues WHERE repository_id = ? AND base = ?');
  const all = database.prepare('SELECT * FROM queues ORDER BY repository, base, repository_id');
  const ofRepository = database.prepare('SELECT * FROM queues WHERE repository_id = ? ORDER BY base');
  const insert = database.prepare(
    `INSERT INTO queues (repository_id, base, repository, state, revision, updated_at) VALUES (?, ?, ?, ?, 1, ?)
     ON CONFLICT (repository_id, base) DO NOTHING`,
  );
  const update = database.prepare(
    `UPDATE queues SET repository = ?, state = ?, revision = revision + 1, updated_at = ?
     WHERE repository_id = ? AND base = ? AND revision = ?`,
  );
  const append = database.prepare(
    'INSERT INTO queue_history (repository_id, base, repository, at, event) VALUES (?, ?, ?, ?, ?)',
  );
  const leases = createQueueLeases(database);

  return {
    read({ repositoryId, base }) {
      const row = one.get(repositoryId, base);
      return row && queueRowOf(row as SqlRow);
    },
    list({ repositoryId }) {
      const rows = repositoryId === undefined ? all.all() : ofRepository.all(repositoryId);
      return (rows as readonly SqlRow[]).map(queueRowOf);
    },
    save({ repositoryId, base, repository, state, revision, lease, events = [] }, now) {
      if (lease !== undefined && !leases.isHeld({ repositoryId, base, token: lease.token }, now))
        return 'lost';
      const json = JSON.stringify(state ?? null);
      const at = now.toISOString();
      const { changes } =
        revision === 0
          ? insert.run(repositoryId, base, repository, json, at)
          : update.run(repository, json, at, repositoryId, base, revision);
      if (changes === 0) return 'stale';
      for (const event of events)
        append.run(repositoryId, base, repository, event.at.toISOString(), encodeQueueEvent(event));
      return 'saved';
    },
    ...leases,
    history: createHistory(database),
  };
}

/** Prepares the leases. The clock is that of the wall: several processes compare it. */
function createQueueLeases(database: DatabaseSync): Pick<
  QueueTable,
  'claim' | 'extend' | 'release' | 'releaseAll'
> & {
  isHeld(lease: QueueLease, now: Date): boolean;
} {
  const findHeld = database.prepare(
    'SELECT 1 FROM queue_leases WHERE repository_id = ? AND base = ? AND token = ? AND lease_until > ?',
  );
  const find = database.prepare(
    'SELECT token, lease_ms, lease_until FROM queue_leases WHERE repository_id = ? AND base = ?',
  );
  const take = database.prepare(
    `INSERT INTO queue_leases (repository_id, base, token, lease_ms, lease_until) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (repository_id, base) DO UPDATE SET
       token = excluded.token, lease_ms = excluded.lease_ms, lease_until = excluded.lease_until
     WHERE queue_leases.lease_until <= ?`,
  );
  const prolong = database.prepare(
    `UPDATE queue_leases SET lease_ms = ?, lease_until = ?
     WHERE repository_id = ? AND base = ? AND token = ? AND lease_until > ?`,
  );
  const shorten = database.prepare(
    'UPDATE queue_leases SET lease_until = ? WHERE repository_id = ? AND base = ? AND token = ?',
  );
  const remove = database.prepare(
    'DELETE FROM queue_leases WHERE repository_id = ? AND base = ? AND token = ?',
  );
  const removeAll = database.prepare('DELETE FROM queue_leases');

  return {
    isHeld({ repositoryId, base, token }, now) {
      return findHeld.get(repositoryId, base, token, now.toISOString()) !== undefined;
    },
    claim({ repositoryId, base }, leaseMs, now) {
      const token = randomUUID();
      const until = after(now, leaseMs);
      const { changes } = take.run(repositoryId, base, token, leaseMs, until, now.toISOString());
      if (changes > 0) return { repositoryId, base, token };
      // A clock that was set back: from now on the other one has as long as it asked for.
      const held = find.get(repositoryId, base);
      const latest = after(now, Number(held?.lease_ms));
      if (String(held?.lease_until) > latest) shorten.run(latest, repositoryId, base, String(held?.token));
      return undefined;
    },
    extend({ repositoryId, base, token }, leaseMs, now) {
      const until = after(now, leaseMs);
      return prolong.run(leaseMs, until, repositoryId, base, token, now.toISOString()).changes > 0;
    },
    release: ({ repositoryId, base, token }) => void remove.run(repositoryId, base, token),
    releaseAll: () => void removeAll.run(),
  };
}

function createHistory(database: DatabaseSync): QueueTable['history'] {
  const columns = 'id, repository_id, base, repository, event';
  const prepare = (where: string) =>
    database.prepare(`SELECT ${columns} FROM queue_history WHERE ${where} id < ? ORDER BY id DESC LIMIT ?`);
  const ofAll = prepare('');
  const ofBase = prepare('base = ? AND');
  const ofRepository = prepare('repository_id = ? AND');
  const ofQueue = prepare('repository_id = ? AND base = ? AND');
  return ({ repositoryId, base, before = Number.MAX_SAFE_INTEGER, limit } = {}) => {
    const most = pageSizeOf(limit);
    const find = (): readonly unknown[] => {
      if (repositoryId === undefined)
        return base === undefined ? ofAll.all(before, most) : ofBase.all(base, before, most);
      return base === undefined
        ? ofRepository.all(repositoryId, before, most)
        : ofQueue.all(repositoryId, base, before, most);
    };
    return (find() as readonly SqlRow[]).map(queueHistoryRowOf);
  };
}

function after(now: Date, ms: number): string {
  return new Date(now.getTime() + ms).toISOString();
}
