import type { DatabaseSync } from 'node:sqlite';
import { contentFingerprint, copyWindowMs } from '../fingerprint.ts';
import { encodeJob, turnOf } from '../rows.ts';
import type { Accepted, NewDelivery, NewJob } from '../store.ts';
import { KnownHeaderSets } from '../stored-headers.ts';

/** Prepares the writes that accept deliveries and jobs; called inside a transaction. */
export function createAccept(database: DatabaseSync) {
  const rows = createDeliveryRows(database);
  const insertBody = database.prepare('INSERT INTO bodies (id, body) VALUES (?, ?)');
  const sameJob = database.prepare("SELECT id FROM deliveries WHERE uuid = ? AND door <> 'webhook'");
  const duplicates = createDuplicates(database);
  const headerSets = createHeaderSetTable(database);

  return {
    /** Called after a transaction was rolled back. */
    forgetHeaderSets: () => headerSets.clear(),

    accept(delivery: NewDelivery): Accepted {
      const knownId = duplicates.findKnown(delivery);
      if (knownId !== undefined) return { id: String(knownId), known: true };
      const contentMark = contentFingerprint(delivery.eventType, delivery.body);
      const copyOf = duplicates.findOriginal(delivery, contentMark);
      const headerSet = headerSets.store(delivery);
      const id = rows.insertDelivery(delivery, { mark: contentMark, copyOf, headerSet });
      insertBody.run(id, delivery.body);
      if (copyOf !== undefined) return { id: String(id), known: false, copyOf: String(copyOf) };
      return { id: String(id), known: false };
    },

    enqueue(job: NewJob): Accepted {
      const same = sameJob.get(job.uuid);
      if (same !== undefined) return { id: String(same.id), known: true };
      const body = encodeJob(job);
      const id = rows.insertJob(job, body.length);
      insertBody.run(id, body);
      return { id: String(id), known: false };
    },
  };
}

/** Columns that are computed for a delivery. */
type FoundDelivery = {
  readonly mark: number;
  readonly copyOf: number | undefined;
  readonly headerSet: number | null;
};

/** Returns the inserts of rows without their bodies; each returns the id of the row. */
function createDeliveryRows(database: DatabaseSync) {
  // A separate short form for the common case: each bound value costs time on every delivery.
  const accepted = database.prepare(
    `INSERT INTO deliveries (door, uuid, event_type, entry, content_type, received_at, state, routed, mark, bytes, header_set)
     VALUES ('webhook', ?, ?, ?, ?, ?, 'accepted', 0, ?, ?, ?)`,
  );
  const other = database.prepare(
    `INSERT INTO deliveries (door, uuid, event_type, entry, content_type, received_at, state, routed, mark, bytes,
       lane, turn, repository_id, repository, settled_at, reason, copy_of, header_set)
     VALUES ('webhook', ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const job = database.prepare(
    `INSERT INTO deliveries (door, uuid, event_type, entry, content_type, received_at, state, routed, mark, bytes, lane, turn)
     VALUES (?, ?, ?, ?, 'application/json', ?, 'accepted', 0, 0, ?, ?, ?)`,
  );

  return {
    insertDelivery(delivery: NewDelivery, found: FoundDelivery): number {
      const { uuid, eventType, entry, contentType, body, route } = delivery;
      const { mark, copyOf, headerSet } = found;
      const receivedAt = delivery.receivedAt.toISOString();
      if (copyOf === undefined && route === undefined)
        return Number(
          accepted.run(uuid, eventType, entry, contentType, receivedAt, mark, body.length, headerSet)
            .lastInsertRowid,
        );
      const { lastInsertRowid } = other.run(
        uuid,
        eventType,
        entry,
        contentType,
        receivedAt,
        copyOf === undefined ? 'accepted' : 'settled',
        mark,
        body.length,
        route?.lane ?? null,
        route === undefined ? null : turnOf(route.lane),
        route?.repositoryId ?? null,
        route?.repository ?? null,
        copyOf === undefined ? null : receivedAt,
        copyOf === undefined ? null : `copy of delivery ${copyOf}`,
        copyOf ?? null,
        headerSet,
      );
      return Number(lastInsertRowid);
    },
    insertJob({ door, uuid, kind, receivedAt, lane }: NewJob, bytes: number): number {
      const at = receivedAt.toISOString();
      return Number(job.run(door, uuid, kind, door, at, bytes, lane, turnOf(lane)).lastInsertRowid);
    },
  };
}

/** Prepares the write that stores header sets, each only once; called inside a transaction. */
function createHeaderSetTable(database: DatabaseSync) {
  const known = new KnownHeaderSets();
  const put = database.prepare(
    `INSERT INTO header_sets (id, headers, used_at) VALUES (?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET used_at = max(used_at, excluded.used_at)`,
  );
  return {
    /** Returns the number of a delivery's header set; null if it has none. */
    store({ headers, receivedAt }: NewDelivery): number | null {
      if (headers === undefined) return null;
      const { id, isNew } = known.find(headers, receivedAt);
      if (isNew) {
        put.run(id, headers, receivedAt.toISOString());
        known.add(headers, id, receivedAt);
      }
      return id;
    },
    /** Clears the known sets: their writes may have been rolled back. */
    clear: () => known.clear(),
  };
}

/** Recognises a delivery that is already stored, and one that is a copy of another. */
export function createDuplicates(database: DatabaseSync) {
  // The entry is part of the identity: a holder of one secret must not be able to make deliveries of another entry
  // appear as duplicates.
  const known = database.prepare(
    "SELECT id FROM deliveries WHERE uuid = ? AND entry = ? AND door = 'webhook' LIMIT 1",
  );
  const originals = database.prepare(
    `SELECT id, event_type, received_at, body FROM deliveries JOIN bodies USING (id)
     WHERE mark = ? AND state = 'accepted' AND attempts = 0 AND door = 'webhook' AND bytes = ?
     ORDER BY id DESC LIMIT ${maxOriginals}`,
  );

  return {
    /** Returns the id of the delivery with the same uuid from the same entry. */
    findKnown({ uuid, entry }: NewDelivery): number | undefined {
      const row = known.get(uuid, entry);
      return row === undefined ? undefined : Number(row.id);
    },

    /** Returns the id of the delivery that this one is a copy of. */
    findOriginal({ eventType, receivedAt, body }: NewDelivery, mark: number): number | undefined {
      for (const row of originals.iterate(mark, body.length)) {
        if (row.event_type !== eventType || !(row.body instanceof Uint8Array)) continue;
        const ageMs = receivedAt.getTime() - Date.parse(String(row.received_at));
        if (Math.abs(ageMs) <= copyWindowMs && Buffer.compare(row.body, body) === 0) return Number(row.id);
      }
      return undefined;
    },
  };
}

/** Maximum number of waiting deliveries with the same mark that are compared with a new one. */
const maxOriginals = 8;
