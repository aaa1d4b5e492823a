import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backUpStore, requireStore, restoreStore } from '../../../src/store/sqlite/backup.ts';
import { takeWorkerLock } from '../../../src/store/sqlite/lock.ts';
import { migrate, schemaVersions } from '../../../src/store/sqlite/migrations.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeDelivery, makeRun } from '../make.ts';
import { openFilesIn } from './open-files.ts';

let folder: string;
let store: Store;
const pathOf = (name: string): string => join(folder, name);
const namesIn = (name: string): readonly string[] => readdirSync(pathOf(name)).toSorted();
const accept = (uuid: string) => store.accept(makeDelivery({ uuid }));
/** Reads uuids directly with SQLite. */
const uuidsIn = (name: string): unknown[] => {
  const database = new DatabaseSync(pathOf(name));
  try {
    return database
      .prepare('SELECT uuid FROM deliveries ORDER BY id')
      .all()
      .map(({ uuid }) => uuid);
  } finally {
    database.close();
  }
};
/** Copies the files of the store as they are after a kill, when the log has not been copied into the database. */
const leaveKilled = (name: string): void => {
  mkdirSync(pathOf(name));
  for (const file of ['reeve.db', 'reeve.db-wal', 'reeve.db-shm'])
    cpSync(pathOf(`data/${file}`), pathOf(`${name}/${file}`));
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-backup-'));
  store = await openSqliteStore({ path: pathOf('data/reeve.db'), role: 'worker' });
  await accept('a');
  await accept('b');
  await store.appendRuns([makeRun({})]);
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('a backup', () => {
  it('is one file that only its owner can read, and the result lists its contents', () => {
    const copy = backUpStore(pathOf('data/reeve.db'), pathOf('copy.db'));

    expect(copy).toEqual({ bytes: statSync(pathOf('copy.db')).size, deliveries: 2, runs: 1 });
    expect(statSync(pathOf('copy.db')).mode & 0o777).toBe(0o600);
    expect(uuidsIn('copy.db')).toEqual(['a', 'b']);
    expect(readdirSync(folder).toSorted()).toEqual(['copy.db', 'data']);
  });

  it('has the page size of a new store, whatever the page size of the source', () => {
    const path = pathOf('old.db');
    const old = new DatabaseSync(path);
    old.exec('PRAGMA page_size = 32768; PRAGMA journal_mode = WAL');
    migrate(old, path);
    old.close();

    backUpStore(path, pathOf('copy.db'));

    const sizes = ['old.db', 'copy.db'].map((name) => {
      const database = new DatabaseSync(pathOf(name));
      const size = database.prepare('PRAGMA page_size').get()?.page_size;
      database.close();
      return size;
    });
    expect(sizes).toEqual([32_768, 4_096]);
  });

  it('overwrites no file', () => {
    writeFileSync(pathOf('precious'), 'mine');

    expect(() => backUpStore(pathOf('data/reeve.db'), pathOf('precious'))).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: `${pathOf('precious')} already exists: name a new file, or move this one away`,
      }),
    );
    expect(readFileSync(pathOf('precious'), 'utf8')).toBe('mine');
  });

  it('into a missing folder fails with a disk error that names the destination', () => {
    expect(() => backUpStore(pathOf('data/reeve.db'), pathOf('none/copy.db'))).toThrow(
      expect.objectContaining({ message: expect.stringContaining(pathOf('none/copy.db')) }),
    );
  });

  it.skipIf(openFilesIn('/') === undefined)(
    'leaves no file open, and a restore leaves none open either',
    async () => {
      await store.close();
      writeFileSync(pathOf('bad.db'), 'no database, and longer than a header. '.repeat(20));

      backUpStore(pathOf('data/reeve.db'), pathOf('copy.db'));
      for (const stamp of ['1', '2']) restoreStore(pathOf('other/reeve.db'), pathOf('copy.db'), stamp);
      expect(() => restoreStore(pathOf('other/reeve.db'), pathOf('bad.db'), '3')).toThrow(
        'not a SQLite database',
      );

      expect(openFilesIn(folder)).toEqual([]);
    },
  );

  it('of a store with a missing value is refused, and leaves nothing behind', async () => {
    await store.remember('marker-abc', 'none');
    await store.close();
    const database = new DatabaseSync(pathOf('data/reeve.db'));
    database.exec("UPDATE memory SET value = '' WHERE key = 'marker-abc'");
    database.close();
    // The row header contains its length, and the types of the key and the value. The change turns an empty text into
    // NULL.
    const bytes = readFileSync(pathOf('data/reeve.db'));
    const row = Buffer.concat([Buffer.from([3, 2 * 10 + 13, 13]), Buffer.from('marker-abc')]);
    for (let at = bytes.indexOf(row); at !== -1; at = bytes.indexOf(row)) bytes[at + 2] = 0;
    writeFileSync(pathOf('data/reeve.db'), bytes);

    expect(() => backUpStore(pathOf('data/reeve.db'), pathOf('copy.db'))).toThrow(
      expect.objectContaining({
        code: 'store-unwritable',
        message: `${pathOf('data/reeve.db')} is damaged: NULL value in memory.value`,
      }),
    );
    expect(readdirSync(folder)).toEqual(['data']);
  });
});

