import type { DatabaseSync } from 'node:sqlite';
import { copyWindowMs, uuidFingerprint } from '../../fingerprint.ts';
import type { NewDelivery } from '../../store.ts';
import { DedupeTable } from './dedupe-table.ts';

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
