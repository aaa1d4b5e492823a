import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { openSqliteStore, type SqliteOptions } from '../../../src/store/sqlite/sqlite-store.ts';
import { recordFigure } from '../../support/figure.ts';
import { describeStore } from '../contract/describe-store.ts';
import { makeDelivery } from '../make.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const pathOf = (name: string): string => join(folder, name, 'reeve.db');

describeStore('the SQLite store', {
  open: ({ name, ...options }) => openSqliteStore({ path: pathOf(name), ...options }),
});

describe('the SQLite file', () => {
  const open = (name: string, options: Partial<SqliteOptions> = {}) =>
    openSqliteStore({ path: pathOf(name), role: 'worker', ...options });

  it('is readable only by its owner, like the files next to it', async () => {
    const store = await open('mode');
    await store.accept(makeDelivery());

    for (const suffix of ['', '-wal', '-shm', '.lock']) {
      expect(statSync(`${pathOf('mode')}${suffix}`).mode & 0o777).toBe(0o600);
    }
    await store.close();
  });

  it('refuses a second worker and names the first', async () => {
    const first = await open('lock');

    await expect(open('lock')).rejects.toMatchObject({
      code: 'store-locked',
      message: expect.stringContaining(`pid ${process.pid}`),
    });
    await first.close();
    await (await open('lock')).close();
  });

  it('is taken over after the process that held it was killed', async () => {
    const script = `
      import { openSqliteStore } from ${JSON.stringify(new URL('../../../src/store/sqlite/sqlite-store.ts', import.meta.url).href)};
      await openSqliteStore({ path: process.argv[1], role: 'worker' });
      process.kill(process.pid, 'SIGKILL');`;
    const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script, pathOf('stale')]);

    const store = await open('stale');

    expect(signal).toBe('SIGKILL');
    expect((await store.healthy()).ok).toBe(true);
    await store.close();
  });

  it('is refused after a newer program has used it', async () => {
    await (await open('newer')).close();
    const database = new DatabaseSync(pathOf('newer'));
    database.exec('PRAGMA user_version = 99');
    database.close();

    await expect(open('newer')).rejects.toMatchObject({ code: 'store-newer' });
  });

  it('that is not a database is refused with an error', async () => {
    await (await open('junk')).close();
    const { writeFileSync } = await import('node:fs');
    writeFileSync(pathOf('junk'), 'not a database at all, but long enough to have a header'.repeat(20));

    await expect(open('junk')).rejects.toMatchObject({ code: 'store-unwritable' });
  });

  it('that is full refuses writes, keeps what it acknowledged, and accepts again once there is space', async (context) => {
    const store = await open('full', { maxFileBytes: 3_000_000 });
    const accepted: string[] = [];
    let refusal: unknown;
    while (refusal === undefined) {
      const body = Buffer.from(JSON.stringify({ n: accepted.length, text: 'x'.repeat(100_000) }));
      await store
        .accept(makeDelivery({ body }))
        .then(({ id }) => accepted.push(id))
        .catch((error: unknown) => {
          refusal = error;
        });
    }

    const health = await store.healthy();
    await store.route(accepted.map((id) => ({ id, to: 'settled', reason: 'test' }))).catch(() => undefined);
    const kept = await Promise.all(accepted.map((id) => store.readDelivery(id)));
    const gone = await store.prune({ maxBytes: 1_000_000 });
    const again = await store.accept(makeDelivery());

    expect(refusal).toMatchObject({ code: 'store-unwritable' });
    expect(health).toBeTypeOf('object');
    expect(kept.every((each) => each !== undefined)).toBe(true);
    expect(gone.deliveries).toBeGreaterThan(5);
    expect(again.known).toBe(false);
    await store.close();
    recordFigure(
      context,
      `a full file: ${accepted.length} acknowledged, 0 missing; accepted again after room was made`,
    );
  });

  it('works in memory', async () => {
    const store = await openSqliteStore({ path: ':memory:', role: 'worker' });

    expect((await store.accept(makeDelivery())).known).toBe(false);
    expect((await store.healthy()).ok).toBe(true);
    await store.close();
  });
});
