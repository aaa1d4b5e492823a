import { beforeEach, describe, expect, it } from 'vitest';
import type { Action } from '../../src/actions/action.ts';
import type { Change } from '../../src/actions/change.ts';
import { setLabels } from '../../src/actions/set-labels.ts';
import { budgets } from '../../src/engine/budget/budgets.ts';
import { createBudgetLedger } from '../../src/engine/budget/ledger.ts';
import type { LedgerEntry, WriteHistory } from '../../src/engine/budget/write-history.ts';
import { limitDeferral } from '../../src/engine/limits.ts';
import { makePlan } from '../../src/engine/plan.ts';
import type { Proposal } from '../../src/engine/proposal.ts';
import type { Run } from '../../src/engine/record.ts';
import type { Level, LoadedRule } from '../../src/rules/rule.ts';
import { makeContext } from '../support/make-context.ts';

const startMs = Date.parse('2026-11-20T12:00:00Z');

function wishFor(
  changes: readonly Change[],
  level: Level = 'operator',
  name = 'rule',
  limit?: number,
): Proposal {
  const id = `${level}.yml#${name}`;
  const limits = limit === undefined ? {} : { changes: limit };
  const rule = { id, name, level, limits, mode: 'enforce', steps: [] } as unknown as LoadedRule;
  return { rule, step: '1', action: setLabels as Action, arguments: {}, context: makeContext(), changes };
}

function change(target: string, value: unknown = true, more: Partial<Change> = {}): Change {
  const input = { params: { owner: 'acme', repo: 'demo', index: 1 } };
  const before = !value;
  return { action: 'x', operation: 'x', input, target, value, before, after: value, reason: 'x', ...more };
}

const many = (count: number, more: Partial<Change> = {}): readonly Change[] =>
  Array.from({ length: count }, (_, place) => change(`label:${place}`, true, more));

function entry(
  target: string,
  value: unknown,
  { atMs = startMs, rule = 'rule', by, before = !value }: Partial<EntryOptions> = {},
): LedgerEntry {
  return {
    atMs,
    level: 'operator',
    target: `{"index":1} ${target}`,
    before: JSON.stringify(before),
    after: JSON.stringify(value),
    rules: [`operator.yml#${rule}`],
    by,
  };
}
type EntryOptions = { atMs: number; rule: string; by: number | undefined; before: unknown };

describe('hourly budgets', () => {
  it('reset after an hour, and get back the changes that were not sent', async () => {
    let nowMs = startMs;
    const past = await createBudgetLedger({ now: () => new Date(nowMs) }).edit(1, (past) => past);
    const noted = past.record([entry('a', true), entry('b', true)]);
    expect(past.spent().all).toBe(2);
    past.takeBack(noted, [0]);
    expect(past.spent().all).toBe(1);
    nowMs += 3_600_001;

    expect(past.spent().all).toBe(0);
  });

  it('are counted from the stored runs of the last hour after a restart', async () => {
    const run = (minutesAgo: number): Run =>
      ({
        trigger: { at: new Date(startMs - minutesAgo * 60_000).toISOString() },
        changes: [
          {
            id: 'c1',
            rules: ['operator.yml#rule'],
            target: 'label:a',
            value: true,
            before: false,
            input: { params: { owner: 'old', index: 1 } },
          },
          { id: 'c2', rules: [], target: 'label:b', value: true, before: false, input: null },
        ],
        outcomes: [
          { change: 'c1', status: 'applied' },
          { change: 'c2', status: 'failed' },
        ],
      }) as unknown as Run;
    const pages = [
      { items: [run(1), run(2)], next: 'p2' },
      { items: [run(59), run(61)], next: 'p3' },
    ];
    const asked: (string | undefined)[] = [];
    const ledger = createBudgetLedger({
      now: () => new Date(startMs),
      readRuns: async (_id, before) => {
        asked.push(before);
        return pages[asked.length - 1] ?? { items: [], next: undefined };
      },
    });

    expect(await ledger.edit(7, (past) => past.spent())).toEqual({ all: 3, repository: 3 });
    expect(asked).toEqual([undefined, 'p2']);
  });

  it('do not count the writes of a merge queue after a restart, because the queue has its own budget', async () => {
    const written = { id: '1', rules: [], target: 'status:#1', value: 'pending', before: null, input: null };
    const run = (kind: string): Run =>
      ({
        trigger: { kind, at: new Date(startMs - 60_000).toISOString() },
        changes: [written],
        outcomes: [{ change: '1', status: 'applied' }],
      }) as unknown as Run;
    const ledger = createBudgetLedger({
      now: () => new Date(startMs),
      readRuns: async () => ({ items: [run('merge-queue'), run('pull_request')], next: undefined }),
    });

    expect((await ledger.edit(7, (past) => past.spent())).all).toBe(1);
  });

  it('can be raised by the operator', () => {
    const raised = { ...budgets, delivery: { all: 60, repository: 60 } };

    expect(makePlan([wishFor(many(60))], { budgets: raised }).changes).toHaveLength(60);
  });
});

describe('deletions', () => {
  const removing = (count: number, there: number): readonly Change[] =>
    many(count, { value: null, removes: { from: 'labels', there } });

  it.each([
    [5, 6, 5],
    [6, 6, 0],
    [6, 23, 0],
    [6, 24, 6],
    [25, 100, 25],
    [26, 100, 0],
  ])('of %i out of %i: %i are planned', (count, there, planned) => {
    const { changes, refused } = makePlan([wishFor(removing(count, there))]);

    expect(changes).toHaveLength(planned);
    expect(refused).toHaveLength(count - planned);
    if (planned === 0) expect(refused[0]?.why).toContain(`${count} of ${there} would be deleted`);
  });
});

