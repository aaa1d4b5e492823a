import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import {
  type Checkpoints,
  Commits,
  type Durability,
  noCheckpoints,
  noDurability,
} from '../../../src/store/sqlite/commits.ts';

describe('a group of writes', () => {
  const open = (
    wait: () => Promise<void>,
    given: { checkpoints?: Checkpoints; onRefused?: () => void } = {},
  ) => {
    const database = new DatabaseSync(':memory:');
    database.exec('CREATE TABLE t (n INTEGER PRIMARY KEY) STRICT');
    const durability: Durability = { ...noDurability, sync: () => wait().then(() => 0) };
    const commits = new Commits(database, {
      path: 'x',
      durability,
      checkpoints: noCheckpoints,
      onRefused() {},
      ...given,
    });
    const put = (n: number) => Number(database.prepare('INSERT INTO t VALUES (?)').run(n).changes);
    const insert = (n: number) => commits.write(() => put(n));
    const count = () => Number(database.prepare('SELECT count(*) AS n FROM t').get()?.n);
    return { commits, insert, put, count };
  };

  it('is acknowledged only after the sync that covers it', async () => {
    let finish = (): void => {};
    const { insert } = open(
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    let isAcked = false;

    const written = insert(1).then(() => {
      isAcked = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));

    expect(isAcked).toBe(false);
    finish();
    await written;
  });

  it('is synced once', async () => {
    let syncs = 0;
    const { insert } = open(async () => {
      syncs += 1;
    });

    await Promise.all(Array.from({ length: 50 }, (_, n) => insert(n)));

    expect(syncs).toBe(1);
  });

  it('is not affected if one of the writes fails', async () => {
    const { insert } = open(async () => {});

    const results = await Promise.allSettled([insert(1), insert(2), insert(1), insert(3)]);

    expect(results.map((result) => result.status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
  });

  it('is one transaction up to 256 writes and 4 MiB, and each larger write has a transaction of its own', async () => {
    const sizesOf = async (weights: readonly number[]): Promise<number[]> => {
      const sizes: number[] = [];
      let size = 0;
      const { commits } = open(async () => {
        sizes.push(size);
        size = 0;
      });
      const write = (weight: number) =>
        commits.write(() => {
          size += 1;
        }, weight);
      await Promise.all(weights.map(write));
      return sizes;
    };
    const miB = 2 ** 20;

    expect(await sizesOf(Array(600).fill(1))).toEqual([256, 256, 88]);
    expect(await sizesOf([2 * miB, 2 * miB, 1, 5 * miB, 1, 1])).toEqual([2, 1, 1, 2]);
  });

  it('waits for the gap that a checkpoint needs, and reports the size of its writes to the checkpoint', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let gap: Promise<void> | undefined = promise;
    const told: unknown[] = [];
    const { insert, commits } = open(async () => {}, {
      checkpoints: {
        ...noCheckpoints,
        gap: () => gap,
        committed: (...given) => void told.push(given),
      },
    });

    const written = Promise.all([insert(1), commits.write(() => 'done', 70), commits.write(() => 1, 30)]);
    await new Promise((next) => setTimeout(next, 10));
    const before = [...told];
    gap = undefined;
    resolve();

    expect(await written).toEqual([1, 'done', 1]);
    expect([before, told]).toEqual([[], [[100, 0]]]);
  });

  it('that cannot be synced is refused as a whole, and its size is remembered until as much has been written', async () => {
    const answers = ['EIO', 'EIO', undefined, undefined];
    const refusals: number[] = [];
    const { commits } = open(
      async () => {
        const code = answers.shift();
        if (code !== undefined) throw Object.assign(new Error(code), { code });
      },
      { onRefused: () => void refusals.push(1) },
    );
    const write = (weight: number) =>
      commits.write(() => weight, weight).catch(({ code }: { code: string }) => code);

    expect(await Promise.all([write(10), write(20)])).toEqual(['store-unwritable', 'store-unwritable']);
    expect([commits.refusedBytes, refusals.length]).toEqual([30, 1]);
    expect(await write(5)).toBe('store-unwritable');
    expect([commits.refusedBytes, refusals.length]).toEqual([30, 2]);
    expect(await write(29)).toBe(29);
    expect(commits.refusedBytes).toBe(30);
    expect(await write(30)).toBe(30);
    expect(commits.refusedBytes).toBe(0);
  });

  it('keeps nothing of a write that throws, which does not count as a disk error', async () => {
    const { commits, insert, put, count } = open(async () => {});
    const failing = commits.write(() => {
      put(7);
      throw new Error('no');
    }, 10);

    await expect(failing).rejects.toThrow('no');
    expect(commits.refusedBytes).toBe(0);
    await insert(1);
    expect(count()).toBe(1);
  });

  it('is refused once the store is closing, and earlier groups still finish', async () => {
    const { commits, insert, count } = open(async () => {});
    const before = insert(1);

    const closed = commits.close();

    await expect(insert(2)).rejects.toMatchObject({
      code: 'store-unwritable',
      message: 'the store x is closed',
    });
    await closed;
    expect([await before, count()]).toEqual([1, 1]);
  });
});
