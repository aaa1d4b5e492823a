import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { createBudgetLedger } from '../../../src/engine/budget/ledger.ts';
import { reserve } from '../../../src/engine/budget/reserve.ts';
import type { BudgetLedger, WriteHistory } from '../../../src/engine/budget/write-history.ts';
import type { Run } from '../../../src/engine/record.ts';
import type { RunInput } from '../../../src/engine/run-context.ts';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { planOf } from '../../support/plan-of.ts';
import { makeSchema } from '../../support/postgres.ts';

const startMs = Date.parse('2026-11-20T12:00:00Z');
const hourMs = 3_600_000;
let nowMs = startMs;
const now = (): Date => new Date(nowMs);
let stores: Store[] = [];
afterEach(async () => {
  for (const store of stores) await store.close();
  stores = [];
});

/** Opens the ledgers of this many processes on one database. */
async function openLedgers(count: number, url: string): Promise<readonly BudgetLedger[]> {
  nowMs = startMs;
  const opened = await Promise.all(
    Array.from({ length: count }, () => openPostgresStore({ url, role: 'reader', isVolatile: true })),
  );
  stores.push(...opened);
  return opened.map((store) =>
    createBudgetLedger({
      now,
      store,
      readRuns: (repositoryId, before) => store.listRuns({ repositoryId, ...(before && { before }) }),
    }),
  );
}

/**
 * Reserves room for a delivery with this many changes. `hour` is the number of changes per hour that are not
 * protective.
 */
function ask(ledger: BudgetLedger | undefined, delivery: string, changes: number, hour: number) {
  const whole = { all: Math.floor(hour * 1.25), repository: Math.floor(hour * 1.25) };
  const input = {
    id: delivery,
    mode: 'enforce',
    trigger: { delivery },
    facts: { subject: { kind: 'push', ref: delivery } },
    client: createClient({ url: 'http://127.0.0.1:9' }),
    budgets: { delivery: { all: 50, repository: 20 }, hour: whole },
    now: now(),
  } as unknown as RunInput;
  if (ledger === undefined) throw new Error('no such process');
  return reserve(() => ({ plan: planOf(changes) }), { ledger, place: 7 }, input);
}

const spentOf = (past: WriteHistory): number => past.spent().all;

