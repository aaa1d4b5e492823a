import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Run } from '../../../src/engine/record.ts';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { createWriteBudget } from '../../../src/work/merge-queue/write-budget.ts';
import { makeClock } from '../../support/make-clock.ts';
import { makeStore } from '../../support/make-store.ts';
import { makeSchema } from '../../support/postgres.ts';

let made: Awaited<ReturnType<typeof makeStore>>;
beforeEach(async () => {
  made = await makeStore();
});
afterEach(() => made.close());

const startMs = Date.parse('2026-11-20T12:00:00Z');
const run = (id: number, kind: string, atMs: number): Run => ({
  schema: 1,
  id: `run-${id}`,
  mode: 'enforce',
  trigger: { door: 'cron', kind, activity: '', at: new Date(atMs).toISOString() },
  rules: [],
  changes: [],
  refused: [],
  outcomes: [],
  requests: 1,
  ms: 1,
});

it('after a restart, the writes of the last hour are counted from the stored runs, but only from queue runs of the repository', async () => {
  let nowMs = startMs;
  const clock = makeClock({ now: () => new Date(nowMs), monotonicMs: () => nowMs - startMs + 50 });
  const hourAgo = startMs - 3_600_000;
  const stored = [
    ...Array.from({ length: 10 }, (_, at) => run(at, 'merge-queue', hourAgo - 10 + at)),
    ...Array.from({ length: 1_999 }, (_, at) => run(100 + at, 'merge-queue', hourAgo + 60_000 + at)),
    ...Array.from({ length: 700 }, (_, at) => run(5_000 + at, 'pull_request', startMs - 1_000)),
  ];
  await made.store.appendRuns(stored, { repositoryId: 7 });
  await made.store.appendRuns([run(9_000, 'merge-queue', startMs)], { repositoryId: 8 });
  const budget = createWriteBudget({ store: made.store, clock });

  expect(await budget.waitMs(7)).toBe(0);
  await budget.note(7);
  expect(await budget.waitMs(7)).toBe(60_000);
  expect(await budget.waitMs(8)).toBe(0);

  nowMs += 60_001;
  expect(await budget.waitMs(7)).toBe(0);
});

it('the stored runs are read again once a repository has no writes in the last hour, and not before', async () => {
  let asked = 0;
  let nowMs = startMs;
  const store = {
    ...made.store,
    async listRuns() {
      asked += 1;
      return { items: [], next: undefined };
    },
  };
  const budget = createWriteBudget({
    store,
    clock: makeClock({ now: () => new Date(nowMs), monotonicMs: () => nowMs }),
  });

  expect(await budget.waitMs(7)).toBe(0);
  await budget.note(7);
  for (let count = 0; count < 5; count += 1) expect(await budget.waitMs(7)).toBe(0);
  expect(asked).toBe(1);
  nowMs += 3_600_000;
  await budget.waitMs(7);
  await budget.waitMs(7);
  expect(asked).toBe(2);
});

it('processes that share a database share one budget, and count stored runs once', async () => {
  const nowMs = startMs;
  const clock = makeClock({ now: () => new Date(nowMs), monotonicMs: () => Math.random() });
  const url = await makeSchema();
  const stores = await Promise.all(
    [1, 2].map(() => openPostgresStore({ url, role: 'reader', isVolatile: true })),
  );
  try {
    const stored = Array.from({ length: 1_990 }, (_, at) => run(at, 'merge-queue', startMs - 60_000));
    await stores[0]?.appendRuns(stored, { repositoryId: 7 });
    const budgets = stores.map((store) => createWriteBudget({ store, clock }));

    await Promise.all(Array.from({ length: 9 }, (_, at) => budgets[at % 2]?.note(7)));
    expect(await Promise.all(budgets.map((budget) => budget.waitMs(7)))).toEqual([0, 0]);
    await budgets[1]?.note(7);
    expect(await Promise.all(budgets.map((budget) => budget.waitMs(7)))).toEqual([3_540_000, 3_540_000]);
  } finally {
    for (const store of stores) await store.close();
  }
});
