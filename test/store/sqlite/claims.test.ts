import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createQueries } from '../../../src/store/queries.ts';
import { createCrashes, createHeads, createRoutings, createWaits } from '../../../src/store/sqlite/claims.ts';
import { migrate } from '../../../src/store/sqlite/migrations.ts';
import { makeContext } from './make-context.ts';

let database: DatabaseSync;
beforeEach(() => {
  database = new DatabaseSync(':memory:');
  migrate(database, 'reeve.db');
});
afterEach(() => database.close());

type Row = Readonly<Record<string, string | number | null>>;
/** Writes a delivery; `more` sets its other columns. */
function add(id: number, more: Row = {}): void {
  const row: Row = {
    id,
    door: 'webhook',
    uuid: `uuid ${id}`,
    event_type: 'push',
    entry: 'e',
    content_type: 't',
    received_at: `2026-03-01T12:00:0${id % 10}.000Z`,
    state: 'accepted',
    routed: 1,
    mark: 0,
    bytes: 1,
    ...more,
  };
  const columns = Object.keys(row);
  database
    .prepare(`INSERT INTO deliveries (${columns.join()}) VALUES (${columns.map(() => '?').join()})`)
    .run(...Object.values(row));
  database.prepare("INSERT INTO bodies (id, body) VALUES (?, x'00')").run(id);
}
const column = (name: string): unknown[] =>
  database
    .prepare(`SELECT ${name} AS value FROM deliveries ORDER BY id`)
    .all()
    .map(({ value }) => value);

describe('the next deliveries', () => {
  const inLane = (id: number, lane: string, more: Row = {}): void =>
    add(id, { lane, turn: lane.split('#')[0] ?? '', ...more });

  it('alternate between repositories, and between the lanes of each', () => {
    for (const [index, lane] of ['1#1', '1#1', '1#2', '2', '1#3', '3#1', '3#2'].entries())
      inLane(index + 1, lane);
    const heads = createHeads(database);

    expect(heads.next(4, [])).toEqual([1, 4, 6, 3]);
    expect(heads.next(3, [])).toEqual([4, 7, 5]);
    expect(heads.next(3, [])).toEqual([4, 6, 1]);
  });

  it('are one per lane, from lanes that are free and not excluded', () => {
    for (const [index, lane] of ['1#1', '1#1', '1#2', '2', '3'].entries()) inLane(index + 1, lane);
    inLane(6, '2', { state: 'claimed' });
    const heads = createHeads(database);

    expect(heads.next(10, ['3'])).toEqual([1, 3]);
    expect(heads.next(0, [])).toEqual([]);
    expect(heads.of(['1#1', '2', '3', 'none'])).toEqual([1, 5]);
  });

  it('are found behind any number of busy repositories', () => {
    for (let id = 1; id <= 20; id += 1) inLane(id, String(id).padStart(2, '0'));
    for (let id = 21; id <= 39; id += 1) inLane(id, String(id - 20).padStart(2, '0'), { state: 'claimed' });
    const heads = createHeads(database);

    expect(heads.next(5, [])).toEqual([20]);
    expect(heads.next(5, [])).toEqual([20]);
  });

  it('start from the same repositories again if there are more than 10,000', () => {
    const fill = (count: number): void =>
      void database
        .prepare(
          `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT ?),
             lanes (turn, lane) AS (SELECT 't' || n, 't' || n || '#1' FROM n UNION ALL SELECT 't' || n, 't' || n || '#2' FROM n)
           INSERT INTO deliveries (door, uuid, event_type, entry, content_type, received_at, state, routed, mark, bytes, turn, lane)
           SELECT 'webhook', 'u', 'push', 'e', 't', '2026', 'accepted', 1, 0, 1, turn, lane FROM lanes`,
        )
        .run(count);
    const isAgain = (count: number): boolean => {
      database.exec('DELETE FROM deliveries');
      fill(count);
      const heads = createHeads(database);
      const first = heads.next(count, []);
      return heads.next(count, []).join() === first.join();
    };

    expect([isAgain(10_000), isAgain(10_001)]).toEqual([false, true]);
  });
});

