import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contentFingerprint } from '../../../src/store/fingerprint.ts';
import { createDuplicates } from '../../../src/store/sqlite/accept.ts';
import { createRepeats } from '../../../src/store/sqlite/claims.ts';
import { migrate } from '../../../src/store/sqlite/migrations.ts';
import { makeDelivery } from '../make.ts';

const at = new Date('2026-03-01T12:00:00.000Z');
let database: DatabaseSync;
beforeEach(() => {
  database = new DatabaseSync(':memory:');
  migrate(database, 'reeve.db');
});
afterEach(() => database.close());
/** Writes deliveries with ids starting at `first`; each uuid is its id. */
function fill(
  count: number,
  { first = 1, state = 'accepted', door = 'webhook', copyOf = null as number | null } = {},
): void {
  database
    .prepare(
      `WITH RECURSIVE n (id) AS (SELECT CAST(? AS INTEGER) UNION ALL SELECT id + 1 FROM n LIMIT ?)
       INSERT INTO deliveries (id, door, uuid, event_type, entry, content_type, received_at, state, routed, mark, bytes, copy_of)
       SELECT id, ?, 'uuid ' || id, 'push', 'e', 't', ?, ?, 0, id, 2, ? FROM n`,
    )
    .run(first, count, door, at.toISOString(), state, copyOf);
}
/** Returns the query plan of a statement. */
const planOf = (sql: string): string =>
  database
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => String(detail))
    .join('; ');
const digestOf = (content: number): Buffer => Buffer.alloc(32, content);

describe('a repeat', () => {
  it('is recorded with the first delivery of its digest', () => {
    fill(4);
    const { note, originalOf } = createRepeats(database);

    const found = [note(1, digestOf(1)), note(2, digestOf(2)), note(3, digestOf(1)), note(4, digestOf(1))];

    expect(found).toEqual([undefined, undefined, 1, 1]);
    expect([1, 2, 3, 4, 5].map(originalOf)).toEqual([undefined, undefined, 1, 1, undefined]);
  });

  it('is recognised by its whole digest, of which only the start is in memory', () => {
    fill(2);
    const { note } = createRepeats(database);
    const alike = digestOf(1);
    alike[31] = 2;

    expect([note(1, digestOf(1)), note(2, alike)]).toEqual([undefined, undefined]);
  });

  it('of a dead delivery is itself the original of later ones', () => {
    fill(4);
    const { note, originalOf } = createRepeats(database);
    for (const id of [1, 2, 3]) note(id, digestOf(1));
    database.exec("UPDATE deliveries SET state = 'dead' WHERE id = 1");

    expect([originalOf(2), originalOf(3), note(4, digestOf(1))]).toEqual([undefined, 2, 2]);
  });

  it('of a deleted delivery is not a repeat', () => {
    fill(2);
    const { note, originalOf } = createRepeats(database);
    note(1, digestOf(1));
    database.exec('PRAGMA foreign_keys = ON; DELETE FROM deliveries WHERE id = 1');

    expect([note(2, digestOf(1)), originalOf(2), originalOf(1)]).toEqual([undefined, undefined, undefined]);
  });

  it('is found after a restart once the digests are loaded, which happens once', async () => {
    fill(3);
    const before = createRepeats(database);
    for (const id of [1, 2]) before.note(id, digestOf(id));

    const { load, note, originalOf } = createRepeats(database);
    const [first, second] = [load(), load()];
    await first;
    await load();

    expect(second).toBe(first);
    expect(load()).toBe(first);
    expect(note(3, digestOf(2))).toBe(2);
    expect([1, 2, 3].map(originalOf)).toEqual([undefined, undefined, 2]);
  });

  it('is found among more digests than are read at once, and other work runs in between', async () => {
    fill(45_000);
    database.exec("INSERT INTO digests SELECT id, unhex(printf('%08x', id * 7919)) FROM deliveries");
    fill(1, { first: 50_000 });
    const { load, note } = createRepeats(database);
    let turns = 0;
    let isLoaded = false;
    const count = (): void => {
      turns += 1;
      if (!isLoaded) setImmediate(count);
    };
    setImmediate(count);

    await load();
    isLoaded = true;

    expect(turns).toBeGreaterThan(0);
    const digest = (id: number) => Buffer.from((id * 7919).toString(16).padStart(8, '0'), 'hex');
    for (const id of [1, 20_000, 20_001, 40_000, 45_000]) expect(note(50_000, digest(id))).toBe(id);
  });

  it('is loaded again after a failed read', async () => {
    fill(2);
    createRepeats(database).note(1, digestOf(1));

    expect(planOf("SELECT delivery FROM digests WHERE substr(digest, 1, 8) = x'00'")).toContain(
      'USING COVERING INDEX deliveries_of_digest',
    );
    expect(createRepeats(database).note(2, digestOf(1))).toBe(1);
  });
});