describe('a restore', () => {
  const restore = (name: string) => restoreStore(pathOf(`${name}/reeve.db`), pathOf('copy.db'), 'then');
  beforeEach(async () => {
    backUpStore(pathOf('data/reeve.db'), pathOf('copy.db'));
    await accept('later');
  });

  it('moves the store of a killed server aside, including data that was only in its log', () => {
    leaveKilled('killed');

    const restored = restore('killed');

    expect(restored).toEqual({
      bytes: statSync(pathOf('copy.db')).size,
      deliveries: 2,
      runs: 1,
      replaced: pathOf('killed/reeve.db.replaced-then'),
    });
    expect(namesIn('killed')).toEqual(['reeve.db', 'reeve.db.lock', 'reeve.db.replaced-then']);
    expect(uuidsIn('killed/reeve.db')).toEqual(['a', 'b']);
    expect(uuidsIn('killed/reeve.db.replaced-then')).toEqual(['a', 'b', 'later']);
  });

  it('moves a damaged store aside unchanged, with its log', () => {
    mkdirSync(pathOf('damaged'));
    const files = { 'reeve.db': 'no database', 'reeve.db-wal': 'its log', 'reeve.db-shm': 'its memory' };
    for (const [name, text] of Object.entries(files)) writeFileSync(pathOf(`damaged/${name}`), text);

    const { replaced } = restore('damaged');

    expect(replaced).toBe(pathOf('damaged/reeve.db.replaced-then'));
    expect(readFileSync(`${replaced}`, 'utf8')).toBe('no database');
    expect(readFileSync(`${replaced}-wal`, 'utf8')).toBe('its log');
    expect(namesIn('damaged')).toEqual([
      'reeve.db',
      'reeve.db.lock',
      'reeve.db.replaced-then',
      'reeve.db.replaced-then-wal',
    ]);
    expect(uuidsIn('damaged/reeve.db')).toEqual(['a', 'b']);
  });

  it('moves a log without a store aside, and never applies it to the copy', () => {
    leaveKilled('alone');
    rmSync(pathOf('alone/reeve.db'));

    expect(restore('alone').replaced).toBeUndefined();

    expect(namesIn('alone')).toEqual(['reeve.db', 'reeve.db.lock', 'reeve.db.replaced-then-wal']);
    expect(statSync(pathOf('alone/reeve.db.replaced-then-wal')).size).toBeGreaterThan(0);
    expect(uuidsIn('alone/reeve.db')).toEqual(['a', 'b']);
  });

  it('creates the store and its folder if there is none, accessible only to the owner', () => {
    expect(restore('fresh').replaced).toBeUndefined();

    expect(namesIn('fresh')).toEqual(['reeve.db', 'reeve.db.lock']);
    expect(statSync(pathOf('fresh')).mode & 0o777).toBe(0o700);
    expect(statSync(pathOf('fresh/reeve.db')).mode & 0o777).toBe(0o600);
  });

  it('restricts the permissions of a folder that contains a store', () => {
    leaveKilled('wide');
    rmSync(pathOf('wide/reeve.db-shm'));
    writeFileSync(pathOf('wide/notes'), '');
    expect(statSync(pathOf('wide')).mode & 0o077).not.toBe(0);

    restore('wide');

    expect(statSync(pathOf('wide')).mode & 0o777).toBe(0o700);
  });

  it('changes nothing while a server uses the store', async () => {
    expect(() => restore('data')).toThrow(expect.objectContaining({ code: 'store-locked' }));

    expect(namesIn('data')).toEqual(['reeve.db', 'reeve.db-shm', 'reeve.db-wal', 'reeve.db.lock']);
    await accept('after');
  });

  it('of a file that does not exist creates nothing', () => {
    expect(() => restoreStore(pathOf('fresh/reeve.db'), pathOf('none.db'), 'then')).toThrow(
      expect.objectContaining({ code: 'usage', message: `there is no file ${pathOf('none.db')}` }),
    );
    expect(existsSync(pathOf('fresh'))).toBe(false);
  });

  it('of a file that is not a store fails with an error that names the target store, changes nothing, and holds no lock afterwards', () => {
    leaveKilled('killed');
    writeFileSync(pathOf('bad.db'), 'no database, and longer than a header. '.repeat(20));

    expect(() => restoreStore(pathOf('killed/reeve.db'), pathOf('bad.db'), 'then')).toThrow(
      expect.objectContaining({
        code: 'store-unwritable',
        message: expect.stringContaining(`the store ${pathOf('killed/reeve.db')} refuses`),
      }),
    );

    expect(namesIn('killed')).toEqual(['reeve.db', 'reeve.db-shm', 'reeve.db-wal', 'reeve.db.lock']);
    takeWorkerLock(pathOf('killed/reeve.db')).release();
    expect(uuidsIn('killed/reeve.db')).toEqual(['a', 'b', 'later']);
  });

  it('holds no lock afterwards', () => {
    restore('fresh');

    takeWorkerLock(pathOf('fresh/reeve.db')).release();
  });
});

