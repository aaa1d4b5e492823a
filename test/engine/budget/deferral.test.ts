import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { budgets } from '../../../src/engine/budget/budgets.ts';
import { deferBeyondHour } from '../../../src/engine/budget/deferral.ts';
import { createBudgetLedger, writeOf } from '../../../src/engine/budget/ledger.ts';
import type { WriteHistory } from '../../../src/engine/budget/write-history.ts';
import type { Plan } from '../../../src/engine/proposal.ts';
import { levelOfChange } from '../../../src/engine/proposal.ts';
import { recordFigure } from '../../support/figure.ts';
import { planOf } from '../../support/plan-of.ts';

const startMs = Date.parse('2026-11-20T12:00:00Z');
const hourMs = 3_600_000;
let nowMs = startMs;

async function makePast(): Promise<WriteHistory> {
  nowMs = startMs;
  return createBudgetLedger({ now: () => new Date(nowMs) }).edit(1, (past) => past);
}

/**
 * Plans within the hourly budgets and records the remaining changes as written. Returns the number of allowed changes,
 * and the wait in ms.
 */
function spend(past: WriteHistory, owner: string, plan: Plan, hour = budgets.hour, subject = owner) {
  const { plan: left, deferral } = deferBeyondHour(plan, {
    past,
    hour,
    owner,
    subject,
    isSent: () => true,
    now: new Date(nowMs),
  });
  past.record(
    left.changes.map((planned) => ({
      atMs: nowMs,
      level: levelOfChange(planned),
      ...writeOf(planned),
    })),
  );
  const deferred = left.refused.filter(({ until }) => until !== undefined);
  return { went: left.changes.length, deferred: deferred.length, afterMs: deferral?.afterMs, deferral, left };
}

