import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { recordFigure } from '../../support/figure.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-faults-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Accepts deliveries one after another. Prints the acknowledged deliveries, the number of refusals, and their codes.
 */
const script = `
  import { openSqliteStore } from ${JSON.stringify(new URL('../../../src/store/sqlite/sqlite-store.ts', import.meta.url).href)};
  const store = await openSqliteStore({ path: process.argv[1], role: 'worker' });
  const acked = [];
  const codes = new Set();
  let refused = 0;
  for (let n = 0; n < ${process.env.LONG ? 1_200 : 120}; n += 1) {
    const body = Buffer.from(JSON.stringify({ n, pad: 'x'.repeat(2000) }));
    const delivery = { uuid: 'uuid-' + n, eventType: 'push', entry: 'e', contentType: 'application/json', receivedAt: new Date(), body };
    await store.accept(delivery).then(() => acked.push(delivery.uuid), (error) => { refused += 1; codes.add(error.code); });
  }
  process.stdout.write(JSON.stringify({ acked, refused, codes: [...codes] }));
  process.kill(process.pid, 'SIGKILL');`;

const hasStrace = spawnSync('strace', ['-V']).status === 0;

/**
 * Runs a module under strace with one kind of system call made to fail, and returns its output. The database already
 * exists, so that the failing calls are those of the module, however many migrations there are.
 */
async function runUnderStrace(inject: string, source: string, path: string): Promise<string> {
  await (await openSqliteStore({ path, role: 'worker' })).close();
  const trace = ['-f', '-qq', '-o', join(folder, 'trace'), '-e', `trace=${inject.split(':')[0]}`];
  const node = [process.execPath, '--input-type=module', '-e', source, path];
  // With several threads, strace would count the calls of each thread separately, so only one thread syncs.
  const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };
  const options = { encoding: 'utf8', timeout: 600_000, env } as const;
  return spawnSync('strace', [...trace, '-e', `inject=${inject}`, ...node], options).stdout;
}

/** Reads with SQLite directly, so that the result does not depend on the store's own code. */
function storedIn(path: string): { stored: ReadonlySet<unknown>; integrity: unknown } {
  const database = new DatabaseSync(path);
  try {
    const rows = database.prepare('SELECT uuid FROM deliveries JOIN bodies USING (id)').all();
    const check = database.prepare('PRAGMA integrity_check').get();
    return { stored: new Set(rows.map((row) => row.uuid)), integrity: check?.integrity_check };
  } finally {
    database.close();
  }
}

describe.skipIf(!hasStrace)('a disk that fails (skipped where strace cannot inject errors)', () => {
  it.for([
    ['the sync of the log', 'fdatasync:error=EIO:when=20+7'],
    ['a write', 'pwrite64:error=ENOSPC:when=80+23'],
    ['a write to a disk gone read-only', 'pwrite64:error=EROFS:when=80+31'],
  ])(
    'in %s refuses writes, acknowledges nothing that is not stored, and recovers',
    async ([title = '', inject = ''], context) => {
      const path = join(folder, title.replaceAll(' ', '-'), 'reeve.db');
      const stdout = await runUnderStrace(inject, script, path);

      const { acked, refused, codes } = JSON.parse(stdout) as {
        acked: string[];
        refused: number;
        codes: string[];
      };
      const { stored, integrity } = storedIn(path);
      expect(codes).toEqual(['store-unwritable']);
      expect(acked.length).toBeGreaterThan(60);
      expect(acked.filter((uuid) => !stored.has(uuid))).toEqual([]);
      expect(integrity).toBe('ok');
      recordFigure(
        context,
        `${/error=(\w+)/.exec(inject)?.[1]} in ${title}: ${refused} refused, ${acked.length} acknowledged, 0 of them missing`,
      );
    },
  );
});

/**
 * Makes the sync of the 20th batch fail, records the unsynced part of the log and the generation of the log, and
 * continues. The salts in the log's header identify the generation.
 */
