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
/** Lets all ready callbacks run. */
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

  it.each(['succeeds', 'fails'])(
    'waits for a sync in progress, which %s, so that it reads only durable data',
    async (how) => {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const commits = open({ durability: { ...noDurability, sync: () => promise } });
      const sync = commits.write(() => {}).catch(() => {});
      await turn();
      const written = commits.writeUnsynced(note('a'));
      await turn();
      const before = notes();
      if (how === 'fails') reject(new Error('EIO'));
      else resolve(0);
      await Promise.all([sync, written]);

      expect([before, notes()]).toEqual([[], ['a']]);
    },
  );

  it('gets its turn between consecutive syncs', async () => {
    const ends: (() => void)[] = [];
    const sync = () => new Promise<number>((resolve) => ends.push(() => resolve(0)));
    const commits = open({ durability: { ...noDurability, sync } });
    let isOver = false;
    const steady = (async () => {
      while (!isOver) await commits.write(() => {});
    })();
    const written = commits.writeUnsynced(note('a')).then(() => {
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
    const written = open({ checkpoints }).writeUnsynced(note('a'));
    await turn();
    const before = notes();
    gap = undefined;
    resolve();
    await written;

    expect([before, notes(), counted]).toEqual([[], ['a'], [[0]]]);
  });

  it('is rolled back if it throws, and the next one is not', async () => {
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
