import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Checkpoints, noCheckpoints } from '../../../src/store/sqlite/checkpoints.ts';
import { type Durability, noDurability } from '../../../src/store/sqlite/durability.ts';
import { createUnsyncedWrites } from '../../../src/store/sqlite/unsynced.ts';

let database: DatabaseSync;
beforeEach(() => {
  database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE notes (text TEXT)');
});
afterEach(() => database.isOpen && database.close());

const open = ({ durability = noDurability, checkpoints = noCheckpoints } = {}) =>
  createUnsyncedWrites(database, { path: 'notes.db', durability, checkpoints });
const note = (text: string) => () => void database.prepare('INSERT INTO notes VALUES (?)').run(text);
const notes = () =>
  database
    .prepare('SELECT text FROM notes')
    .all()
    .map(({ text }) => text);
/** Lets everything run that waits for nothing else. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('an unsynced write', () => {
  it('syncs nothing, and is there when it resolves', async () => {
    let syncs = 0;
    const durability: Durability = {
      ...noDurability,
      async sync() {
        syncs += 1;
        return 0;
      },
    };

    await open({ durability }).write(note('a'));

    expect([notes(), syncs]).toEqual([['a'], 0]);
  });

  it.each(['succeeds', 'fails'])(
    'waits for a sync under way, which %s: it sees nothing that is not durable',
    async (how) => {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const unsynced = open({ durability: { ...noDurability, sync: () => promise } });
      const sync = unsynced.durability.sync().catch(() => {});
      const written = unsynced.write(note('a'));
      await turn();
      const before = notes();
      if (how === 'fails') reject(new Error('EIO'));
      else resolve(0);
      await Promise.all([sync, written]);

      expect([before, notes()]).toEqual([[], ['a']]);
    },
  );

  it('has its turn between syncs that follow each other without a pause', async () => {
    const ends: (() => void)[] = [];
    const sync = () => new Promise<number>((resolve) => ends.push(() => resolve(0)));
    const unsynced = open({ durability: { ...noDurability, sync } });
    let isOver = false;
    const steady = (async () => {
      while (!isOver) await unsynced.durability.sync();
    })();
    const written = unsynced.write(note('a')).then(() => {
      isOver = true;
    });
    for (let rounds = 0; rounds < 5 && !isOver; rounds += 1) {
      ends.pop()?.();
      await turn();
    }

    expect(notes()).toEqual(['a']);
    isOver = true;
    ends.pop()?.();
    await Promise.all([steady, written]);
  });

  it('waits for the pass of a checkpoint, and counts towards the next one', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let gap: Promise<void> | undefined = promise;
    const counted: (number | undefined)[][] = [];
    const checkpoints: Checkpoints = {
      ...noCheckpoints,
      gap: () => gap,
      committed: (...given) => void counted.push(given),
    };
    const written = open({ checkpoints }).write(note('a'));
    await turn();
    const before = notes();
    gap = undefined;
    resolve();
    await written;

    expect([before, notes(), counted]).toEqual([[], ['a'], [[0]]]);
  });

  it('is rolled back when it throws, and the next one is not', async () => {
    const unsynced = open();
    const failing = unsynced.write(() => {
      note('a')();
      throw new Error('no');
    });

    await expect(failing).rejects.toThrow('no');
    await unsynced.write(note('b'));
    expect(notes()).toEqual(['b']);
  });

  it('that SQLite has rolled back itself, as after an error of the disk, fails with the first error', async () => {
    const failing = open().write(() => {
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

    await expect(open({ durability }).write(note('a'))).rejects.toBe(broken);
    expect(notes()).toEqual([]);
    const unsynced = open();
    database.close();
    await expect(unsynced.write(note('a'))).rejects.toMatchObject({ code: 'store-unwritable' });
  });
});