describe('a duplicate', () => {
  const known = (id: number, { entry = 'e', uuid = `uuid ${id}` } = {}): number | undefined =>
    createDuplicates(database).findKnown(makeDelivery({ uuid, entry }));

  it('is recognised by its uuid and entry, even after a restart', () => {
    fill(3);

    expect([known(1), known(3), known(4)]).toEqual([1, 3, undefined]);
    expect([known(1, { entry: 'other' }), known(1, { uuid: 'other' })]).toEqual([undefined, undefined]);
  });

  it('is never a duplicate of a job', () => {
    fill(1, { door: 'cron' });
    fill(1, { first: 2 });

    expect([known(1), known(2)]).toEqual([undefined, 2]);
  });

  it('is recognised among the latest 65,536 deliveries', () => {
    fill(rememberedDeliveries + 1);

    expect([known(1), known(2), known(rememberedDeliveries + 1)]).toEqual([
      undefined,
      2,
      rememberedDeliveries + 1,
    ]);
  });

  const delivery = makeDelivery({ body: Buffer.from('{}'), receivedAt: at });
  const mark = contentFingerprint('push', delivery.body);
  /** Returns the delivery of which this one is a copy, found by the mark of its content, after a restart. */
  const original = (given: Partial<typeof delivery> = {}, load = true): number | undefined =>
    createDuplicates(database, { load }).findOriginal({ ...delivery, ...given }, mark);
  const store = (body = '{}', more = '') => {
    fill(1);
    database.prepare('INSERT INTO bodies (id, body) VALUES (1, ?)').run(Buffer.from(body));
    database.exec(`UPDATE deliveries SET mark = ${mark} ${more} WHERE id = 1`);
  };

  it('with the same content is a copy of one that waits and was not attempted', () => {
    store();

    expect(original()).toBe(1);
    for (const ms of [60_000, -60_000]) expect(original({ receivedAt: new Date(at.getTime() + ms) })).toBe(1);
    for (const ms of [60_001, -60_001])
      expect(original({ receivedAt: new Date(at.getTime() + ms) })).toBeUndefined();
    expect(original({ eventType: 'create' })).toBeUndefined();
    expect(original({ body: Buffer.from('[]') })).toBeUndefined();
    expect(original({ body: Buffer.from('{ }') })).toBeUndefined();
  });

  it.each([["state = 'claimed'"], ['attempts = 1'], ['bytes = 3']])(
    'with the same content is not a copy of one with %s',
    (column) => {
      store('{}', `, ${column}`);

      expect(original()).toBeUndefined();
    },
  );

  it('of a copy is found through the original, which the copy does not hide', () => {
    store();
    fill(1, { first: 2, state: 'settled', copyOf: 1 });
    database.exec(`UPDATE deliveries SET mark = ${mark} WHERE id = 2`);

    expect(original()).toBe(1);
  });

  it('is recognised as soon as the first one is added', () => {
    store();
    fill(1, { first: 2 });
    database.prepare('INSERT INTO bodies (id, body) VALUES (2, ?)').run(Buffer.from('[]'));
    database.exec(`UPDATE deliveries SET mark = ${mark} WHERE id = 2`);

    expect(original()).toBe(1);
  });
});
