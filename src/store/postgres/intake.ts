import { ReeveError } from '../../platform/errors.ts';
import { contentFingerprint, copyWindowMs } from '../fingerprint.ts';
import { encodeJob, turnOf } from '../rows.ts';
import type { SqlRow } from '../sql.ts';
import type { Accepted, NewDelivery, NewJob } from '../store.ts';
import { KnownHeaderSets } from '../stored-headers.ts';
import type { Queryable } from './connections.ts';
import type { PostgresContext } from './context.ts';
import { indexableText, storableOrNull, storableText } from './postgres-sql.ts';

/** Limits of one statement. */
const maxDeliveries = 256;
const maxBytes = 4 * 2 ** 20;
/** Maximum number of lookups for a delivery that another process stores and prunes at the same time. */
const maxLooks = 3;

/** A delivery that waits for the next statement. */
type Arrival = {
  readonly delivery: NewDelivery;
  /** Checksum of the content. */
  readonly mark: number;
  /** Identity: uuid and entry. */
  readonly identity: string;
  readonly resolve: (accepted: Accepted) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Stores deliveries and jobs. All deliveries that arrive during one statement are stored by the next, so that one
 * commit serves many of them.
 */
export class Intake {
  readonly #context: PostgresContext;
  #arrivals: Arrival[] = [];
  #draining: Promise<void> | undefined;
  #refusedBytes = 0;
  readonly #headerSets = new KnownHeaderSets();

  constructor(context: PostgresContext) {
    this.#context = context;
  }

  accept(delivery: NewDelivery): Promise<Accepted> {
    const { eventType, body, uuid, entry } = delivery;
    const mark = contentFingerprint(eventType, body);
    const identity = JSON.stringify([indexableText(uuid), indexableText(entry)]);
    return new Promise((resolve, reject) => {
      this.#arrivals.push({ delivery, mark, identity, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  async enqueue(job: NewJob): Promise<Accepted> {
    const body = encodeJob(job);
    const { database, announceWork } = this.#context;
    const lane = indexableText(job.lane);
    const uuid = indexableText(job.uuid);
    for (let look = 1; look <= maxLooks; look += 1) {
      const { rows } = await database.query(insertJob, [
        job.door,
        uuid,
        storableText(job.kind),
        job.receivedAt.toISOString(),
        lane,
        turnOf(lane),
        body,
      ]);
      if (rows[0] !== undefined) {
        announceWork();
        return { id: String(rows[0].id), known: false };
      }
      const found = await database.query("SELECT id FROM deliveries WHERE uuid = $1 AND door <> 'webhook'", [
        uuid,
      ]);
      if (found.rows[0] !== undefined) return { id: String(found.rows[0].id), known: true };
    }
    throw vanished(job.uuid);
  }

  /**
   * Size of the largest statement that the server has refused, until a statement of that size is stored; 0 if there is
   * none.
   */
  get refusedBytes(): number {
    return this.#refusedBytes;
  }

  /** Resolves when all arrived deliveries are stored. */
  async finish(): Promise<void> {
    await this.#draining;
  }

  async #drain(): Promise<void> {
    // Other deliveries of this turn of the event loop join the first statement.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#arrivals.length > 0) await this.#store(this.#take());
    this.#draining = undefined;
  }

  /**
   * Removes the next batch from the queue. Deliveries with the same content go into separate batches, because the later
   * ones are copies of the first.
   */
  #take(): Arrival[] {
    const identities = new Set<string>();
    const marks = new Set<number>();
    let bytes = 0;
    let count = 0;
    for (const { delivery, identity, mark } of this.#arrivals) {
      const isSame = identities.has(identity);
      if (marks.has(mark) && !isSame) break;
      if (count > 0 && (count === maxDeliveries || bytes + delivery.body.length > maxBytes)) break;
      identities.add(identity);
      marks.add(mark);
      bytes += delivery.body.length;
      count += 1;
    }
    return this.#arrivals.splice(0, count);
  }

  async #store(batch: readonly Arrival[]): Promise<void> {
    const first = new Map<string, Arrival>();
    for (const arrival of batch) if (!first.has(arrival.identity)) first.set(arrival.identity, arrival);
    const bytes = batch.reduce((sum, { delivery }) => sum + delivery.body.length, 0);
    try {
      const stored = await storeDeliveries(this.#context.database, [...first.values()], this.#headerSets);
      for (const arrival of batch) {
        const accepted = stored.get(arrival.identity);
        if (accepted === undefined) arrival.reject(vanished(arrival.delivery.uuid));
        else
          arrival.resolve(
            first.get(arrival.identity) === arrival ? accepted : { id: accepted.id, known: true },
          );
      }
      if (bytes >= this.#refusedBytes) this.#refusedBytes = 0;
      this.#context.announceWork();
    } catch (error) {
      const isRefusal = error instanceof ReeveError && error.code === 'store-unwritable';
      if (isRefusal) this.#refusedBytes = Math.max(this.#refusedBytes, bytes);
      if (isRefusal || batch.length === 1) {
        for (const arrival of batch) arrival.reject(error);
        return;
      }
      // A delivery that the server rejects must not fail the others.
      for (const arrival of batch) await this.#store([arrival]);
    }
  }
}

/** Stores deliveries with different identities, and returns the result for each. */
async function storeDeliveries(
  sql: Queryable,
  arrivals: readonly Arrival[],
  headerSets: KnownHeaderSets,
): Promise<ReadonlyMap<string, Accepted>> {
  const found = new Map<string, Accepted>();
  let missing = arrivals;
  for (let look = 1; look <= maxLooks && missing.length > 0; look += 1) {
    const inserted = await sql.query(
      insertDeliveries,
      valuesOf(missing, await storeHeaderSets(sql, missing, headerSets)),
    );
    for (const row of inserted.rows) {
      const copyOf = row.copy_of === null ? {} : { copyOf: String(row.copy_of) };
      found.set(identityOf(row), { id: String(row.id), known: false, ...copyOf });
    }
    missing = missing.filter(({ identity }) => !found.has(identity));
    if (missing.length === 0) break;
    // A separate statement, because the first one does not see rows that another process stored while it ran.
    const known = await sql.query(findKnown, [
      missing.map(({ delivery }) => indexableText(delivery.uuid)),
      missing.map(({ delivery }) => indexableText(delivery.entry)),
    ]);
    for (const row of known.rows) found.set(identityOf(row), { id: String(row.id), known: true });
    missing = missing.filter(({ identity }) => !found.has(identity));
  }
  return found;
}

/**
 * Stores the header sets of deliveries, before the deliveries. Each set is stored once, because all deliveries of a
 * hook share one. Returns the numbers of the sets.
 */
async function storeHeaderSets(
  sql: Queryable,
  arrivals: readonly Arrival[],
  known: KnownHeaderSets,
): Promise<readonly (number | null)[]> {
  const missing = new Map<number, { readonly text: string; readonly at: Date }>();
  const ids = arrivals.map(({ delivery: { headers, receivedAt } }) => {
    if (headers === undefined) return null;
    const { id, isNew } = known.find(headers, receivedAt);
    if (isNew) missing.set(id, { text: headers, at: receivedAt });
    return id;
  });
  if (missing.size === 0) return ids;
  const sets = [...missing];
  await sql.query(insertHeaderSets, [
    sets.map(([id]) => id),
    sets.map(([, { text }]) => storableText(text)),
    sets.map(([, { at }]) => at.toISOString()),
  ]);
  for (const [id, { text, at }] of sets) known.add(text, id, at);
  return ids;
}

function identityOf({ uuid, entry }: SqlRow): string {
  return JSON.stringify([uuid, entry]);
}

function valuesOf(arrivals: readonly Arrival[], headerSets: readonly (number | null)[]): readonly unknown[] {
  const given = arrivals.map(({ delivery }) => delivery);
  const lengths = given.map(({ body }) => body.length);
  let end = 0;
  const lanes = given.map(({ route }) => (route === undefined ? null : indexableText(route.lane)));
  return [
    given.map(({ uuid }) => indexableText(uuid)),
    given.map(({ eventType }) => storableText(eventType)),
    given.map(({ entry }) => indexableText(entry)),
    given.map(({ contentType }) => storableText(contentType)),
    given.map(({ receivedAt }) => receivedAt.toISOString()),
    arrivals.map(({ mark }) => mark),
    lanes,
    lanes.map((lane) => (lane === null ? null : turnOf(lane))),
    given.map(({ route }) => route?.repositoryId ?? null),
    given.map(({ route }) => storableOrNull(route?.repository)),
    lengths.map((length) => {
      end += length;
      return end - length;
    }),
    lengths,
    // One buffer for all bodies, because an array of buffers would be encoded in hexadecimal.
    Buffer.concat(given.map(({ body }) => body)),
    copyWindowMs,
    headerSets,
  ];
}

function vanished(uuid: string): ReeveError {
  return new ReeveError('internal', `the delivery ${uuid} is neither stored nor known`);
}

const insertDeliveries = `
  WITH given AS MATERIALIZED (
    SELECT uuid, event_type, entry, content_type, received_at, mark, lane, turn, repository_id, repository, position,
      substring($13::bytea FROM begins + 1 FOR bytes) AS body, bytes, header_set
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::bigint[], $7::text[], $8::text[],
      $9::bigint[], $10::text[], $11::integer[], $12::integer[], $15::bigint[]) WITH ORDINALITY AS given (uuid, event_type,
      entry, content_type, received_at, mark, lane, turn, repository_id, repository, begins, bytes, header_set, position)
  ), stored AS (
    INSERT INTO deliveries (door, uuid, event_type, entry, content_type, received_at, state, routed, mark, bytes, lane, turn,
      repository_id, repository, settled_at, reason, copy_of, header_set)
    SELECT 'webhook', given.uuid, given.event_type, given.entry, given.content_type, given.received_at,
      CASE WHEN original.id IS NULL THEN 'accepted' ELSE 'settled' END, false, given.mark, given.bytes, given.lane, given.turn,
      given.repository_id, given.repository, CASE WHEN original.id IS NOT NULL THEN given.received_at END,
      'copy of delivery ' || original.id, original.id, given.header_set
    FROM given LEFT JOIN LATERAL (
      SELECT earlier.id FROM deliveries AS earlier
      WHERE earlier.state = 'accepted' AND earlier.attempts = 0 AND earlier.door = 'webhook' AND earlier.mark = given.mark
        AND earlier.event_type = given.event_type AND earlier.bytes = given.bytes
        AND abs(extract(epoch FROM given.received_at - earlier.received_at)) * 1000 <= $14::integer
        AND (SELECT body FROM bodies WHERE bodies.id = earlier.id) = given.body
      ORDER BY earlier.id LIMIT 1
    ) AS original ON true
    ORDER BY given.position
    ON CONFLICT (uuid, entry) WHERE door = 'webhook' DO NOTHING
    RETURNING id, uuid, entry, copy_of
  ), kept AS (
    INSERT INTO bodies (id, body) SELECT stored.id, given.body FROM stored JOIN given USING (uuid, entry)
  )
  SELECT id, uuid, entry, copy_of FROM stored`;

/** Sorted by number, so that two processes that store the same sets do not deadlock. */
const insertHeaderSets = `
  INSERT INTO header_sets (id, headers, used_at)
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::timestamptz[]) AS given (id, headers, used_at) ORDER BY id
  ON CONFLICT (id) DO UPDATE SET used_at = greatest(header_sets.used_at, excluded.used_at)`;

const findKnown = `SELECT id, uuid, entry FROM deliveries
  WHERE door = 'webhook' AND (uuid, entry) IN (SELECT * FROM unnest($1::text[], $2::text[]))`;

const insertJob = `
  WITH stored AS (
    INSERT INTO deliveries (door, uuid, event_type, entry, content_type, received_at, state, routed, mark, bytes, lane, turn)
    VALUES ($1, $2, $3, $1, 'application/json', $4, 'accepted', false, 0, length($7::bytea), $5, $6)
    ON CONFLICT (uuid) WHERE door <> 'webhook' DO NOTHING RETURNING id
  ), kept AS (INSERT INTO bodies (id, body) SELECT id, $7::bytea FROM stored)
  SELECT id FROM stored`;
