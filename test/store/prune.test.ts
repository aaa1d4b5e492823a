import { expect, it } from 'vitest';
import { type Deletions, everyAge, prune, pruneBatch } from '../../src/store/prune.ts';
import type { Sql, SqlValue, Statement } from '../../src/store/sql.ts';

const at = new Date('2026-03-01T12:00:00.000Z');
const later = new Date('2026-03-05T12:00:00.000Z');

/** Creates deletions that return the given numbers in order, and then zero; `calls` records the calls. */
function makeDeletions(
  given: {
    readonly expired?: readonly (readonly [settled: number, dead: number, next?: number])[];
    readonly loose?: readonly number[];
    readonly rest?: readonly number[];
    readonly bytes?: readonly number[];
  } = {},
): { readonly sql: Sql; readonly deletions: Deletions; readonly calls: string[] } {
  const calls: string[] = [];
  const [expired, loose, bytes] = [
    [...(given.expired ?? [])],
    [...(given.loose ?? [])],
    [...(given.bytes ?? [])],
  ];
  const rest = new Map<string, number[]>();
  const answer = ({ sql, values }: Statement): number => {
    const [, table = ''] = /^DELETE FROM (\w+)/.exec(sql) ?? [];
    // Deleted by an age of its own, whatever the limits: test/store/contract/rule-texts.ts.
    if (table === 'rule_texts') return 0;
    calls.push([table, ...new Set(values.map(textOf))].join(' '));
    const numbers = rest.get(table) ?? [...(given.rest ?? [])];
    rest.set(table, numbers);
    return numbers.shift() ?? 0;
  };
  return {
    calls,
    sql: {
      words: { isAtRest: 'is_at_rest', memoryDate: 'at' } as Sql['words'],
      all: async () => [],
      get: async () => undefined,
      batch: async (statements) => statements.map(answer),
    },
    deletions: {
      async deleteExpired(expiry, after) {
        calls.push(`expired ${expiry.settled ?? '-'} ${expiry.dead ?? '-'} after ${after}`);
        const [settled, dead, next] = expired.shift() ?? [0, 0];
        return { settled, dead, runs: 10 * (settled + dead), next };
      },
      async deleteLooseRuns(before) {
        calls.push(`runs ${before}`);
        return loose.shift() ?? 0;
      },
      bytesInUse: async () => bytes.shift() ?? 0,
    },
  };
}

function textOf(value: SqlValue): string {
  return typeof value === 'object' && value !== null && 'indexed' in value ? value.indexed : String(value);
}

it('without limits nothing is deleted', async () => {
  const { sql, deletions, calls } = makeDeletions({ bytes: [10 ** 15, 10 ** 15, 10 ** 15] });

  expect(await prune(sql, deletions, {})).toEqual({ deliveries: 0, dead: 0, runs: 0 });

  expect(calls).toEqual([]);
});

it('deliveries are deleted batch by batch according to their ages, and the deleted rows are counted', async () => {
  const { sql, deletions, calls } = makeDeletions({
    expired: [
      [3, 2, 7],
      [0, 0, 9],
      [1, 4],
    ],
  });
  const settledGone: number[] = [];

  const gone = await prune(
    sql,
    deletions,
    { olderThan: later, deadOlderThan: at },
    (count) => void settledGone.push(count),
  );

  expect(gone).toEqual({ deliveries: 10, dead: 6, runs: 100 });
  expect(settledGone).toEqual([3, 0, 1]);
  const ages = `expired ${later.toISOString()} ${at.toISOString()}`;
  expect(calls).toEqual([
    `${ages} after 0`,
    `${ages} after 7`,
    `${ages} after 9`,
    `runs ${later.toISOString()}`,
    `queue_history ${later.toISOString()}`,
    `queues ${later.toISOString()}`,
    // Two days before the earlier of the two dates.
    'header_sets 2026-02-27T12:00:00.000Z',
  ]);
});

it.each([
  [
    { olderThan: at },
    [
      `expired ${at.toISOString()} - after 0`,
      `runs ${at.toISOString()}`,
      `queue_history ${at.toISOString()}`,
      `queues ${at.toISOString()}`,
    ],
  ],
  [{ deadOlderThan: at }, [`expired - ${at.toISOString()} after 0`]],
  [{ samples: [{ minutes: 5, before: at }] }, [`samples 5 ${at.getTime() / 1_000}`]],
  [
    {
      memory: [
        { prefix: 'a ', before: at },
        { prefix: 'b ', before: later },
      ],
    },
    [`memory a  a \u{10ffff} ${at.toISOString()}`, `memory b  b \u{10ffff} ${later.toISOString()}`],
  ],
])('with only the limit %j, only data of that kind is deleted', async (limits, expected) => {
  const { sql, deletions, calls } = makeDeletions();

  await prune(sql, deletions, limits);

  expect(calls).toEqual(expected);
});

it('deletion of each kind of data continues as long as its batches are full', async () => {
  const { sql, deletions, calls } = makeDeletions({
    loose: [pruneBatch, pruneBatch, 7],
    rest: [pruneBatch, pruneBatch, pruneBatch - 1],
  });

  const gone = await prune(sql, deletions, {
    olderThan: at,
    deadOlderThan: at,
    samples: [{ minutes: 5, before: at }],
    memory: [{ prefix: 'a ', before: at }],
  });

  expect(gone.runs).toBe(2 * pruneBatch + 7);
  const names = calls.map((call) => call.split(' ')[0]);
  for (const name of ['runs', 'queue_history', 'queues', 'header_sets', 'samples', 'memory'])
    expect(
      names.filter((one) => one === name),
      name,
    ).toHaveLength(3);
});

it('over the size limit, settled deliveries are deleted first, then runs, then dead deliveries, until the store is small enough', async () => {
  const { sql, deletions, calls } = makeDeletions({
    expired: [
      [200, 0, 200],
      [50, 0],
      [0, 200, 300],
      [0, 1, 400],
    ],
    loose: [pruneBatch, 30],
    bytes: [109, 108, 107, 106, 105, 101, 100],
  });

  const gone = await prune(sql, deletions, { maxBytes: 100 });

  expect(gone).toEqual({ deliveries: 451, dead: 201, runs: 4_510 + pruneBatch + 30 });
  expect(calls).toEqual([
    `expired ${everyAge} - after 0`,
    `expired ${everyAge} - after 200`,
    `runs ${everyAge}`,
    `runs ${everyAge}`,
    `expired - ${everyAge} after 0`,
    `expired - ${everyAge} after 300`,
  ]);
});

it('a store exactly at its size limit loses nothing', async () => {
  const { sql, deletions, calls } = makeDeletions({ bytes: [100, 100, 100] });

  await prune(sql, deletions, { maxBytes: 100 });

  expect(calls).toEqual([]);
});