describe('an hourly budget', () => {
  it.each([
    ['operator', 399, 1, 0],
    ['operator', 400, 0, 1],
    ['repository', 79, 1, 0],
    ['repository', 80, 0, 1],
  ] as const)(
    'of the %s, without its reserved fifth, has room after %i changes for %i, and defers %i',
    async (level, spent, went, deferred) => {
      const past = await makePast();
      spend(past, 'before', level === 'operator' ? planOf(spent) : planOf(0, spent));

      const next = spend(past, 'next', level === 'operator' ? planOf(1) : planOf(0, 1));

      expect([next.went, next.deferred]).toEqual([went, deferred]);
      expect(next.afterMs).toBe(deferred === 0 ? undefined : hourMs);
      if (deferred > 0) expect(next.left.refused[0]?.until).toBe('2026-11-20T13:00:00.000Z');
    },
  );

  it('stops all changes of a run or none, so that no change falsifies the conditions of the others', async () => {
    const past = await makePast();
    spend(past, 'before', planOf(395));

    expect(spend(past, 'next', planOf(10))).toMatchObject({ went: 0, deferred: 10, afterMs: hourMs });
  });

  it('for repository files does not stop operator rules in the same run', async () => {
    const past = await makePast();
    spend(past, 'before', planOf(0, 80));

    expect(spend(past, 'next', planOf(3, 4))).toMatchObject({ went: 3, deferred: 4 });
  });

  it('that is smaller than one run is used up by that run hour after hour', async () => {
    const past = await makePast();
    const hour = { all: 4, repository: 2 };
    const went: number[] = [];
    for (let left = 10; left > 0 && went.length < 10; ) {
      const part = spend(past, 'one', planOf(left), hour);
      went.push(part.went);
      left -= part.went;
      nowMs += part.afterMs ?? 0;
    }

    expect(went).toEqual([4, 4, 2]);
    expect(nowMs - startMs).toBe(2 * hourMs);
  });

  const protective = (target: string): Plan => {
    const { changes } = planOf(1);
    return {
      changes: changes.map((one) => ({ ...one, change: { ...one.change, target, protects: 'tightens' } })),
      refused: [],
    };
  };

  it('reserves a fifth for protective changes, grants one of them a minute for each target, and never exceeds the total', async () => {
    const past = await makePast();
    const hour = { all: 10, repository: 10 };
    spend(past, 'before', planOf(8), hour);
    expect(spend(past, 'ordinary', planOf(1), hour).deferral?.why).toBe(
      'over the budget of 10 changes per hour in one repository, 2 of them reserved for protective changes',
    );

    expect(spend(past, 'a', protective('status:a'), hour).went).toBe(1);
    nowMs += 10_000;
    expect(spend(past, 'b', protective('status:a'), hour)).toMatchObject({ went: 0, afterMs: 50_000 });
    expect(spend(past, 'c', protective('status:b'), hour).went).toBe(1);
    expect(past.spent().all).toBe(10);
    nowMs += 60_000;
    expect(spend(past, 'd', protective('status:c'), hour)).toMatchObject({ went: 0 });
  });

  it('does not hold protective changes behind waiting ordinary changes of the same run or of an earlier one', async () => {
    const past = await makePast();
    const hour = { all: 10, repository: 10 };
    spend(past, 'before', planOf(8), hour);
    for (const owner of ['a', 'b', 'c']) spend(past, owner, planOf(8), hour);
    const { changes } = planOf(3);
    const [first, ...others] = changes.map((one, place) =>
      place === 0
        ? { ...one, change: { ...one.change, target: 'status:gate', protects: 'tightens' as const } }
        : one,
    );
    const mixed = { changes: first ? [...others, first] : [], refused: [] };

    expect(spend(past, 'mixed', mixed, hour)).toMatchObject({ went: 1, deferred: 2 });
  });

  it('is granted to a waiting protective change before ordinary changes that are due with it', async () => {
    const past = await makePast();
    const hour = { all: 1, repository: 1 };
    spend(past, 'before', planOf(1), hour);
    expect(spend(past, 'early', planOf(1), hour).went).toBe(0);
    nowMs += 1_000;
    expect(spend(past, 'gate', protective('status:gate'), hour).went).toBe(0);

    nowMs += hourMs;
    expect(spend(past, 'early', planOf(1), hour).went).toBe(0);
    expect(spend(past, 'new', planOf(1), hour).went).toBe(0);
    expect(spend(past, 'gate', protective('status:gate'), hour).went).toBe(1);
    nowMs += hourMs + 1_000;
    expect(spend(past, 'early', planOf(1), hour).went).toBe(1);
  });

  it('keeps the place in the line for a later run of the same rules about the same subject', async () => {
    const past = await makePast();
    const hour = { all: 1, repository: 1 };
    spend(past, 'before', planOf(1), hour);
    for (const owner of ['first', 'second', 'third']) {
      nowMs += 1_000;
      expect(spend(past, owner, protective('status:gate'), hour, 'pull 1').went).toBe(0);
    }
    expect(spend(past, 'other', protective('status:gate'), hour, 'pull 2').went).toBe(0);

    nowMs = startMs + hourMs;
    expect(spend(past, 'other', protective('status:gate'), hour, 'pull 2').went).toBe(0);
    expect(spend(past, 'third', protective('status:gate'), hour, 'pull 1').went).toBe(1);
    nowMs += hourMs;
    expect(spend(past, 'other', protective('status:gate'), hour, 'pull 2').went).toBe(1);
  });

  it('does not count changes that are only observed', async () => {
    const past = await makePast();
    const options = { past, hour: { all: 1, repository: 1 }, owner: 'a', subject: 'a', now: new Date(nowMs) };

    const { plan, deferral } = deferBeyondHour(planOf(5), { ...options, isSent: () => false });

    expect([plan.changes.length, deferral]).toEqual([5, undefined]);
  });

  it('gives deferred runs a key only if they depend on live state alone, not on the event', async () => {
    const past = await makePast();
    spend(past, 'before', planOf(400));

    expect(spend(past, 'a', planOf(1)).deferral?.key).toBe('operator.yml#rule');
    expect(spend(past, 'b', planOf(1, 0, 'event.changes.title')).deferral).not.toHaveProperty('key');
  });
});

