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
/** Writes deliveries with ascending ids from `first`. The uuid of each contains its id. */
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

  it('is recognised by its whole digest, although the index contains only the first 8 bytes', () => {
    fill(2);
    const { note } = createRepeats(database);
    const alike = digestOf(1);
    alike[31] = 2;

    expect([note(1, digestOf(1)), note(2, alike)]).toEqual([undefined, undefined]);
  });

  it('of a dead delivery is a repeat of the first delivery after it', () => {
    fill(4);
    const { note, originalOf } = createRepeats(database);
    for (const id of [1, 2, 3]) note(id, digestOf(1));
    database.exec("UPDATE deliveries SET state = 'dead' WHERE id = 1");

    expect([originalOf(2), originalOf(3), note(4, digestOf(1))]).toEqual([undefined, 2, 2]);
  });

  it('of a deleted delivery is not recognised', () => {
    fill(2);
    const { note, originalOf } = createRepeats(database);
    note(1, digestOf(1));
    database.exec('PRAGMA foreign_keys = ON; DELETE FROM deliveries WHERE id = 1');

    expect([note(2, digestOf(1)), originalOf(2), originalOf(1)]).toEqual([undefined, undefined, undefined]);
  });

  it('is found through the index', () => {
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

  it('is recognised by its uuid and entry', () => {
    fill(3);

    expect([known(1), known(3), known(4)]).toEqual([1, 3, undefined]);
    expect([known(1, { entry: 'other' }), known(1, { uuid: 'other' })]).toEqual([undefined, undefined]);
  });

  it('is never matched to a job', () => {
    fill(1, { door: 'cron' });
    fill(1, { first: 2 });

    expect([known(1), known(2)]).toEqual([undefined, 2]);
  });

  it('is found through an index', () => {
    expect(
      planOf("SELECT id FROM deliveries WHERE uuid = 'u' AND entry = 'e' AND door = 'webhook' LIMIT 1"),
    ).toContain('USING INDEX known');
    expect(
      planOf(
        "SELECT id FROM deliveries WHERE mark = 1 AND state = 'accepted' AND attempts = 0 AND door = 'webhook' ORDER BY id DESC",
      ),
    ).toMatch(/^SEARCH deliveries USING INDEX unclaimed \(mark=\?\)$/);
  });

  const delivery = makeDelivery({ body: Buffer.from('{}'), receivedAt: at });
  const mark = contentFingerprint('push', delivery.body);
  /** Returns the delivery that the given delivery is a copy of. */
  const original = (given: Partial<typeof delivery> = {}): number | undefined =>
    createDuplicates(database).findOriginal({ ...delivery, ...given }, mark);
  const store = (body = '{}', more = '') => {
    fill(1);
    database.prepare('INSERT INTO bodies (id, body) VALUES (1, ?)').run(Buffer.from(body));
    database.exec(`UPDATE deliveries SET mark = ${mark} ${more} WHERE id = 1`);
  };

  it('with the same content is a copy of a delivery that waits and was not attempted', () => {
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
    'with the same content is not a copy of a delivery with %s',
    (column) => {
      store('{}', `, ${column}`);

      expect(original()).toBeUndefined();
    },
  );

  it('of a copy is matched to the first delivery, which the copy does not hide', () => {
    store();
    fill(1, { first: 2, state: 'settled', copyOf: 1 });
    database.exec(`UPDATE deliveries SET mark = ${mark} WHERE id = 2`);

    expect(original()).toBe(1);
  });

  it('with the same content is found among other deliveries with the same mark', () => {
    store();
    fill(1, { first: 2 });
    database.prepare('INSERT INTO bodies (id, body) VALUES (2, ?)').run(Buffer.from('[]'));
    database.exec(`UPDATE deliveries SET mark = ${mark} WHERE id = 2`);

    expect(original()).toBe(1);
  });
});
