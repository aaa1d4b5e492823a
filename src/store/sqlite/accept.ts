import type { DatabaseSync } from 'node:sqlite';
import { contentFingerprint, copyWindowMs, uuidFingerprint } from '../fingerprint.ts';
import { encodeJob, turnOf } from '../rows.ts';
import type { Accepted, NewDelivery, NewJob } from '../store.ts';
import { KnownHeaderSets } from '../stored-headers.ts';

/**
 * Prepares the writes that accept deliveries and jobs; called inside a transaction. `recognise` fills the dedupe tables
 * from stored rows, for a role that accepts deliveries.
 */
export function createAccept(database: DatabaseSync, options: { recognise: boolean }) {
  const rows = createDeliveryRows(database);
  const insertBody = database.prepare('INSERT INTO bodies (id, body) VALUES (?, ?)');
  const sameJob = database.prepare("SELECT id FROM deliveries WHERE uuid = ? AND door <> 'webhook'");
  const duplicates = createDuplicates(database, { load: options.recognise });
  const headerSets = createHeaderSetTable(database);

  return {
    /** Called after a transaction was rolled back. */
    forgetHeaderSets: () => headerSets.clear(),

    accept(delivery: NewDelivery): Accepted {
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

/** Prepares the write that stores header sets, each once; called inside a transaction. */
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

/** Number of the newest deliveries among which duplicates are reliably recognised. */
export const rememberedDeliveries = 65_536;

/**
 * Recognises a delivery that is already stored, and one that is a copy of another. With `load` it reads the stored
 * marks, which only a worker needs.
 */
export function createDuplicates(database: DatabaseSync, options: { load: boolean }) {
  const known = database.prepare('SELECT uuid, entry FROM deliveries WHERE id = ?');
  const original = database.prepare(
    `SELECT event_type, received_at, body FROM deliveries JOIN bodies USING (id)
     WHERE id = ? AND state = 'accepted' AND attempts = 0 AND bytes = ?`,
  );
  const uuids = new DedupeTable(rememberedDeliveries);
  const contents = new DedupeTable(rememberedDeliveries);
  if (options.load) loadMarks(database, uuids, contents);

  return {
    /** Returns the id of the delivery with the same uuid from the same entry. */
    findKnown(delivery: NewDelivery, mark: number): number | undefined {
      const id = uuids.find(mark);
      const row = id === undefined ? undefined : known.get(id);
      // The entry is part of the mark: a holder of one secret must not be able to make deliveries of another entry
      // appear as duplicates.
      return row?.uuid === delivery.uuid && row.entry === delivery.entry ? id : undefined;
    },

    /** Returns the id of the delivery that this one is a copy of. */
    findOriginal(delivery: NewDelivery, mark: number): number | undefined {
      const id = contents.find(mark);
      const row = id === undefined ? undefined : original.get(id, delivery.body.length);
      if (row === undefined || row.event_type !== delivery.eventType) return undefined;
      const ageMs = delivery.receivedAt.getTime() - Date.parse(String(row.received_at));
      if (Math.abs(ageMs) > copyWindowMs) return undefined;
      return row.body instanceof Uint8Array && Buffer.compare(row.body, delivery.body) === 0 ? id : undefined;
    },

    /** Records a stored delivery; without a content mark for a copy, which is never the first of others. */
    add(id: number, uuidMark: number, contentMark: number | undefined): void {
      uuids.add(uuidMark, id);
      if (contentMark !== undefined) contents.add(contentMark, id);
    },
  };
}

/** Oldest first, so that the newest are removed last. */
function loadMarks(database: DatabaseSync, uuids: DedupeTable, contents: DedupeTable): void {
  const rows = database.prepare(
    `SELECT id, uuid, mark, copy_of FROM deliveries
     WHERE id > (SELECT coalesce(max(id), 0) - ? FROM deliveries) AND door = 'webhook' ORDER BY id`,
  );
  // Arrays: creating an object per row would take half of the startup time.
  rows.setReturnArrays(true);
  for (const row of rows.iterate(rememberedDeliveries)) {
    const [id, uuid, mark, copyOf] = Object.values(row);
    uuids.add(uuidFingerprint(String(uuid)), Number(id));
    // A copy is never an original; if it were added, it would hide the original.
    if (copyOf === null) contents.add(Number(mark), Number(id));
  }
}

/**
 * A bounded table from marks to the last stored row with this mark. It may return a false positive (two values with one
 * mark), so a hit is compared with the stored row. It removes the oldest marks, never a recent one.
 *
 * Two generations of open addressing in typed arrays: when the younger is full, the older is dropped. That needs no
 * deletion, no garbage collection and 16 bytes per mark, while a UNIQUE index would cost a third of the receiver's throughput.
 */
export class DedupeTable {
  readonly #capacity: number;
  #young: Generation;
  #old: Generation;

  /** The newest `capacity` marks are always kept; at most twice as many are kept. */
  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#young = createGeneration(capacity);
    this.#old = createGeneration(0);
  }

  /** Returns the last row with the mark. */
  find(mark: number): number | undefined {
    return readSlot(this.#young, mark) ?? readSlot(this.#old, mark);
  }

  /** Adds the mark of a row. `mark` is a non-negative safe integer, `row` a positive one. */
  add(mark: number, row: number): void {
    if (this.#young.size >= this.#capacity) {
      this.#old = this.#young;
      this.#young = createGeneration(this.#capacity);
    }
    writeSlot(this.#young, mark, row);
  }
}

type Generation = { readonly marks: Float64Array; readonly rows: Float64Array; size: number };

function createGeneration(capacity: number): Generation {
  // At most half full, a power of two: probes stay short and the remainder is a mask.
  const slots = 2 ** Math.ceil(Math.log2(Math.max(capacity, 1) * 2));
  return { marks: new Float64Array(slots), rows: new Float64Array(slots), size: 0 };
}

function slotOf(generation: Generation, mark: number): number {
  const mask = generation.rows.length - 1;
  // Both halves of the 53 bits are hashed by multiplication, so that consecutive marks are distributed.
  let slot = Math.imul((mark % 4294967296) ^ (mark / 4294967296), 2654435761) >>> 0;
  slot = (slot ^ (slot >>> 15)) & mask;
  while (generation.rows[slot] !== 0 && generation.marks[slot] !== mark) slot = (slot + 1) & mask;
  return slot;
}

function readSlot(generation: Generation, mark: number): number | undefined {
  return generation.rows[slotOf(generation, mark)] || undefined;
}

function writeSlot(generation: Generation, mark: number, row: number): void {
  const slot = slotOf(generation, mark);
  if (generation.rows[slot] === 0) generation.size += 1;
  generation.marks[slot] = mark;
  generation.rows[slot] = row;
}
