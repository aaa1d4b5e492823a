import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { Commits } from '../../src/store/commits.ts';
import type { Durability } from '../../src/store/durability.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-faults-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Accepts one after the other, and says which were acknowledged, what the last refusal was, and what is stored. */
const script = `
  import { openSqliteStore } from ${JSON.stringify(new URL('../../src/store/sqlite.ts', import.meta.url).href)};
  const store = await openSqliteStore({ path: process.argv[1], role: 'worker' });
  const acked = [];
  const codes = new Set();
  for (let n = 0; n < 120; n += 1) {
    const body = Buffer.from(JSON.stringify({ n, pad: 'x'.repeat(2000) }));
    const delivery = { uuid: 'uuid-' + n, eventType: 'push', entry: 'e', contentType: 'application/json', receivedAt: new Date(), body };
    await store.accept(delivery).then(() => acked.push(delivery.uuid), (error) => codes.add(error.code));
  }
  process.stdout.write(JSON.stringify({ acked, codes: [...codes] }));
  process.kill(process.pid, 'SIGKILL');`;

const hasStrace = spawnSync('strace', ['-V']).status === 0;

describe.skipIf(!hasStrace)('a disk that fails (skipped where strace cannot inject errors)', () => {
  it.each([
    ['the sync of the log', 'fdatasync:error=EIO:when=20+7'],
    ['a write', 'pwrite64:error=ENOSPC:when=80+23'],
    ['a write to a disk gone read-only', 'pwrite64:error=EROFS:when=80+31'],
  ])('in %s refuses, acknowledges nothing that is not stored, and recovers', (title, inject) => {
    const path = join(folder, title.replaceAll(' ', '-'), 'reeve.db');
    const { stdout } = spawnSync(
      'strace',
      [
        '-f',
        '-qq',
        '-o',
        join(folder, 'trace'),
        '-e',
        `trace=${inject.split(':')[0]}`,
        '-e',
        `inject=${inject}`,
        process.execPath,
        '--input-type=module',
        '-e',
        script,
        path,
      ],
      { encoding: 'utf8', timeout: 60_000 },
    );

    const { acked, codes } = JSON.parse(stdout) as { acked: string[]; codes: string[] };
    const database = new DatabaseSync(path);
    const stored = new Set(
      database
        .prepare('SELECT uuid FROM deliveries JOIN bodies USING (id)')
        .all()
        .map((row) => row.uuid),
    );
    expect(codes).toEqual(['store-unwritable']);
    expect(acked.length).toBeGreaterThan(60);
    expect(acked.filter((uuid) => !stored.has(uuid))).toEqual([]);
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    database.close();
  });
});

describe('a group of writes', () => {
  const open = (sync: () => Promise<void>) => {
    const database = new DatabaseSync(':memory:');
    database.exec('CREATE TABLE t (n INTEGER PRIMARY KEY) STRICT');
    const durability: Durability = { prepare() {}, sync, close() {} };
    const checkpoints = { committed() {}, async close() {} };
    const commits = new Commits(database, { path: 'x', durability, checkpoints, onRefused() {} });
    const insert = (n: number) =>
      commits.write(() => Number(database.prepare('INSERT INTO t VALUES (?)').run(n).changes));
    return { commits, insert };
  };

  it('is acknowledged after the sync that covers it, not before', async () => {
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

  it('shares one sync', async () => {
    let syncs = 0;
    const { insert } = open(async () => {
      syncs += 1;
    });

    await Promise.all(Array.from({ length: 50 }, (_, n) => insert(n)));

    expect(syncs).toBe(1);
  });

  it('does not suffer for one of them that cannot be done', async () => {
    const { insert } = open(async () => {});

    const results = await Promise.allSettled([insert(1), insert(2), insert(1), insert(3)]);

    expect(results.map((result) => result.status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
  });
});
