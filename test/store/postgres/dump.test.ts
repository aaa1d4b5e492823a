import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { fillStore, readEverything } from '../../support/full-store.ts';
import { startPostgres } from '../../support/postgres-server.ts';
import { makeDelivery } from '../make.ts';

const execute = promisify(execFile);
const programs = ['initdb', 'postgres', 'pg_dump', 'pg_restore', 'psql'];

/** Returns the folder of a complete PostgreSQL installation, because dumping needs programs of the server's version. */
function findPrograms(): string | undefined {
  const versions = (root: string): readonly string[] =>
    existsSync(root) ? readdirSync(root).map((version) => join(root, version, 'bin')) : [];
  const folders = [...versions('/usr/lib/postgresql'), ...(process.env.PATH ?? '').split(':')];
  return folders.find((folder) => programs.every((name) => isProgram(join(folder, name))));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const folder = findPrograms();

describe.skipIf(folder === undefined)(
  `a store in PostgreSQL${folder === undefined ? ' (skipped: pg_dump and its server are not installed)' : ''}`,
  () => {
    const ends: (() => Promise<unknown>)[] = [];
    afterAll(async () => {
      for (const end of ends.reverse()) await end();
    });

    it('is dumped next to a running server, and restored completely into another database', async () => {
      const server = await startPostgres([`--programs=${folder}`]);
      ends.push(() => server.stop());
      const dump = await mkdtemp(join(tmpdir(), 'reeve-dump-'));
      ends.push(() => rm(dump, { recursive: true }));
      const run = (name: string, ...args: readonly string[]) => execute(join(folder ?? '', name), [...args]);
      const restored = server.url.replace('/postgres?', '/restored?');
      const live = await openPostgresStore({ url: server.url, role: 'worker' });
      await fillStore(live);
      const before = await readEverything(live);
      const [claim] = await live.claim({ limit: 1, leaseMs: 60_000 });

      await run(
        'pg_dump',
        '--format=custom',
        '--schema=reeve',
        '--no-owner',
        `--file=${dump}/reeve.dump`,
        server.url,
      );
      await live.accept(makeDelivery());
      await live.close();
      await run('psql', '--command=CREATE DATABASE restored', server.url);
      await run('pg_restore', '--no-owner', '--exit-on-error', `--dbname=${restored}`, `${dump}/reeve.dump`);
      const store = await openPostgresStore({
        url: restored,
        role: 'worker',
        // In the dump, the dumped process is alive. A new process waits until the dumped one counts as dead.
        liveness: { beatMs: 100, silentMs: 200, lifeMs: 400 },
      });
      ends.push(() => store.close());

      await expect.poll(async () => (await store.counts()).claimed).toBe(0);
      const after = await readEverything(store);
      const attempted = after.deliveries.find((delivery) => delivery?.id === claim?.id);
      expect(attempted).toMatchObject({ state: 'accepted', attempts: 1, crashes: 1 });
      const others = ({ deliveries, ...rest }: typeof before) => ({
        ...rest,
        deliveries: deliveries.filter((delivery) => delivery?.id !== claim?.id),
      });
      expect(others(after)).toEqual(others(before));
      const ids = before.deliveries.map((delivery) => Number(delivery?.id));
      expect(Number((await store.accept(makeDelivery())).id)).toBeGreaterThan(Math.max(...ids));
    });
  },
);
