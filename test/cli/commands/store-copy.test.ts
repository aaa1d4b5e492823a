import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockClassOf, readAddress } from '../../../src/store/postgres/address.ts';
import { connectionOptions } from '../../../src/store/postgres/connections.ts';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { takeCopyLock } from '../../../src/store/postgres/presence.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { makeDelivery } from '../../store/make.ts';
import { reeve, start, waitForExit } from '../../support/command.ts';
import { fillStore, readEverything } from '../../support/full-store.ts';
import { makeSchema } from '../../support/postgres.ts';

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'reeve-move-'));
});
afterEach(() => rm(data, { recursive: true, force: true }));

const pathOf = (name: string): string => join(data, name);
const copy = (args: readonly string[], environment: Record<string, string> = {}) =>
  reeve(['store', 'copy', ...args], { environment });
const fill = async (deliveries = 0): Promise<void> => {
  const store = await openSqliteStore({ path: pathOf('reeve.db'), role: 'worker' });
  await fillStore(store);
  const body = (number: number): Buffer => Buffer.from(JSON.stringify({ number, text: 'x'.repeat(10_000) }));
  const all = Array.from({ length: deliveries }, (_, number) =>
    store.accept(makeDelivery({ body: body(number) })),
  );
  await Promise.all(all);
  await store.close();
};
const readFile = async (name: string) => {
  const store = await openSqliteStore({ path: pathOf(name), role: 'reader' });
  const everything = await readEverything(store);
  await store.close();
  return everything;
};

