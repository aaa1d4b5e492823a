import type { DatabaseSync } from 'node:sqlite';
import { ReeveError } from '../../errors.ts';
import { contentFingerprint, uuidFingerprint } from '../fingerprint.ts';
import { turnOf } from '../lane.ts';
import type { Accepted, NewDelivery, NewJob } from '../store.ts';
import { createDuplicates } from './duplicates.ts';

/** Writes that accept deliveries and jobs; to be called inside a transaction. */
export interface Accept {
  accept(delivery: NewDelivery): Accepted;
  enqueue(job: NewJob): Accepted;
}

/** Prepares the statements. `recognise` fills the dedupe tables from stored rows, for a role that accepts deliveries. */
export function createAccept(database: DatabaseSync, options: { recognise: boolean }): Accept {
  const insert = database.prepare(
    `INSERT INTO deliveries (door, uuid, event_type, entry, content_type, received_at, state, routed, mark, bytes,
       lane, turn, repository_id, repository, settled_at, reason, copy_of)
     VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  // The common case in its shortest form: each value that is bound costs time, and every delivery is one.
  const insertAccepted = database.prepare(
    `INSERT INTO deliveries (door, uuid, event_type, entry, content_type, received_at, state, routed, mark, bytes)
     VALUES ('webhook', ?, ?, ?, ?, ?, 'accepted', 0, ?, ?)`,
  );
  const insertBody = database.prepare('INSERT INTO bodies (id, body) VALUES (?, ?)');
  const sameJob = database.prepare("SELECT id FROM deliveries WHERE uuid = ? AND door <> 'webhook'");
  const duplicates = createDuplicates(database, { load: options.recognise });

  return {
    accept(delivery) {
      const uuidMark = uuidFingerprint(delivery.uuid);
      const knownId = duplicates.findKnown(delivery, uuidMark);
      if (knownId !== undefined) return { id: String(knownId), known: true };
      const contentMark = contentFingerprint(delivery.eventType, delivery.body);
      const copyOf = duplicates.findOriginal(delivery, contentMark);
      const receivedAt = delivery.receivedAt.toISOString();
      const { route } = delivery;
      const isCopy = copyOf !== undefined;
      const { uuid, eventType, entry, contentType, body } = delivery;
      const { lastInsertRowid } =
        isCopy || route !== undefined
          ? insert.run(
              'webhook',
              uuid,
              eventType,
              entry,
              contentType,
              receivedAt,
              isCopy ? 'settled' : 'accepted',
              contentMark,
              body.length,
              route?.lane ?? null,
              route === undefined ? null : turnOf(route.lane),
              route?.repositoryId ?? null,
              route?.repository ?? null,
              isCopy ? receivedAt : null,
              isCopy ? `copy of delivery ${copyOf}` : null,
              copyOf ?? null,
            )
          : insertAccepted.run(uuid, eventType, entry, contentType, receivedAt, contentMark, body.length);
      const id = Number(lastInsertRowid);
      insertBody.run(id, delivery.body);
      duplicates.add(id, uuidMark, isCopy ? undefined : contentMark);
      if (isCopy) return { id: String(id), known: false, copyOf: String(copyOf) };
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