describe('a wait', () => {
  const now = new Date('2026-03-01T12:00:00.000Z');
  const after = (ms: number): string => new Date(now.getTime() + ms).toISOString();

  it('ends at its deadline, whether it is for a retry or a deferral', () => {
    add(1, { state: 'retry', retry_at: after(0) });
    add(2, { state: 'retry', retry_at: after(1) });
    add(3, { state: 'deferred', retry_at: after(0), deferral_key: 'k' });
    add(4, { state: 'deferred', retry_at: after(1), deferral_key: 'k' });
    add(5, { state: 'dead', retry_at: after(0) });

    createWaits(database).endDue(now);

    expect(column('state')).toEqual(['accepted', 'retry', 'accepted', 'deferred', 'dead']);
    expect(column('retry_at')).toEqual([null, after(1), null, after(1), after(0)]);
    expect(column('deferral_key')).toEqual([null, null, null, 'k', null]);
  });

  it('ends for 500 retries and 500 deferrals at once, the longest overdue first', () => {
    for (let id = 1; id <= 501; id += 1) add(id, { state: 'retry', retry_at: after(-id) });
    for (let id = 502; id <= 1_003; id += 1) add(id, { state: 'deferred', retry_at: after(-id) });
    const waits = createWaits(database);

    waits.endDue(now);

    expect(column("state <> 'accepted'").flatMap((value, index) => (value === 1 ? [index + 1] : []))).toEqual(
      [1, 502, 503],
    );
    waits.endDue(now);
    expect(new Set(column('state'))).toEqual(new Set(['accepted']));
  });

  it('does not become longer if the clock is set back, and becomes two hours if an earlier version stored no length', () => {
    const rows: Row[] = [
      { retry_at: after(5_001), retry_wait_ms: 5_000 },
      { retry_at: after(5_000), retry_wait_ms: 5_000 },
      { retry_at: after(4_000), retry_wait_ms: 5_000 },
      { retry_at: after(86_400_000), retry_wait_ms: null },
    ];
    for (const [index, row] of rows.entries()) {
      add(index + 1, { state: 'retry', ...row });
      add(index + 11, { state: 'deferred', ...row });
    }
    add(20, { state: 'dead', retry_at: after(5_001), retry_wait_ms: 5_000 });

    createWaits(database).clamp(now);

    const clamped = [after(5_000), after(5_000), after(4_000), after(7_200_000)];
    expect(column('retry_at')).toEqual([...clamped, ...clamped, after(5_001)]);
  });
});

describe('routing', () => {
  const miB = 2 ** 20;
  const notes: unknown[] = [];
  const repeats = {
    note: (id: number, digest: Uint8Array) => {
      notes.push([id, digest]);
      return id === 2 ? 1 : undefined;
    },
  };

  it('reads 16 MiB of bodies at once, or a single larger body', () => {
    const bytes = [9 * miB, 7 * miB, 1, 17 * miB, 1, 17 * miB];
    for (const [index, size] of bytes.entries()) add(index + 1, { routed: 0, bytes: size });
    const { unrouted, route } = createRoutings(database, repeats.note);
    const batches: number[][] = [];
    for (let count = 0; count < 6; count += 1) {
      const ids = unrouted(10).map(({ id }) => Number(id));
      batches.push(ids);
      route(
        ids.map((id) => ({ id: String(id), to: 'settled', reason: 'no rule' })),
        new Date(),
      );
    }

    expect(batches).toEqual([[1, 2], [3], [4], [5], [6], []]);
  });

  it('to a lane keeps the repository and the repeated delivery, and to an end keeps what was already known', () => {
    const at = new Date('2026-03-01T13:00:00.000Z');
    for (let id = 1; id <= 6; id += 1)
      add(id, { routed: 0, ...(id > 3 && { lane: '9', repository_id: 9, repository: 'acme/nine' }) });
    const { route, unrouted } = createRoutings(database, repeats.note);
    const digest = Buffer.from('d');
    const settled = { to: 'settled', reason: 'no rule' } as const;

    const count = route(
      [
        { id: '1', to: 'lane', lane: '7#1', repositoryId: 7, repository: 'acme/shop', digest },
        { id: '2', to: 'lane', lane: '7', digest },
        { id: '3', ...settled, lane: '8', repositoryId: 8, repository: 'acme/eight' },
        { id: '4', ...settled },
        { id: '5', to: 'dead', reason: 'not JSON' },
        { id: '3', ...settled },
        { id: '999', ...settled },
      ],
      at,
    );

    expect(count).toBe(2);
    expect(notes).toEqual([
      [1, digest],
      [2, digest],
    ]);
    expect(unrouted(10).map(({ id }) => id)).toEqual(['6']);
    const ended = { settled_at: at.toISOString(), turn: null, repeat_of: null };
    const nine = { lane: '9', repository_id: 9, repository: 'acme/nine' };
    const rows = database
      .prepare(
        'SELECT state, reason, settled_at, lane, turn, repository_id, repository, repeat_of FROM deliveries WHERE id < 6 ORDER BY id',
      )
      .all();
    expect(rows).toEqual([
      {
        state: 'accepted',
        reason: null,
        settled_at: null,
        lane: '7#1',
        turn: '7',
        repository_id: 7,
        repository: 'acme/shop',
        repeat_of: null,
      },
      {
        state: 'accepted',
        reason: null,
        settled_at: null,
        lane: '7',
        turn: '7',
        repository_id: null,
        repository: null,
        repeat_of: 1,
      },
      {
        state: 'settled',
        reason: 'no rule',
        lane: '8',
        repository_id: 8,
        repository: 'acme/eight',
        ...ended,
      },
      { state: 'settled', reason: 'no rule', ...nine, ...ended },
      { state: 'dead', reason: 'not JSON', ...nine, ...ended },
    ]);
  });
});

