import { mkdtempSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReeveError } from '../../../src/platform/errors.ts';
import { createLogDurability, type Durability, noDurability } from '../../../src/store/sqlite/commits.ts';
import { openFilesIn } from './open-files.ts';

let folder: string;
let path: string;
let database: DatabaseSync;
let durability: Durability | undefined;
let lost: ReeveError[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-durability-'));
  path = join(folder, 'reeve.db');
  database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER)');
  lost = [];
});
afterEach(() => {
  durability?.close();
  durability = undefined;
  database.close();
  rmSync(folder, { recursive: true, force: true });
});
const insert = (): void => database.exec('INSERT INTO t VALUES (1)');
const open = (given: { readonly path?: string; readonly others?: readonly string[] } = {}): Durability => {
  const { path: of = path, ...others } = given;
  durability = createLogDurability(database, of, { ...others, onLost: (error) => void lost.push(error) });
  return durability;
};

describe('a sync of the log', () => {
  it('resolves with the size of the log on every call', async () => {
    const { prepare, sync } = open();
    const sizes = [statSync(`${path}-wal`).size, await sync()];
    insert();
    prepare();

    sizes.push(statSync(`${path}-wal`).size, await sync());

    expect(sizes[0]).toBeGreaterThan(0);
    expect(sizes[1]).toBe(sizes[0]);
    expect(sizes[2]).toBeGreaterThan(sizes[1] ?? 0);
    expect(sizes[3]).toBe(sizes[2]);
  });

  it.each(['', '-wal', '-shm', '.lock'])(
    'is refused permanently once the file reeve.db%s no longer exists',
    async (suffix) => {
      const other = `${path}.lock`;
      writeFileSync(other, '');
      const { prepare, sync } = open({ others: [other] });
      await sync();
      renameSync(`${path}${suffix}`, join(folder, 'aside'));

      const refused = await sync().catch((error: unknown) => error);
      renameSync(join(folder, 'aside'), `${path}${suffix}`);

      expect(refused).toMatchObject({
        code: 'store-lost',
        message: expect.stringMatching(
          new RegExp(`^${path}${suffix} was removed or replaced while Reeve runs: nothing can be stored`),
        ),
      });
      expect(lost).toEqual([refused]);
      expect(prepare).toThrow(expect.objectContaining({ code: 'store-lost' }));
    },
  );

  it('watches only the files of the store by default, and works without onLost', async () => {
    writeFileSync(`${path}.lock`, '');
    durability = createLogDurability(database, path);
    rmSync(`${path}.lock`);
    await durability.sync();
    rmSync(path);

    await expect(durability.sync()).rejects.toMatchObject({ code: 'store-lost' });
  });
});

describe('a sync that fails', () => {
  /**
   * Opens files whose log cannot be synced: its device accepts every write, but no sync. The database connection of the
   * test has another log.
   */
  const openBroken = (): Durability => {
    const broken = join(folder, 'broken.db');
    writeFileSync(broken, '');
    writeFileSync(`${broken}-shm`, '');
    symlinkSync('/dev/null', `${broken}-wal`);
    return open({ path: broken });
  };

  it('is reported as a refusal that names the store and the reason, and can be retried', async () => {
    const { sync } = openBroken();

    await expect(sync()).rejects.toMatchObject({
      code: 'store-unwritable',
      message: expect.stringMatching(/^the store .*broken\.db cannot be synced: EINVAL/),
      retryAfterMs: 5_000,
      cause: expect.objectContaining({ code: 'EINVAL' }),
    });
    expect(lost).toEqual([]);
  });

  it('is repaired before the next transaction by a checkpoint of the whole log', async () => {
    insert();
    const { prepare, sync } = openBroken();
    prepare();
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    await sync().catch(() => {});

    prepare();

    expect(statSync(`${path}-wal`).size).toBe(0);
    insert();
    prepare();
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
  });

  it('makes every transaction fail while a reader prevents the log from being copied', async () => {
    insert();
    const { prepare, sync } = openBroken();
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT * FROM t').all();
    insert();
    await sync().catch(() => {});

    for (let count = 0; count < 2; count += 1)
      expect(prepare).toThrow(
        expect.objectContaining({
          code: 'store-unwritable',
          message: expect.stringContaining('cannot be synced: a reader holds the log'),
        }),
      );
    reader.exec('COMMIT');
    reader.close();
    prepare();
    expect(statSync(`${path}-wal`).size).toBe(0);
  });
});

it.skipIf(openFilesIn('/') === undefined)(
  'the durability of a log is closed without leaving a file open',
  () => {
    const before = openFilesIn(folder);
    const { close } = open();
    const during = openFilesIn(folder);

    close();
    durability = undefined;

    expect(during).toHaveLength((before?.length ?? 0) + 1);
    expect(openFilesIn(folder)).toEqual(before);
  },
);

it('a database without a file has nothing to sync', async () => {
  const { prepare, sync, close } = noDurability;

  prepare();
  expect(await sync()).toBe(0);
  close();
});