describe('hourly budgets of processes that share a database', () => {
  it('are granted once, whichever processes ask at the same time, and later in the order of the deferred runs', async () => {
    const ledgers = await openLedgers(4, await makeSchema());
    const names = Array.from({ length: 400 }, (_, place) => `delivery ${place}`);

    const answers = await Promise.all(
      names.map(async (name, place) => ({ name, ...(await ask(ledgers[place % 4], name, 1, 50)) })),
    );
    expect(answers.filter(({ deferral }) => deferral === undefined)).toHaveLength(50);
    const deferred = answers.filter(({ deferral }) => deferral !== undefined);
    const hours = deferred.map(({ deferral }) => (deferral?.afterMs ?? 0) / hourMs);
    expect([1, 2, 3, 4, 5, 6, 7].map((hour) => hours.filter((one) => one === hour).length)).toEqual(
      Array(7).fill(50),
    );

    // The next hour belongs to the first fifty waiting runs, whichever process they return to, and not to new ones.
    nowMs = startMs + hourMs;
    const first = deferred.filter(({ deferral }) => deferral?.afterMs === hourMs);
    const late = await Promise.all(
      Array.from({ length: 8 }, (_, at) => ask(ledgers[at % 4], `new ${at}`, 1, 50)),
    );
    const back = await Promise.all(first.map(({ name }, at) => ask(ledgers[(at + 1) % 4], name, 1, 50)));
    expect(back.filter(({ deferral }) => deferral === undefined)).toHaveLength(50);
    expect(late.map(({ deferral }) => deferral?.afterMs)).toEqual(Array(8).fill(7 * hourMs));
  });

  it('are given back in all processes for changes that were not sent', async () => {
    const [one, two] = await openLedgers(2, await makeSchema());
    const asked = await ask(one, 'a', 10, 10);
    expect((await ask(two, 'b', 1, 10)).deferral).toMatchObject({ afterMs: hourMs });

    await asked.release(new Set(asked.made.plan.changes.slice(0, 4).map(({ id }) => id)));

    expect(await two?.edit(7, spentOf)).toBe(4);
    expect((await ask(two, 'b', 6, 10)).deferral).toBeUndefined();
  });

  it('count once the writes of stored runs from before the ledger existed', async () => {
    const [one, two] = await openLedgers(2, await makeSchema());
    const written = {
      id: '1',
      rules: ['a.yml#a'],
      target: 'label:x',
      value: true,
      before: false,
      input: null,
    };
    const trigger = {
      door: 'webhook',
      kind: 'issues',
      activity: '',
      at: new Date(startMs - 60_000).toISOString(),
    };
    const run = { id: 'r', trigger, changes: [written], outcomes: [{ change: '1', status: 'applied' }] };
    const whole = { schema: 1, mode: 'enforce', rules: [], refused: [], requests: 1, ms: 1, ...run };
    await stores[0]?.appendRuns([whole as unknown as Run], { repositoryId: 7 });

    expect(await Promise.all([one?.edit(7, spentOf), two?.edit(7, spentOf)])).toEqual([1, 1]);
    nowMs += hourMs;
    expect(await two?.edit(7, spentOf)).toBe(0);
  });

  it('are deleted an hour after their last entry stops counting', async () => {
    const [ledger] = await openLedgers(1, await makeSchema());
    await ask(ledger, 'a', 2, 1);
    const prune = (afterMs: number) =>
      stores[0]?.prune({ memory: [{ prefix: 'writes ', before: new Date(startMs + afterMs) }] });

    // The second change waits for the next hour, and its room is reserved for another quarter of an hour.
    await prune(hourMs + 900_000);
    expect(await stores[0]?.recall('writes 7')).toBeDefined();
    await prune(hourMs + 900_001);
    expect(await stores[0]?.recall('writes 7')).toBeUndefined();
  });

  it('fail if the database refuses a write; a plan that cannot be made fails only its own run', async () => {
    const [ledger] = await openLedgers(1, await makeSchema());
    const broken = (): never => {
      throw new Error('no plan');
    };
    const both = [ledger?.edit(7, broken), ledger?.edit(7, (past) => past.record([entry('x', 1)]))] as const;
    await expect(both[0]).rejects.toThrow('no plan');
    await both[1];
    expect(await ledger?.edit(7, spentOf)).toBe(1);

    await stores.pop()?.close();
    await expect(ledger?.edit(7, spentOf)).rejects.toMatchObject({ code: 'store-unwritable' });
  });
});

function entry(target: string, value: unknown, rule = 'rule') {
  const texts = { target, before: JSON.stringify(!value), after: JSON.stringify(value) };
  return { atMs: nowMs, level: 'operator', rules: [rule], ...texts } as const;
}

it('a value that goes back and forth is stopped, whichever processes set it', async () => {
  const ledgers = await openLedgers(3, await makeSchema());
  const flipsOf = (target: string) => (past: WriteHistory) => past.flips(entry(target, true, 'adds'));
  for (let turn = 0; turn < 7; turn += 1) {
    nowMs += 30_000;
    await ledgers[turn % 3]?.edit(7, (past) =>
      past.record([entry('label:x', turn % 2 === 0, turn % 2 === 0 ? 'adds' : 'removes')]),
    );
  }

  expect(await ledgers[2]?.edit(7, flipsOf('label:x'))).toMatchObject({ count: 5, isFlip: true });
  expect(await ledgers[2]?.edit(7, (past) => past.flips(entry('label:x', false, 'adds')))).toMatchObject({
    count: 5,
    isFlip: false,
  });
  nowMs += 30_000;
  await ledgers[0]?.edit(7, (past) => past.record([entry('label:x', false, 'removes')]));
  expect(await ledgers[1]?.edit(7, flipsOf('label:x'))).toMatchObject({ count: 6, isFlip: true });
  expect(await ledgers[0]?.edit(7, flipsOf('label:y'))).toMatchObject({ count: 0, isFlip: false });
});
