import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Checkpoints,
  Commits,
  type Durability,
  noCheckpoints,
  noDurability,
} from '../../../src/store/sqlite/commits.ts';

let database: DatabaseSync;
beforeEach(() => {
  database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE notes (text TEXT)');
});
afterEach(() => database.isOpen && database.close());

const open = ({ durability = noDurability, checkpoints = noCheckpoints } = {}) =>
  new Commits(database, { path: 'notes.db', durability, checkpoints, onRefused() {} });
const note = (text: string) => () => void database.prepare('INSERT INTO notes VALUES (?)').run(text);
const notes = () =>
  database
    .prepare('SELECT text FROM notes')
    .all()
    .map(({ text }) => text);
/** Runs all callbacks that are ready. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('an unsynced write', () => {
  it('does not sync, and is visible when it resolves', async () => {
    let syncs = 0;
    const durability: Durability = {
      ...noDurability,
      async sync() {
        syncs += 1;
        return 0;
      },
    };

    await open({ durability }).writeUnsynced(note('a'));

    expect([notes(), syncs]).toEqual([['a'], 0]);
  });

  it('does not wait for a sync in progress, and can return that sync', async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const commits = open({ durability: { ...noDurability, sync: () => promise } });
    const sync = commits.write(note('a'));
    await turn();
    let syncing: Promise<unknown> | undefined;
    await commits.writeUnsynced(() => {
      note('b')();
      syncing = commits.syncing;
    });
    const before = [notes(), syncing instanceof Promise];
    resolve(7);
    await sync;

    expect(before).toEqual([['a', 'b'], true]);
    expect([await syncing, commits.syncing]).toEqual([7, undefined]);
  });

  it('waits for the pass of a checkpoint, and counts towards the next checkpoint', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let gap: Promise<void> | undefined = promise;
    const counted: (number | undefined)[][] = [];
    const checkpoints: Checkpoints = {
      ...noCheckpoints,
      gap: () => gap,
      committed: (...given) => void counted.push(given),
    };
    const written = open({ checkpoints }).writeUnsynced(note('a'));
    await turn();
    const before = notes();
    gap = undefined;
    resolve();
    await written;

    expect([before, notes(), counted]).toEqual([[], ['a'], [[0]]]);
  });

  it('is rolled back if it throws, while the next write is not', async () => {
    const commits = open();
    const failing = commits.writeUnsynced(() => {
      note('a')();
      throw new Error('no');
    });

    await expect(failing).rejects.toThrow('no');
    await commits.writeUnsynced(note('b'));
    expect(notes()).toEqual(['b']);
  });

  it('that SQLite itself has rolled back, for example after a disk error, fails with the original error', async () => {
    const failing = open().writeUnsynced(() => {
      database.exec('ROLLBACK');
      throw new Error('EIO');
    });

    await expect(failing).rejects.toThrow('EIO');
    expect(database.isTransaction).toBe(false);
  });

  it('is refused while the store cannot be synced, and after it is closed', async () => {
    const broken = new Error('a failed sync is not repaired');
    const durability: Durability = {
      ...noDurability,
      prepare() {
        throw broken;
      },
    };

    await expect(open({ durability }).writeUnsynced(note('a'))).rejects.toBe(broken);
    expect(notes()).toEqual([]);
    const commits = open();
    database.close();
    await expect(commits.writeUnsynced(note('a'))).rejects.toMatchObject({ code: 'store-unwritable' });
  });
});

describe('a synced write', () => {
  it('is announced after its COMMIT and before its sync ends, each write before its batch', async () => {
    const seen: unknown[] = [];
    const { promise, resolve } = Promise.withResolvers<number>();
    const commits = new Commits(database, {
      path: 'notes.db',
      durability: { ...noDurability, sync: () => promise },
      checkpoints: noCheckpoints,
      onRefused() {},
      onCommitted: () => seen.push(database.isTransaction),
    });
    const written = ['a', 'b'].map((text) => commits.write(note(text), 0, () => seen.push(text)));
    await turn();

    expect(seen).toEqual(['a', 'b', false]);
    resolve(0);
    await Promise.all(written);
  });

  it('is not announced if it was rolled back', async () => {
    const seen: unknown[] = [];
    const failing = open().write(
      () => {
        throw new Error('no');
      },
      0,
      () => seen.push('announced'),
    );

    await expect(failing).rejects.toThrow('no');
    expect(seen).toEqual([]);
  });
});
