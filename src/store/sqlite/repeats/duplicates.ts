import type { DatabaseSync } from 'node:sqlite';
import { copyWindowMs, uuidFingerprint } from '../../fingerprint.ts';
import type { NewDelivery } from '../../store.ts';

/** The newest deliveries among which duplicates are recognised for certain. */
export const rememberedDeliveries = 65_536;

/** Recognises a delivery that is stored already, and one that is a copy of another. */
export interface Duplicates {
  /** Returns the id of the delivery with the same uuid from the same entry. */
  findKnown(delivery: NewDelivery, uuidMark: number): number | undefined;
  /** Returns the id of the delivery that this one is a copy of. */
  findOriginal(delivery: NewDelivery, contentMark: number): number | undefined;
  /** Records a stored delivery; without a content mark for a copy, which is never the first of others. */
  add(id: number, uuidMark: number, contentMark: number | undefined): void;
}

/** Creates the recognition of duplicates. With `load` it knows what is stored: only a worker needs that. */
export function createDuplicates(database: DatabaseSync, options: { load: boolean }): Duplicates {
  const known = database.prepare('SELECT uuid, entry FROM deliveries WHERE id = ?');
  const original = database.prepare(
    `SELECT event_type, received_at, body FROM deliveries JOIN bodies USING (id)
     WHERE id = ? AND state = 'accepted' AND attempts = 0 AND bytes = ?`,
  );
  const uuids = new DedupeTable(rememberedDeliveries);
  const contents = new DedupeTable(rememberedDeliveries);
  if (options.load) loadMarks(database, uuids, contents);

  return {
    findKnown(delivery, mark) {
      const id = uuids.find(mark);
      const row = id === undefined ? undefined : known.get(id);
      // The entry is part of the mark: a holder of one secret must not be able to make deliveries of another entry look like duplicates.
      return row?.uuid === delivery.uuid && row.entry === delivery.entry ? id : undefined;
    },

    findOriginal(delivery, mark) {
      const id = contents.find(mark);
      const row = id === undefined ? undefined : original.get(id, delivery.body.length);
      if (row === undefined || row.event_type !== delivery.eventType) return undefined;
      const ageMs = delivery.receivedAt.getTime() - Date.parse(String(row.received_at));
      if (Math.abs(ageMs) > copyWindowMs) return undefined;
      return row.body instanceof Uint8Array && Buffer.compare(row.body, delivery.body) === 0 ? id : undefined;
    },

    add(id, uuidMark, contentMark) {
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
  // Arrays: creating an object per row would take half the time of a start.
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
