import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  connectionsFinding,
  databaseChecks,
  databaseClockFinding,
  serverFinding,
} from '../../../src/cli/connection/checks/database-checks.ts';
import type { Examination } from '../../../src/cli/connection/checks/examination.ts';
import { examinePostgres, type PostgresState } from '../../../src/store/postgres/examine.ts';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { makeSchema } from '../../support/postgres.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const query = async (url: string, sql: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
};
const judge = async (url: string | undefined) => {
  const examination = {
    database: async () => (url === undefined ? undefined : examinePostgres(url)),
  } as Examination;
  return Promise.all(databaseChecks.map(async ({ id, run }) => ({ id, ...(await run(examination)) })));
};

describe('the checks of reeve doctor for PostgreSQL', () => {
  it('report server, processes, connections and clock, and change nothing', async () => {
    const url = `${server.url}&schema=doctor_one`;
    const [before] = await judge(url);
    const store = await openPostgresStore({ url, role: 'worker' });

    const findings = await judge(url);

    await store.close();
    expect(before).toMatchObject({ state: 'ok', text: expect.stringContaining('no store yet') });
    expect(findings.map(({ state }) => state)).toEqual(['ok', 'ok', 'ok']);
    const [database, connections, clock] = findings.map(({ text }) => text);
    expect(database).toMatch(
      /^PostgreSQL \d+\.\d+, schema \d+, fsync on, full_page_writes on, synchronous_commit on, no synchronous standby$/,
    );
    // The server may still be closing the connections of the first examination, and counts them until they are closed.
    expect(connections).toMatch(
      new RegExp(
        `^1 live Reeve process \\(.*${process.pid}.*\\): needs 8 connections; the limit is \\d+, other programs use \\d$`,
      ),
    );
    expect(clock).toMatch(/^the clock of the database is \d{1,3} m?s (?:ahead of|behind) this machine’s$/);
    const [after] = await judge(`${server.url}&schema=doctor_two`);
    expect(after?.text).toContain('no store yet');
  });

  it('detect a server that does not sync', async () => {
    expect((await judge(await makeSchema()))[0]).toMatchObject({
      state: 'wrong',
      text: expect.stringContaining('fsync off'),
      advice: expect.stringContaining('fsync = on'),
    });
  });

  it('detect connection limits of the account', async () => {
    await query(server.url, 'CREATE ROLE few LOGIN CONNECTION LIMIT 9');
    await query(server.url, 'GRANT CREATE ON DATABASE postgres TO few');
    const url = server.url.replace('reeve@', 'few@');
    const tight = (await judge(url))[1];
    await query(server.url, 'ALTER ROLE few CONNECTION LIMIT 5');
    const tooTight = (await judge(url))[1];

    expect(tight).toMatchObject({ state: 'warning', text: expect.stringContaining('no room for one more') });
    expect(tooTight).toMatchObject({
      state: 'wrong',
      text: expect.stringContaining('5 of the account or database'),
    });
  });

  it('skip a store in a file', async () => {
    expect((await judge(undefined)).map(({ state }) => state)).toEqual(['skipped', 'skipped', 'skipped']);
  });

  it('classify conditions that no test can produce, from given numbers', () => {
    const fine: PostgresState = {
      name: 'PostgreSQL',
      version: '15.4',
      versionNumber: 150_004,
      isStandby: false,
      schema: 1,
      knownSchema: 1,
      fsync: true,
      fullPageWrites: true,
      synchronousCommit: 'on',
      synchronousStandbys: '',
      processes: [],
      connections: { limit: 97, ownLimit: undefined, others: 80, perProcess: 6 },
      aheadMs: 0,
    };
    const stateOf = (change: Partial<PostgresState>) => serverFinding({ ...fine, ...change }).state;
    const roomOf = (processes: readonly string[]) => connectionsFinding({ ...fine, processes }).state;

    expect(stateOf({})).toBe('ok');
    expect(stateOf({ versionNumber: 140_012 })).toBe('wrong');
    expect(stateOf({ isStandby: true })).toBe('wrong');
    expect(stateOf({ fsync: false })).toBe('wrong');
    expect(stateOf({ fullPageWrites: false })).toBe('wrong');
    expect(stateOf({ synchronousCommit: 'off' })).toBe('wrong');
    expect(stateOf({ schema: 2 })).toBe('warning');
    expect([roomOf([]), roomOf(['a']), roomOf(['a', 'b']), roomOf(['a', 'b', 'c'])]).toEqual([
      'ok',
      'ok',
      'warning',
      'wrong',
    ]);
    expect([
      databaseClockFinding({ aheadMs: -30_000 }).state,
      databaseClockFinding({ aheadMs: 30_001 }).state,
    ]).toEqual(['ok', 'wrong']);
  });
});
