import { describe, expect, it } from 'vitest';
import type { Action } from '../../src/actions/action.ts';
import type { Change } from '../../src/actions/change.ts';
import { setLabels } from '../../src/actions/set-labels.ts';
import { budgets } from '../../src/engine/budget/budgets.ts';
import { createBudgetLedger } from '../../src/engine/budget/ledger.ts';
import type { LedgerEntry } from '../../src/engine/budget/write-history.ts';
import { makePlan } from '../../src/engine/plan.ts';
import type { Proposal } from '../../src/engine/proposal.ts';
import type { Run } from '../../src/engine/record.ts';
import type { Level, LoadedRule } from '../../src/rules/rule.ts';
import { makeContext } from '../support/make-context.ts';

const startMs = Date.parse('2026-11-20T12:00:00Z');

function wishFor(changes: readonly Change[], level: Level = 'operator'): Proposal {
  const id = `${level}.yml#rule`;
  const rule = { id, name: 'rule', level, limits: {} } as LoadedRule;
  return { rule, step: '1', action: setLabels as Action, arguments: {}, context: makeContext(), changes };
}

function change(target: string, value: unknown = true, more: Partial<Change> = {}): Change {
  const input = { params: { owner: 'acme', repo: 'demo', index: 1 } };
  const before = !value;
  return { action: 'x', operation: 'x', input, target, value, before, after: value, reason: 'x', ...more };
}

const many = (count: number, more: Partial<Change> = {}): readonly Change[] =>
  Array.from({ length: count }, (_, place) => change(`label:${place}`, true, more));

function entry(target: string, value: unknown, atMs = startMs, level: Level = 'operator'): LedgerEntry {
  return {
    atMs,
    level,
    target: `{"index":1} ${target}`,
    value: JSON.stringify(value),
    before: JSON.stringify(!value),
  };
}

describe('budgets an hour', () => {
  it('begin anew after an hour, and give back what was not sent', async () => {
    let nowMs = startMs;
    const past = await createBudgetLedger({ now: () => new Date(nowMs) }).edit(1, (past) => past);
    const noted = past.record([entry('a', true), entry('b', true)]);
    expect(past.spent().all).toBe(2);
    past.takeBack(noted, [0]);
    expect(past.spent().all).toBe(1);
    nowMs += 3_600_001;

    expect(past.spent().all).toBe(0);
  });

  it('are counted from stored runs after a restart, those of the last hour alone', async () => {
    const run = (minutesAgo: number): Run =>
      ({
        trigger: { at: new Date(startMs - minutesAgo * 60_000).toISOString() },
        changes: [
          {
            id: 'c1',
            target: 'label:a',
            value: true,
            before: false,
            input: { params: { owner: 'old', index: 1 } },
          },
          { id: 'c2', target: 'label:b', value: true, before: false, input: null },
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

  it('count no write of a merge queue after a restart: it has a budget of its own', async () => {
    const written = { id: '1', target: 'status:#1', value: 'pending', before: null, input: null };
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
  it('is stopped after five returns in ten minutes, on that target alone', async () => {
    let nowMs = startMs;
    const past = await createBudgetLedger({ now: () => new Date(nowMs) }).edit(1, (past) => past);
    const planned = (value: boolean) => makePlan([wishFor([change('label:x', value)])], { past });
    for (let turn = 0; turn < 6; turn += 1) {
      nowMs += 30_000;
      const value = turn % 2 === 0;
      expect(planned(value).changes, `turn ${turn}`).toHaveLength(1);
      past.record([entry('label:x', value, nowMs)]);
    }

    expect(planned(true).refused[0]?.why).toContain('label:x went back and forth 5 times');
    expect(makePlan([wishFor([change('label:y')])], { past }).changes).toHaveLength(1);
    nowMs += 10 * 60_000;
    expect(planned(true).changes).toHaveLength(1);
  });

  it('is no flip where the value is a new one each time', async () => {
    const past = await createBudgetLedger({ now: () => new Date(startMs) }).edit(1, (past) => past);
    for (let turn = 0; turn < 20; turn += 1) past.record([{ ...entry('text', true), value: `"${turn}"` }]);

    expect(past.flips('{"index":1} text', 'other')).toEqual({ count: 0, returns: false });
  });
});
