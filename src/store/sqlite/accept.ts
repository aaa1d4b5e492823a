import type { DatabaseSync } from 'node:sqlite';
import { contentFingerprint, uuidFingerprint } from '../fingerprint.ts';
import { encodeJob, turnOf } from '../rows.ts';
import type { Accepted, NewDelivery, NewJob } from '../store.ts';
import { KnownHeaderSets } from '../stored-headers.ts';
import { createDuplicates } from './repeats/duplicates.ts';

/** Writes that accept deliveries and jobs; to be called inside a transaction. */
export interface Accept {
  accept(delivery: NewDelivery): Accepted;
  enqueue(job: NewJob): Accepted;
  /** To be called after a transaction was rolled back. */
  forgetHeaderSets(): void;
}

/** Prepares the statements. `recognise` fills the dedupe tables from stored rows, for a role that accepts deliveries. */
export function createAccept(database: DatabaseSync, options: { recognise: boolean }): Accept {
  const rows = createDeliveryRows(database);
  const insertBody = database.prepare('INSERT INTO bodies (id, body) VALUES (?, ?)');
  const sameJob = database.prepare("SELECT id FROM deliveries WHERE uuid = ? AND door <> 'webhook'");
  const duplicates = createDuplicates(database, { load: options.recognise });
  const headerSets = createHeaderSetTable(database);

  return {
    forgetHeaderSets: () => headerSets.clear(),

    accept(delivery) {
      const uuidMark = uuidFingerprint(delivery.uuid);
      const knownId = duplicates.findKnown(delivery, uuidMark);
      if (knownId !== undefined) return { id: String(knownId), known: true };
      const contentMark = contentFingerprint(delivery.eventType, delivery.body);
      const copyOf = duplicates.findOriginal(delivery, contentMark);
      const isCopy = copyOf !== undefined;
      const headerSet = headerSets.store(delivery);
      const id = rows.insertDelivery(delivery, { mark: contentMark, copyOf, headerSet });
      insertBody.run(id, delivery.body);
      duplicates.add(id, uuidMark, isCopy ? undefined : contentMark);
      if (isCopy) return { id: String(id), known: false, copyOf: String(copyOf) };
      return { id: String(id), known: false };
    },

    enqueue(job) {
      const same = sameJob.get(job.uuid);
      if (same !== undefined) return { id: String(same.id), known: true };
      const body = encodeJob(job);
      const id = rows.insertJob(job, body.length);
      insertBody.run(id, body);
      return { id: String(id), known: false };
    },
  };
}

/** What is known of a delivery beside what came with it. */
type FoundDelivery = {
  readonly mark: number;
  readonly copyOf: number | undefined;
  readonly headerSet: number | null;
};

/** Returns the inserts of rows without their bodies; each returns the id of the row. */
function createDeliveryRows(database: DatabaseSync) {
  // The common case in its shortest form: each value that is bound costs time, and every delivery is one.
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

/** Stores headers of deliveries, the same ones once; to be called inside a transaction. */
interface HeaderSetTable {
  /** Returns the number of a delivery's headers; null if it came without. */
  store(delivery: Pick<NewDelivery, 'headers' | 'receivedAt'>): number | null;
  /** Forgets what was stored: it may have been rolled back. */
  clear(): void;
}

/** Prepares the statement. */
function createHeaderSetTable(database: DatabaseSync): HeaderSetTable {
  const known = new KnownHeaderSets();
  const put = database.prepare(
    `INSERT INTO header_sets (id, headers, used_at) VALUES (?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET used_at = max(used_at, excluded.used_at)`,
  );
  return {
    store({ headers, receivedAt }) {
      if (headers === undefined) return null;
      const { id, isNew } = known.find(headers, receivedAt);
      if (isNew) {
        put.run(id, headers, receivedAt.toISOString());
        known.add(headers, id, receivedAt);
      }
      return id;
    },
    clear: () => known.clear(),
  };
}