describe('a value that goes back and forth', () => {
  let nowMs: number;
  let past: WriteHistory;
  beforeEach(async () => {
    nowMs = startMs;
    past = await createBudgetLedger({ now: () => new Date(nowMs) }).edit(1, (given) => given);
  });
  const planned = (value: unknown, { rule = 'rule', ...more }: Partial<Change> & { rule?: string } = {}) =>
    makePlan([wishFor([change('label:x', value, more)], 'operator', rule)], {
      past,
      rules: () => ['operator.yml#adds', 'operator.yml#removes'],
      repeatsFrom: new Date(nowMs),
    });
  /** Writes what a rule wants, half a minute later, and returns whether the plan allowed it. */
  const write = (
    value: unknown,
    { rule = 'rule', before = !value }: { rule?: string; before?: unknown } = {},
  ) => {
    nowMs += 30_000;
    const isLet = planned(value, { rule, before }).changes.length === 1;
    if (isLet) past.record([entry('label:x', value, { atMs: nowMs, rule, before })]);
    return isLet;
  };

  it('is stopped after five returns in ten minutes, only for that target, until those returns are ten minutes old', () => {
    // Another writer removes the label each time.
    for (let turn = 0; turn < 6; turn += 1) expect(write(true), `turn ${turn}`).toBe(true);

    const { refused } = planned(true);
    expect(refused[0]?.why).toContain('label:x went back and forth 5 times in ten minutes: another writer');
    const endsAtMs = startMs + 60_000 + 10 * 60_000;
    expect(refused[0]?.until).toBe(new Date(endsAtMs).toISOString());
    expect(limitDeferral(refused, { repeatsFrom: new Date(nowMs) })).toMatchObject({
      afterMs: endsAtMs - nowMs,
      key: 'operator.yml#rule',
    });
    expect(makePlan([wishFor([change('label:y')])], { past }).changes).toHaveLength(1);
    nowMs = endsAtMs;
    expect(planned(true).changes).toHaveLength(1);
  });

  it('because two rules undo each other is stopped after five returns, and the reason names both rules', () => {
    const turns = Array.from({ length: 12 }, (_, turn) =>
      write(turn % 2 === 0, { rule: turn % 2 === 0 ? 'adds' : 'removes' }),
    );

    expect(turns.filter(Boolean)).toHaveLength(7);
    expect(planned(false, { rule: 'removes' }).refused[0]?.why).toMatch(
      /went back and forth 5 times in ten minutes: operator.yml#removes and operator.yml#adds undo each other/,
    );
  });

  it('does not count as a flip if one rule changes its result because its input changed, however often', () => {
    for (let turn = 0; turn < 40; turn += 1) expect(write(turn % 2 === 0), `turn ${turn}`).toBe(true);
  });

  it('does not count as a flip if the value is new each time', () => {
    for (let turn = 0; turn < 20; turn += 1) expect(write(`${turn}`, { before: 'other' })).toBe(true);
  });

  it('never keeps a gate open: a stricter value is written, and the looser value of another rule is refused', () => {
    const gate = (state: 'success' | 'failure') => {
      nowMs += 10_000;
      const before = state === 'success' ? 'failure' : 'success';
      const rule = state === 'success' ? 'adds' : 'removes';
      const more: Partial<Change> = {
        before,
        ...(state === 'failure' ? { protects: 'tightens' as const } : {}),
      };
      const isLet = planned(state, { rule, ...more }).changes.length === 1;
      if (isLet) past.record([entry('label:x', state, { atMs: nowMs, rule, before })]);
      return isLet;
    };
    let last = '';
    for (let turn = 0; turn < 20; turn += 1) {
      for (const state of ['success', 'failure'] as const) if (last !== state && gate(state)) last = state;
    }

    expect(last).toBe('failure');
    expect(gate('success')).toBe(false);
  });
});

describe('a limit of one run', () => {
  const repeatsFrom = new Date(startMs);

  it('defers the rest by ten minutes if runs are repeated, and refuses it permanently otherwise', () => {
    const { changes, refused } = makePlan([wishFor(many(51))], { repeatsFrom });

    expect([changes.length, refused.length]).toEqual([50, 1]);
    expect(refused[0]).toMatchObject({
      why: 'deferred, over the budget of 50 changes per delivery',
      until: '2026-11-20T12:10:00.000Z',
    });
    expect(limitDeferral(refused, { repeatsFrom })).toMatchObject({ afterMs: 600_000 });
    expect(makePlan([wishFor(many(51))]).refused[0]).toMatchObject({
      why: 'over the budget of 50 changes per delivery',
    });
    expect(limitDeferral(makePlan([wishFor(many(51))]).refused, {})).toBeUndefined();
  });

  it('admits protective changes before all others, wherever they are in the plan, without changing the execution order', () => {
    const gates = [change('status:a', 'failure', { protects: 'tightens' })];
    const { changes } = makePlan([wishFor(many(60)), wishFor(gates, 'operator', 'gate')], { repeatsFrom });

    expect(changes).toHaveLength(50);
    expect(changes.at(-1)?.change.target).toBe('status:a');
  });

  it('that a rule sets itself does not stop changes that make a gate stricter', () => {
    const tightening = many(4, { protects: 'tightens' });

    expect(makePlan([wishFor(many(4), 'operator', 'rule', 2)]).changes).toHaveLength(2);
    expect(makePlan([wishFor(tightening, 'operator', 'rule', 2)]).changes).toHaveLength(4);
  });
});
