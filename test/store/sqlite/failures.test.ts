import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ReeveError } from '../../../src/platform/errors.ts';
import { watchOpenedFiles } from '../../../src/store/sqlite/commits.ts';
import { asStoreError, isBusy } from '../../../src/store/sqlite/failures.ts';
import { createHealthCheck } from '../../../src/store/sqlite/sqlite-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-failures-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, 'reeve.db');

const sqlite = (errcode: unknown) => Object.assign(new Error('given'), { code: 'ERR_SQLITE_ERROR', errcode });
const node = (code: unknown) => Object.assign(new Error('given'), { code });

it.each([
  [sqlite(5), 'another process is writing and does not finish'],
  [sqlite(8), 'the file or its disk is read-only'],
  [sqlite(10), 'the disk reports an error'],
  // An extended error code. Its lower byte is the primary code.
  [sqlite(4618), 'the disk reports an error'],
  [sqlite(11), 'the file is damaged'],
  [sqlite(13), 'the disk is full'],
  [sqlite(14), 'the file cannot be opened'],
  [sqlite(26), 'the file is not a SQLite database'],
  [node('ENOSPC'), 'the disk is full'],
  [node('EDQUOT'), 'the disk is full'],
  [node('EROFS'), 'the file or its disk is read-only'],
  [node('EIO'), 'the disk reports an error'],
  [node('EACCES'), 'the file cannot be opened'],
  [node('EPERM'), 'the file cannot be opened'],
  [node('ENOTDIR'), 'the file cannot be opened'],
  [node('EISDIR'), 'the file cannot be opened'],
])('%o is a disk error: %s', (error, reason) => {
  expect(asStoreError(error, path)).toMatchObject({
    code: 'store-unwritable',
    message: `the store ${path} refuses: ${reason} (given)`,
    cause: error,
    retryAfterMs: 5_000,
  });
});

it.each([
  [sqlite(19)],
  [sqlite('10')],
  [node('ERR_SOMETHING')],
  [node(13)],
  [new Error('given')],
  ['a text'],
  [undefined],
  [new ReeveError('store-lost', 'gone')],
])('%o is not a disk error, and is passed through', (error) => {
  expect(asStoreError(error, path)).toBe(error);
});

it.skipIf(!existsSync('/proc/self'))('the error of a disk without space means that the disk is full', () => {
  // The /proc file system has no space.
  const reasonOf = (error: unknown, of = '/proc/self/reeve.db'): string =>
    /refuses: (.*) \(/.exec(String(asStoreError(error, of)))?.[1] ?? '';

  expect([sqlite(10), sqlite(14), node('EACCES')].map((error) => reasonOf(error))).toEqual(
    Array(3).fill('the disk is full'),
  );
  expect(reasonOf(sqlite(8))).toBe('the file or its disk is read-only');
  expect(reasonOf(sqlite(10), join(folder, 'none', 'reeve.db'))).toBe('the disk reports an error');
});

it('a lock of another connection is recognised by its code', () => {
  expect([sqlite(5), sqlite(261), sqlite(6), node('EIO'), 'busy'].map(isBusy)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

describe('a health check', () => {
  const check = (given: Partial<Parameters<typeof createHealthCheck>[0]> = {}) =>
    createHealthCheck({
      path: undefined,
      probe: async () => {},
      refusedBytes: () => 0,
      checkpointFailure: () => undefined,
      ...given,
    });

  it('writes as much as was refused, once for all concurrent callers', async () => {
    const written: number[] = [];
    const probe = async (bytes: number): Promise<void> => void written.push(bytes);
    const healthy = check({ probe, refusedBytes: () => 4_000 });

    const both = await Promise.all([healthy(), healthy()]);
    await healthy();

    expect(both).toEqual([
      { ok: true, freeBytes: undefined },
      { ok: true, freeBytes: undefined },
    ]);
    expect(written).toEqual([4_000, 4_000]);
  });

  it('fails with the reason while the write or the checkpoint fails', async () => {
    const reasons = ['EIO', undefined];
    const probe = async (): Promise<void> => {
      const reason = reasons.shift();
      if (reason !== undefined) throw new Error(reason);
    };
    const healthy = check({ probe });

    expect(await healthy()).toEqual({ ok: false, freeBytes: undefined, reason: 'EIO' });
    expect((await healthy()).ok).toBe(true);
    expect(await check({ checkpointFailure: () => 'no thread' })()).toEqual({
      ok: false,
      freeBytes: undefined,
      reason: 'the log cannot be copied into the database: no thread',
    });
  });

  it('checks the free space of the disk', async () => {
    expect(await check({ path })()).toEqual({ ok: true, freeBytes: expect.any(Number) });
    expect(await check({ path: join(folder, 'none', 'reeve.db') })()).toMatchObject({
      ok: false,
      freeBytes: undefined,
      reason: expect.stringContaining('ENOENT'),
    });
  });

  it.skipIf(!existsSync('/proc/self'))('requires no free space on a disk without a size', async () => {
    expect(await check({ path: '/proc/self/reeve.db' })()).toEqual({ ok: true, freeBytes: 0 });
  });
});

it('a removed or replaced file is named', () => {
  const paths = ['one', 'other'].map((name) => join(folder, name));
  const [one = '', other = ''] = paths;
  for (const each of paths) writeFileSync(each, 'a');
  const findGone = watchOpenedFiles(paths);

  const before = findGone();
  writeFileSync(other, 'changed in place');
  const changed = findGone();
  renameSync(one, `${one}-aside`);
  const removed = findGone();
  writeFileSync(one, 'a');
  const replaced = findGone();
  renameSync(`${one}-aside`, one);

  expect([before, changed, removed, replaced, findGone()]).toEqual([
    undefined,
    undefined,
    one,
    one,
    undefined,
  ]);
});
