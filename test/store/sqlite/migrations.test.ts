import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  migrate,
  migrations,
  schemaVersionOf,
  schemaVersions,
} from '../../../src/store/sqlite/migrations.ts';

let database: DatabaseSync;
beforeEach(() => {
  database = new DatabaseSync(':memory:');
});
afterEach(() => database.close());
const schemaOf = (of: DatabaseSync): unknown[] =>
  of.prepare('SELECT type, name, sql FROM sqlite_master ORDER BY type, name').all();

it('a new database gets the latest schema, and is not changed by a second migration', () => {
  expect(schemaVersionOf(database)).toBe(0);
  migrate(database, 'reeve.db');
  const schema = schemaOf(database);

  migrate(database, 'reeve.db');

  expect(schemaVersionOf(database)).toBe(schemaVersions);
  expect(schemaOf(database)).toEqual(schema);
  expect(database.isTransaction).toBe(false);
});

it.each(migrations.map((_, version) => version))(
  'a database of schema %i is migrated to the schema of a new one, and keeps its rows',
  (version) => {
    migrate(database, 'reeve.db', migrations.slice(0, version));
    expect(schemaVersionOf(database)).toBe(version);
    if (version > 0)
      database.exec(
        `INSERT INTO deliveries (id, door, uuid, event_type, entry, content_type, received_at, state, routed, mark, bytes)
         VALUES (7, 'webhook', 'u', 'push', 'e', 't', '2026-03-01', 'accepted', 0, 0, 1)`,
      );
    const fresh = new DatabaseSync(':memory:');
    migrate(fresh, 'reeve.db');

    migrate(database, 'reeve.db');

    expect(schemaOf(database)).toEqual(schemaOf(fresh));
    const rows = database.prepare('SELECT id, crashes, suspicion, paused, header_set FROM deliveries').all();
    expect(rows).toEqual(
      version === 0 ? [] : [{ id: 7, crashes: 0, suspicion: 0, paused: 0, header_set: null }],
    );
    fresh.close();
  },
);

it('a failing step leaves the schema of the previous step, and no open transaction', () => {
  const steps = ['CREATE TABLE a (n INTEGER)', 'CREATE TABLE b (n INTEGER); CREATE TABLE a (n INTEGER)'];

  expect(() => migrate(database, 'reeve.db', steps)).toThrow('table a already exists');

  expect(schemaVersionOf(database)).toBe(1);
  expect(schemaOf(database)).toMatchObject([{ name: 'a' }]);
  expect(database.isTransaction).toBe(false);
});

it('a database of a newer program is not changed, and the error names both schema versions', () => {
  database.exec(`PRAGMA user_version = ${schemaVersions + 1}`);

  expect(() => migrate(database, 'reeve.db')).toThrow(
    expect.objectContaining({
      code: 'store-newer',
      message: `the store reeve.db has schema ${schemaVersions + 1}, this program knows ${schemaVersions}: start the newer Reeve`,
    }),
  );

  expect(schemaVersionOf(database)).toBe(schemaVersions + 1);
  expect(schemaOf(database)).toEqual([]);
  expect(database.isTransaction).toBe(false);
});
