import { type ChildProcess, spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { builtProgram } from '../../support/built-program.ts';
import { start, waitForExit, waitForOutput } from '../../support/command.ts';
import { makeDashboardApp } from '../../support/dashboard-app.ts';
import { isThorough } from '../../support/figure.ts';

const authorization = 'a-value-that-only-the-hook-knows';
const { PATH, NODE_COMPILE_CACHE } = process.env;

let folder: string;
let data: string;
let child: ChildProcess | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-lost-'));
  data = join(folder, 'data');
});
afterEach(async () => {
  child?.kill('SIGKILL');
  child = undefined;
  await rm(folder, { recursive: true, force: true });
});

/** Environment with a forge that refuses connections, so that deliveries are stored and wait. */
const environment = (): Record<string, string> => ({
  FORGE_URL: 'http://127.0.0.1:9',
  FORGE_TOKEN: 'a-token-of-the-account-of-the-bot',
  WEBHOOK_AUTHORIZATION: authorization,
  REEVE_DATA: data,
  PORT: '0',
});

/** Starts the server and waits until it listens. */
const serve = async () => {
  child = start(['serve'], { environment: environment() });
  const ended = waitForExit(child);
  const url = /"url":"([^"]+)"/.exec(await waitForOutput(child, /"listening"/))?.[1] ?? '';
  return { ended, url };
};

const push = (id: string, given = authorization) => ({
  method: 'POST' as const,
  headers: {
    authorization: given,
    'content-type': 'application/json',
    'x-gitea-delivery': id,
    'x-gitea-event': 'push',
    'x-gitea-event-type': 'push',
  },
  body: JSON.stringify({
    ref: 'refs/heads/main',
    before: '0',
    after: id,
    repository: { id: 1, full_name: 'acme/tool', owner: { id: 1, login: 'acme' } },
    sender: { id: 2, login: 'ada' },
  }),
});

const file = (name: string): string => join(data, name);
const losses: readonly [string, () => Promise<unknown>][] = [
  ['reeve.db-wal is removed', () => rm(file('reeve.db-wal'))],
  ['reeve.db-shm is removed', () => rm(file('reeve.db-shm'))],
  ['reeve.db is removed', () => rm(file('reeve.db'))],
  ['the lock is removed', () => rm(file('reeve.db.lock'))],
  ['the data folder is removed', () => rm(data, { recursive: true })],
  ['the data folder is moved', () => rename(data, join(folder, 'elsewhere'))],
  [
    'reeve.db is replaced by a copy',
    async () => {
      await copyFile(file('reeve.db'), file('copy'));
      await rename(file('copy'), file('reeve.db'));
    },
  ],
];

describe.each(losses)('after %s', (title, lose) => {
  it('deliveries and readyz are answered 503', async () => {
    const reasons: string[] = [];
    const store = await openSqliteStore({
      path: file('reeve.db'),
      role: 'worker',
      onLost: ({ code, message }) => reasons.push(`${code}: ${message}`),
    });
    const app = makeDashboardApp(store);
    const answer = async (id: string): Promise<number> =>
      (await app.inject({ ...push(id, 'x'.repeat(24)), url: '/webhook' })).statusCode;
    const before = [await answer('1'), (await app.inject('/readyz')).statusCode];

    await lose();
    const after = [await answer('2'), (await app.inject('/readyz')).statusCode, await answer('3')];

    expect(before).toEqual([202, 200]);
    expect(after).toEqual([503, 503, 503]);
    expect(reasons).toEqual([expect.stringMatching(/^store-lost: .*reeve\.db.* was removed or replaced/)]);
    await app.close();
    await store.close();
  });

  // The message for each loss is asserted above. Losing one file and losing the whole folder are enough to show that a
  // loss ends the process.
  const isShort = title === 'reeve.db is replaced by a copy' || title === 'the data folder is removed';
  it.runIf(isThorough || isShort)(
    'the process acknowledges nothing more, and exits with the reason',
    async () => {
      const { ended, url } = await serve();
      expect((await fetch(`${url}/webhook`, push('first'))).status).toBe(202);

      await lose();
      // A worker that looks for work may notice the loss first; then the server no longer listens.
      const status = await fetch(`${url}/webhook`, push('second')).then(
        (answer) => answer.status,
        () => 'closed',
      );

      expect([503, 'closed']).toContain(status);
      const { status: exit, error } = await ended;
      expect(exit).toBe(1);
      expect(error).toMatch(/reeve: .* was removed or replaced while Reeve runs/);
      expect(error).not.toContain('could be closed');
    },
  );
});

it('deliveries acknowledged before reeve.db-wal was removed are in the database after the exit', async () => {
  const { ended, url } = await serve();
  for (const id of ['a', 'b', 'c']) await fetch(`${url}/webhook`, push(id));

  await rm(file('reeve.db-wal'));
  await ended;

  const store = await openSqliteStore({ path: file('reeve.db'), role: 'reader' });
  const { items } = await store.listDeliveries({ search: 'push' });
  expect(items.map(({ uuid }) => uuid).toSorted()).toEqual(['a', 'b', 'c']);
  await store.close();
});

/** Runs a shell script as root in its own namespace, where it may mount a small disk. */
const onSmallDisk = (script: string) =>
  spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'sh', '-ec', script], {
    encoding: 'utf8',
    env: { PATH, NODE_COMPILE_CACHE, NO_COLOR: '1', ...environment() },
  });
const canMount = onSmallDisk('mount -t tmpfs -o size=1m tmpfs /mnt').status === 0;

describe.skipIf(!canMount)('a disk that is full at the start (skipped where no disk can be mounted)', () => {
  const reeve = `"${process.execPath}" "${builtProgram()}"`;
  const fill = 'dd if=/dev/zero of="$REEVE_DATA/filler" bs=4k 2>/dev/null || true';
  const mount = 'mkdir -p "$REEVE_DATA"; mount -t tmpfs -o size=2m tmpfs "$REEVE_DATA"';
  const sqlite = new URL('../../../src/store/sqlite/sqlite-store.ts', import.meta.url).href;
  const makeStore = (end: string) => `cat > "$REEVE_DATA/make.mjs" <<'END'
import { openSqliteStore } from ${JSON.stringify(sqlite)};
const store = await openSqliteStore({ path: process.env.REEVE_DATA + '/reeve.db', role: 'worker' });
await store.remember('some', 'thing');
${end};
END
"${process.execPath}" "$REEVE_DATA/make.mjs" || true`;

  it.each([
    ['a new store', `${mount}; ${fill}; ${reeve} serve`],
    ['a store that was closed', `${mount}; ${makeStore('await store.close()')}\n${fill}; ${reeve} serve`],
    [
      'a store whose process was killed',
      `${mount}; ${makeStore("process.kill(process.pid, 'SIGKILL')")}\n${fill}; ${reeve} serve`,
    ],
  ])('is reported as the reason (%s)', (_title, script) => {
    const { status, stderr } = onSmallDisk(script);

    expect(stderr).toMatch(/the disk is full/);
    expect(stderr).not.toContain('in use by another Reeve');
    expect(status).toBe(1);
  });
});