it('deliveries are counted by state, and the oldest delivery that waits for an attempt is known', async () => {
  const queries = createQueries(makeContext(database).sql);
  expect(await queries.oldestWaiting()).toBeUndefined();
  const states = [
    'settled',
    'dead',
    'claimed',
    'deferred',
    'retry',
    'accepted',
    'accepted',
    'settled',
    'retry',
  ];
  for (const [index, state] of states.entries()) add(index + 1, { state, routed: index === 6 ? 0 : 1 });

  const counts = { accepted: 2, claimed: 1, retry: 2, deferred: 1, settled: 2, dead: 1 };
  expect(await queries.counts()).toEqual(counts);
  const { counts: countWaiting } = createQueries(makeContext(database).sql, () => 7);
  expect(await countWaiting()).toEqual({ ...counts, settled: 7 });
  const oldest = async (): Promise<number | undefined> => (await queries.oldestWaiting())?.getUTCSeconds();
  expect(await oldest()).toBe(5);
  database.exec("UPDATE deliveries SET state = 'settled' WHERE id = 5");
  expect(await oldest()).toBe(6);
  database.exec("UPDATE deliveries SET state = 'settled' WHERE id = 6");
  expect(await oldest()).toBe(7);
  database.exec("UPDATE deliveries SET state = 'settled' WHERE id = 7");
  expect(await oldest()).toBe(9);
});

describe('deliveries in flight during a crash', () => {
  const claimedOf = (...suspicions: number[]): void => {
    for (const [index, suspicion] of suspicions.entries())
      add(index + 1, { state: 'claimed', lane: `${index}`, turn: '', lease: 'l', attempts: 3, suspicion });
  };
  const claim = (id: number): void =>
    void database.prepare("UPDATE deliveries SET state = 'claimed' WHERE id = ?").run(id);
  const end = (id: number): void =>
    void database.prepare("UPDATE deliveries SET state = 'settled', suspicion = 0 WHERE id = ?").run(id);

  it('are all suspected without counting an attempt; a delivery that was alone in flight is the cause', () => {
    claimedOf(0, 1);
    createCrashes(database).takeBack();
    expect([
      column('state'),
      column('attempts'),
      column('suspicion'),
      column('crashes'),
      column('lease'),
    ]).toEqual([
      ['accepted', 'accepted'],
      [2, 2],
      [1, 2],
      [0, 0],
      [null, null],
    ]);

    claim(1);
    createCrashes(database).takeBack();

    expect([column('state'), column('attempts'), column('suspicion'), column('crashes')]).toEqual([
      ['accepted', 'accepted'],
      [2, 2],
      [1, 2],
      [1, 0],
    ]);
  });

  it('are handled one at a time, each alone for ten seconds', () => {
    claimedOf(0, 0);
    const { takeBack, turn, claimed } = createCrashes(database);
    takeBack();

    expect(turn(0)).toBe(1);
    claim(1);
    claimed(1, 0);
    expect([turn(0), turn(9_999)]).toEqual(['wait', 'wait']);
    expect(turn(10_000)).toBe(2);
    claim(2);
    claimed(2, 10_000);
    expect([turn(10_000), turn(19_999)]).toEqual(['wait', 'wait']);
    expect(turn(20_000)).toBe('free');
  });

  it('do not run next to a recently claimed delivery; later deliveries run together once none is suspected', () => {
    claimedOf(0, 0);
    const { takeBack, turn, claimed } = createCrashes(database);
    takeBack();
    add(3, { state: 'claimed' });
    claimed(3, 0);

    expect([turn(9_999), turn(10_000)]).toEqual(['wait', 1]);
    end(1);
    end(2);
    expect(turn(10_000)).toBe('free');
    // Suspected deliveries appear only when a server starts, so the database is not queried for them any more.
    database.exec("UPDATE deliveries SET suspicion = 1, state = 'accepted' WHERE id = 1");
    expect(turn(10_000)).toBe('free');
  });

  it('make other suspected deliveries wait if the time of their claim is unknown', () => {
    claimedOf(1);
    add(2, { suspicion: 1 });

    expect(createCrashes(database).turn(1_000_000)).toBe('wait');
  });

  it('stay suspected while they run for a long time, so a later turn checks again', () => {
    claimedOf(0, 0);
    const { takeBack, turn, claimed } = createCrashes(database);
    takeBack();
    claim(1);
    claimed(1, 0);
    end(2);
    expect(turn(10_000)).toBe('free');

    // The lease of delivery 1 has ended, and the delivery has returned to its lane.
    database.exec("UPDATE deliveries SET state = 'accepted' WHERE id = 1");

    expect(turn(10_001)).toBe(1);
  });
});