describe('deferred runs', () => {
  it('run in the order in which they were deferred, before new ones, within the budget of every hour', async (context) => {
    let [sequences, changes] = [0, 0];
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({ size: fc.integer({ min: 1, max: 5 }), pauseMs: fc.integer({ min: 0, max: 900_000 }) }),
          {
            minLength: 10,
            maxLength: 60,
          },
        ),
        async (arrivals) => {
          const past = await makePast();
          const hour = { all: 7, repository: 7 };
          const written: number[] = [];
          const done: string[] = [];
          const waiting: { owner: string; size: number; dueMs: number; returns: number }[] = [];
          const attempt = (owner: string, size: number, returns: number): void => {
            const { went, afterMs } = spend(past, owner, planOf(size), hour);
            written.push(...Array.from({ length: went }, () => nowMs));
            if (afterMs === undefined) done.push(owner);
            else waiting.push({ owner, size, dueMs: nowMs + afterMs, returns });
          };
          const runDue = (untilMs: number): void => {
            for (;;) {
              const next = waiting.toSorted((a, b) => a.dueMs - b.dueMs)[0];
              if (next === undefined || next.dueMs > untilMs) return;
              expect(next.returns).toBeLessThan(100);
              waiting.splice(waiting.indexOf(next), 1);
              nowMs = Math.max(nowMs, next.dueMs);
              attempt(next.owner, next.size, next.returns + 1);
            }
          };
          let atMs = startMs;
          for (const [place, { size, pauseMs }] of arrivals.entries()) {
            atMs += pauseMs;
            runDue(atMs);
            nowMs = atMs;
            attempt(String(place), size, 0);
          }
          runDue(Number.POSITIVE_INFINITY);

          expect(done).toEqual(arrivals.map((_, place) => String(place)));
          for (const [place, at] of written.entries()) {
            expect(at - (written[place - hour.all] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(
              hourMs,
            );
          }
          sequences += 1;
          changes += written.length;
        },
      ),
      { numRuns: process.env.LONG ? 2_000 : 100 },
    );
    recordFigure(
      context,
      `${sequences.toLocaleString('en')} random sequences, ${changes.toLocaleString('en')} changes, 0 above the budget of an hour`,
    );
  });

  it('run again exactly once each, however many there are', async () => {
    const past = await makePast();
    for (let run = 0; run < 200; run += 1) expect(spend(past, `now ${run}`, planOf(2)).went).toBe(2);
    const waits = new Map<string, number>();
    for (let run = 0; run < 600; run += 1) {
      const owner = `later ${run}`;
      waits.set(owner, spend(past, owner, planOf(2)).afterMs ?? 0);
    }

    const hours = [...waits.values()].map((ms) => ms / hourMs);
    expect([1, 2, 3].map((hour) => hours.filter((one) => one === hour).length)).toEqual([200, 200, 200]);
    for (const [owner, ms] of waits) {
      nowMs = startMs + ms;
      expect([owner, spend(past, owner, planOf(2)).went]).toEqual([owner, 2]);
    }
  });

  it('that do not use their reserved room lose it after a quarter of an hour', async () => {
    const past = await makePast();
    const hour = { all: 2, repository: 2 };
    spend(past, 'a', planOf(2), hour);
    expect(spend(past, 'gone', planOf(2), hour).afterMs).toBe(hourMs);

    nowMs = startMs + hourMs + 840_000;
    expect(spend(past, 'b', planOf(2), hour).went).toBe(0);
    nowMs = startMs + hourMs + 960_000;
    expect(spend(past, 'b', planOf(2), hour).went).toBe(2);
  });

  it('wait no longer than an hour if the clock was set back by a day', async () => {
    const past = await makePast();
    spend(past, 'before', planOf(400));
    nowMs -= 86_400_000;

    expect(spend(past, 'next', planOf(1)).afterMs).toBe(hourMs);
  });
});