describe('a database', () => {
  const tables = 'CREATE TABLE deliveries (n INTEGER); CREATE TABLE runs (n INTEGER);';
  const judge = (sql: string): string => {
    const database = new DatabaseSync(':memory:');
    database.exec(sql);
    try {
      requireStore(database, 'copy.db');
      return 'is a store';
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      return `${code}: ${message}`;
    } finally {
      database.close();
    }
  };
  const foreign = 'usage: copy.db is a database, but not a store of Reeve';

  it.each([
    ['', foreign],
    [tables, foreign],
    ['PRAGMA user_version = 3', foreign],
    ['CREATE TABLE deliveries (n INTEGER); PRAGMA user_version = 3', foreign],
    ['CREATE TABLE runs (n INTEGER); PRAGMA user_version = 3', foreign],
    [`${tables} PRAGMA user_version = 1`, 'is a store'],
    [`${tables} PRAGMA user_version = ${schemaVersions}`, 'is a store'],
    [
      `${tables} PRAGMA user_version = ${schemaVersions + 1}`,
      `store-newer: copy.db has schema ${schemaVersions + 1}, this program knows ${schemaVersions}: use the newer Reeve`,
    ],
  ])('made by %j: %s', (sql, verdict) => {
    expect(judge(sql)).toBe(verdict);
  });
});