const failedSyncScript = `
  import { openSync, readSync, statSync } from 'node:fs';
  import { openSqliteStore } from ${JSON.stringify(new URL('../../../src/store/sqlite/sqlite-store.ts', import.meta.url).href)};
  const path = process.argv[1];
  const store = await openSqliteStore({ path, role: 'worker' });
  const log = openSync(path + '-wal', 'r');
  const generation = () => { const header = Buffer.alloc(32); readSync(log, header, 0, 32, 0); return header.toString('hex'); };
  const acked = [];
  let hole;
  for (let n = 0; n < 60; n += 1) {
    const body = Buffer.from(JSON.stringify({ n, pad: 'x'.repeat(2000) }));
    const delivery = { uuid: 'uuid-' + n, eventType: 'push', entry: 'e', contentType: 'application/json', receivedAt: new Date(), body };
    const from = statSync(path + '-wal').size;
    await store.accept(delivery).then(() => acked.push(delivery.uuid), () => { hole = { from, to: statSync(path + '-wal').size, generation: generation() }; });
  }
  process.stdout.write(JSON.stringify({ acked, hole, generation: generation() }));
  process.kill(process.pid, 'SIGKILL');`;

describe.skipIf(!hasStrace)('a sync that fails (skipped where strace cannot inject errors)', () => {
  it('loses no delivery accepted afterwards, even if the kernel never writes the pages of the failed sync', async () => {
    const path = join(folder, 'failed-sync', 'reeve.db');
    const stdout = await runUnderStrace('fdatasync:error=EIO:when=20', failedSyncScript, path);
    const { acked, hole, generation } = JSON.parse(stdout) as {
      acked: string[];
      hole: { from: number; to: number; generation: string };
      generation: string;
    };
    // Simulates the disk after a power cut, with nothing of the failed sync. A log that was restarted since then has no
    // such pages.
    if (generation === hole.generation) {
      const log = openSync(`${path}-wal`, 'r+');
      writeSync(log, Buffer.alloc(hole.to - hole.from), 0, hole.to - hole.from, hole.from);
      closeSync(log);
    }

    const { stored } = storedIn(path);

    expect(acked).toHaveLength(59);
    expect(acked.filter((uuid) => !stored.has(uuid))).toEqual([]);
  });
});

/**
 * Accepts small deliveries until one is stored, then a large one, and checks the health. Repeats this once the disk
 * works. An error at every 40th write misses most small transactions and hits every large one.
 */
const largeWritesScript = `
  import { openSqliteStore } from ${JSON.stringify(new URL('../../../src/store/sqlite/sqlite-store.ts', import.meta.url).href)};
  const store = await openSqliteStore({ path: process.argv[1], role: 'worker' });
  const accept = (n, size) => store.accept({ uuid: 'uuid-' + n, eventType: 'push', entry: 'e', contentType: 'application/json',
    receivedAt: new Date(), body: Buffer.alloc(size, 'x') }).then(() => 'stored', (error) => error.code);
  const seen = { small: [], large: undefined, small2: [], healthWhileBroken: undefined, health: false };
  for (let n = 0; n < 5; n += 1) seen.small.push(await accept('s' + n, 100 + n));
  seen.large = await accept('large', 4_000_000);
  for (let n = 0; n < 5; n += 1) seen.small2.push(await accept('t' + n, 200 + n));
  seen.healthWhileBroken = (await store.healthy()).ok;
  for (let n = 0; n < 60 && !seen.health; n += 1) seen.health = (await store.healthy()).ok;
  process.stdout.write(JSON.stringify(seen));
  process.kill(process.pid, 'SIGKILL');`;

describe.skipIf(!hasStrace)(
  'a disk that fails at large writes (skipped where strace cannot inject errors)',
  () => {
    it('is unhealthy although small deliveries are stored, until large deliveries are stored too', async () => {
      const path = join(folder, 'large-writes', 'reeve.db');
      const stdout = await runUnderStrace('pwrite64:error=EIO:when=80..600+40', largeWritesScript, path);

      const seen = JSON.parse(stdout) as Record<string, unknown>;

      expect(seen).toMatchObject({ large: 'store-unwritable', healthWhileBroken: false, health: true });
      expect(seen.small2).toContain('stored');
    });
  },
);