describe('reeve store copy', () => {
  it('moves a data folder to the database of DATABASE_URL and back, and prints what is equal', async () => {
    await fill();
    const url = await makeSchema();
    writeFileSync(pathOf('address'), `${url}\n`);

    const there = await copy(['--from', data, '--to', 'env:DATABASE_URL'], {
      DATABASE_URL_FILE: pathOf('address'),
    });
    const back = await copy(['--from', 'env:OLD', '--to', pathOf('new'), '--json'], { OLD: url });

    expect([there.status, back.status], there.error + back.error).toEqual([0, 0]);
    expect(there.out).toMatch(/^deliveries +10 {2}[0-9a-f]{16} {2}equal$/m);
    expect(there.out).toMatch(/is copied to PostgreSQL .*; rows and digests are equal$/m);
    const { ok, begun, tables } = JSON.parse(back.out);
    expect({ ok, begun, equal: tables.every((table: { isEqual: boolean }) => table.isEqual) }).toEqual({
      ok: true,
      begun: 'new',
      equal: true,
    });
    expect(await readFile('new/reeve.db')).toEqual(await readFile('reeve.db'));
    expect(statSync(pathOf('new')).mode & 0o777).toBe(0o700);
    expect(statSync(pathOf('new/reeve.db')).mode & 0o777).toBe(0o600);
  });

  it('refuses unreadable input without revealing any part of a password', async () => {
    await fill();
    const secret = 'postgres://reeve:the-password@localhost/reeve';
    const cases: readonly (readonly [
      args: readonly string[],
      message: string,
      environment?: Record<string, string>,
    ])[] = [
      [['--from', data], "required option '--to <place>'"],
      [['--from', data, '--to', secret], '--to: other users can see a password in a command'],
      [
        ['--from', data, '--to', 'postgres://localhost/reeve?password=the-password'],
        'other users can see a password',
      ],
      [['--from', data, '--to', 'mysql://localhost/reeve'], '--to must be a path'],
      [['--from', data, '--to', 'env:PLACE'], 'neither PLACE nor PLACE_FILE is set'],
      [['--from', data, '--to', 'env:PLACE'], 'both set', { PLACE: secret, PLACE_FILE: pathOf('address') }],
      [['--from', data, '--to', 'env:PLACE'], 'PLACE_FILE: ENOENT', { PLACE_FILE: pathOf('address') }],
      [
        ['--from', pathOf('nowhere'), '--to', pathOf('new')],
        `there is no store at ${pathOf('nowhere/reeve.db')}`,
      ],
      [['--from', data, '--to', pathOf('reeve.db')], 'name the same location'],
      [['--from', 'env:PLACE', '--to', 'env:PLACE'], 'name the same location', { PLACE: secret }],
    ];
    for (const [args, message, environment] of cases) {
      const { status, out, error } = await copy(args, environment);

      expect(error).toContain(message);
      expect({ status, out }).toEqual({ status: 2, out: '' });
      expect(error).not.toContain('the-password');
    }
    const unreachable = await copy(['--from', data, '--to', 'env:PLACE'], {
      PLACE: 'postgres://reeve:the-password@127.0.0.1:9/reeve',
    });

    expect(unreachable.status).toBe(1);
    expect(unreachable.error).toContain('cannot be reached');
    expect(unreachable.error).not.toContain('the-password');
    expect(existsSync(pathOf('nowhere'))).toBe(false);
  });

  it('continues after being killed at any time, and no other command uses an unfinished copy', async () => {
    await fill(400);
    const url = await makeSchema();
    const environment = { DATABASE_URL: url };
    let kills = 0;
    let status: number | null = null;
    for (let attempt = 0; status === null; attempt += 1) {
      const child: ChildProcess = start(['store', 'copy', '--from', data, '--to', 'env:DATABASE_URL'], {
        environment,
      });
      const ended = waitForExit(child);
      // The process is killed later each time; the first processes end before anything has been written.
      const timer = setTimeout(() => child.kill('SIGKILL'), 200 + attempt * 60);
      const [given] = await once(child, 'exit');
      clearTimeout(timer);
      const { error } = await ended;
      expect(error).toBe('');
      status = given;
      if (status === null) kills += 1;
    }

    expect(status).toBe(0);
    expect(kills).toBeGreaterThan(0);
    const store = await openPostgresStore({ url, role: 'reader', isVolatile: true });
    const everything = await readEverything(store);
    await store.close();
    expect(everything).toEqual(await readFile('reeve.db'));
  });

  it('waits for the lock of a killed process, and is refused if the lock is not released', async () => {
    const url = await makeSchema();
    const { openPostgresTarget } = await import('../../../src/store/copy/postgres-side.ts');
    const address = readAddress(url);
    const first = await openPostgresTarget(url);
    const impatient = new pg.Client(connectionOptions(address));
    await impatient.connect();

    await expect(takeCopyLock(impatient, address, 50)).rejects.toMatchObject({ code: 'store-locked' });
    const second = openPostgresTarget(url);
    const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND classid = $1::bigint::oid`;
    const countWaiting = async () => (await impatient.query(waiting, [lockClassOf(address.schema)])).rowCount;
    await expect.poll(countWaiting).toBe(1);
    await first.close();
    await (await second).close();
    await impatient.end();
  });

  it('leaves an unfinished copy that other commands refuse, with a message on how to continue', async () => {
    await fill();
    const url = await makeSchema();
    const { openPostgresTarget } = await import('../../../src/store/copy/postgres-side.ts');
    const target = await openPostgresTarget(url);
    await target.writeMark(
      JSON.stringify({ source: `SQLite ${pathOf('reeve.db')}`, startedAt: '2026-03-01T12:00:00.000Z' }),
    );
    await target.close();

    const paused = await reeve(['pause', 'all'], { environment: { DATABASE_URL: url, REEVE_DATA: data } });
    const resumed = await copy(['--from', data, '--to', 'env:DATABASE_URL', '--json'], { DATABASE_URL: url });

    expect(paused.status).toBe(2);
    expect(paused.error).toContain(`is an unfinished copy of SQLite ${pathOf('reeve.db')}`);
    expect(paused.error).toContain('run the same reeve store copy again to finish it');
    expect(JSON.parse(resumed.out)).toMatchObject({ ok: true, begun: 'resumed' });
  });
});
