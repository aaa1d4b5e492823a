import type { DatabaseSync } from 'node:sqlite';
import { ReeveError } from '../../errors.ts';
import { markOfContent, markOfUuid } from '../fingerprint.ts';
import { turnOf } from '../lane.ts';
import type { Accepted, NewDelivery, NewJob } from '../store.ts';
import { Marks } from './dedupe-table.ts';

/** The newest deliveries among which repeats are recognised for certain. */
export const rememberedDeliveries = 65_536;

/** How long after the first the same body counts as its copy (repository, organization and system hooks send one each). */
const copyWindowMs = 60_000;

/** The writes of an intake, to be called inside a transaction. */
export interface Intake {
  accept(delivery: NewDelivery): Accepted;
  enqueue(job: NewJob): Accepted;
}

/** Prepares the intake. `recognise` fills the tables of marks from what is stored: only who accepts needs them. */
export function createIntake(database: DatabaseSync, options: { recognise: boolean }): Intake {
  const insert = database.prepare(
    `INSERT INTO deliveries (door, uuid, event_type, entry, content_type, received_at, state, routed, mark, bytes,
       lane, turn, repository_id, repository, settled_at, reason, copy_of)
     VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertBody = database.prepare('INSERT INTO bodies (id, body) VALUES (?, ?)');
  const known = database.prepare('SELECT uuid, entry FROM deliveries WHERE id = ?');
  const original = database.prepare(
    `SELECT event_type, received_at, body FROM deliveries JOIN bodies USING (id)
     WHERE id = ? AND state = 'accepted' AND attempts = 0 AND bytes = ?`,
  );
  const sameJob = database.prepare("SELECT id FROM deliveries WHERE uuid = ? AND door <> 'webhook'");
  const uuids = new Marks(rememberedDeliveries);
  const contents = new Marks(rememberedDeliveries);
  if (options.recognise) recognise(database, uuids, contents);

  const findKnown = (delivery: NewDelivery, mark: number): number | undefined => {
    const id = uuids.find(mark);
    const row = id === undefined ? undefined : known.get(id);
    // The entry counts: who holds one secret must not be able to make another's delivery look like a repeat.
    return row?.uuid === delivery.uuid && row.entry === delivery.entry ? id : undefined;
  };

  const findOriginal = (delivery: NewDelivery, mark: number): number | undefined => {
    const id = contents.find(mark);
    const row = id === undefined ? undefined : original.get(id, delivery.body.length);
    if (row === undefined || row.event_type !== delivery.eventType) return undefined;
    const ageMs = delivery.receivedAt.getTime() - Date.parse(String(row.received_at));
    if (Math.abs(ageMs) > copyWindowMs) return undefined;
    return row.body instanceof Uint8Array && Buffer.compare(row.body, delivery.body) === 0 ? id : undefined;
  };

  return {
    accept(delivery) {
      const uuidMark = markOfUuid(delivery.uuid);
      const knownId = findKnown(delivery, uuidMark);
      if (knownId !== undefined) return { id: String(knownId), known: true };
      const contentMark = markOfContent(delivery.eventType, delivery.body);
      const copyOf = findOriginal(delivery, contentMark);
      const receivedAt = delivery.receivedAt.toISOString();
      const { route } = delivery;
      const isCopy = copyOf !== undefined;
      const { lastInsertRowid } = insert.run(
        'webhook',
        delivery.uuid,
        delivery.eventType,
        delivery.entry,
        delivery.contentType,
        receivedAt,
        isCopy ? 'settled' : 'accepted',
        contentMark,
        delivery.body.length,
        route?.lane ?? null,
        route === undefined ? null : turnOf(route.lane),
        route?.repositoryId ?? null,
        route?.repository ?? null,
        isCopy ? receivedAt : null,
        isCopy ? `copy of delivery ${copyOf}` : null,
        copyOf ?? null,
      );
      const id = Number(lastInsertRowid);
      insertBody.run(id, delivery.body);
      uuids.add(uuidMark, id);
      if (isCopy) return { id: String(id), known: false, copyOf: String(copyOf) };
      contents.add(contentMark, id);
      return { id: String(id), known: false };
    },

    enqueue(job) {
      const same = sameJob.get(job.uuid);
      if (same !== undefined) return { id: String(same.id), known: true };
      const body = encodeJob(job);
      const { lastInsertRowid } = insert.run(
        job.door,
        job.uuid,
        job.kind,
        job.door,
        'application/json',
        job.receivedAt.toISOString(),
        'accepted',
        0,
        body.length,
        job.lane,
        turnOf(job.lane),
        null,
        null,
        null,
        null,
        null,
      );
      insertBody.run(lastInsertRowid, body);
      return { id: String(lastInsertRowid), known: false };
    },
  };
}

function encodeJob(job: NewJob): Buffer {
  if (job.lane === '') throw new ReeveError('internal', `job ${job.kind} has no lane`);
  const text = JSON.stringify(job.payload ?? null);
  if (text === undefined)
    throw new ReeveError('internal', `the payload of job ${job.kind} is not plain data`);
  return Buffer.from(text);
}

/** Oldest first, so that the newest are the last to be forgotten. */
function recognise(database: DatabaseSync, uuids: Marks, contents: Marks): void {
  const rows = database.prepare(
    `SELECT id, uuid, mark, copy_of FROM deliveries
     WHERE id > (SELECT coalesce(max(id), 0) - ? FROM deliveries) AND door = 'webhook' ORDER BY id`,
  );
  // Arrays: making an object of each of so many rows would take half the time of a start.
  rows.setReturnArrays(true);
  for (const row of rows.iterate(rememberedDeliveries)) {
    const [id, uuid, mark, copyOf] = Object.values(row);
    uuids.add(markOfUuid(String(uuid)), Number(id));
    // A copy is never the first of others; noted, it would hide the one that is.
    if (copyOf === null) contents.add(Number(mark), Number(id));
  }
}
