import { beforeEach, describe, expect, it } from 'vitest';
import { deferralKey } from '../../../src/engine/budget/deferral.ts';
import { createBudgetLedger, type LedgerStore, type ReadRuns } from '../../../src/engine/budget/ledger.ts';
import { reserve } from '../../../src/engine/budget/reserve.ts';
import type { BudgetLedger, LedgerEntry, WriteHistory } from '../../../src/engine/budget/write-history.ts';
import type { Plan } from '../../../src/engine/proposal.ts';
import type { Run } from '../../../src/engine/record.ts';
import type { RunInput } from '../../../src/engine/run-context.ts';
import { ReeveError } from '../../../src/platform/errors.ts';
import { planOf } from '../../support/plan-of.ts';
import { makeRecordingClient } from '../../support/recording-client.ts';

const startMs = Date.parse('2026-11-20T12:00:00Z');
const hourMs = 3_600_000;
let nowMs: number;
let stored: Map<string, string>;
let isRefusing: boolean;
beforeEach(() => {
  nowMs = startMs;
  stored = new Map();
  isRefusing = false;
});

/** Shared store that runs each edit twice, as if another process had written in between. */
const store: LedgerStore = {
  isShared: true,
  async revise(key, edit) {
    if (isRefusing) throw new Error('the store refuses');
    const read = (): unknown => JSON.parse(stored.get(key) ?? 'null') ?? undefined;
    await Promise.resolve();
    edit(read());
    const value = edit(read());
    if (value !== undefined) stored.set(key, JSON.stringify(value));
    return value;
  },
};

type Asked = { readonly hour: { readonly all: number; readonly repository: number }; readonly item?: string };

/** Reserves room for the changes of a delivery. */
function ask(
  ledger: BudgetLedger,
  delivery: string,
  plan: Plan,
  { hour, item, ...more }: Asked & Omit<Partial<RunInput>, 'item'>,
) {
  const input = {
    id: delivery,
    mode: 'enforce',
    trigger: { delivery, ...(item === undefined ? {} : { item }) },
    client: makeRecordingClient(),
    facts: { subject: { kind: 'push', ref: `${delivery} ${item ?? ''}` } },
    budgets: { delivery: { all: 50, repository: 20 }, hour },
    now: new Date(nowMs),
    ...more,
  } as unknown as RunInput;
  return reserve(() => ({ plan }), { ledger, place: 7 }, input);
}

/** The first change of `planOf`, without `before` and `after`. */
const written = { target: '{"index":1} label:operator 0', rules: ['operator.yml#rule'] };
const spentOf = (past: WriteHistory) => past.spent();
const entry = (target: string, value: unknown, level: LedgerEntry['level'] = 'operator'): LedgerEntry => ({
  atMs: nowMs,
  level,
  target,
  before: 'null',
  after: JSON.stringify(value),
  rules: ['operator.yml#rule'],
});

/** Returns a stored run that set one label the given number of minutes ago. */
const runOf = (minutesAgo: number, value: unknown, before: unknown = null): Run =>
  ({
    id: `run ${minutesAgo}`,
    trigger: { at: new Date(startMs - minutesAgo * 60_000).toISOString() },
    changes: [
      {
        id: 'c1',
        rules: ['operator.yml#rule'],
        target: 'label:x',
        before,
        after: value,
        input: { params: { owner: 'acme', index: 1 } },
      },
    ],
    outcomes: [{ change: 'c1', status: 'applied' }],
  }) as unknown as Run;

describe.each(['of one process', 'that processes share'])('a ledger %s', (kind) => {
  const open = (readRuns?: ReadRuns): BudgetLedger =>
    createBudgetLedger({
      now: () => new Date(nowMs),
      ...(kind === 'of one process' ? {} : { store }),
      ...(readRuns === undefined ? {} : { readRuns }),
    });

  it('grants the budget of an hour once, and budgets of later hours in the order of the waiting deliveries', async () => {
    const ledger = open();
    const hour = { all: 2, repository: 2 };
    const answers = await Promise.all(['a', 'b', 'c'].map((name) => ask(ledger, name, planOf(2), { hour })));

    expect(answers.map(({ deferral }) => deferral?.afterMs)).toEqual([undefined, hourMs, 2 * hourMs]);
    nowMs += hourMs;
    expect((await ask(ledger, 'new', planOf(1), { hour })).deferral?.afterMs).toBe(2 * hourMs);
    expect((await ask(ledger, 'b', planOf(2), { hour })).deferral).toBeUndefined();
  });

  it('lets each item of a delivery wait separately, and reserves room for each item once', async () => {
    const ledger = open();
    const hour = { all: 2, repository: 2 };
    await ask(ledger, 'before', planOf(2), { hour });
    for (const item of ['x', 'y', 'x']) await ask(ledger, 'd', planOf(2), { hour, item });

    expect((await ask(ledger, 'e', planOf(2), { hour })).deferral?.afterMs).toBe(3 * hourMs);
  });

  it('counts only changes that are sent, and gives back those that were not applied', async () => {
    const ledger = open();
    const hour = { all: 9, repository: 9 };
    await ask(ledger, 'planned', planOf(2), { hour, mode: 'plan' });
    const { made, release } = await ask(ledger, 'a', planOf(2, 1), { hour });
    const other = await ask(ledger, 'b', planOf(2), { hour });
    expect(await ledger.edit(7, spentOf)).toEqual({ all: 5, repository: 1 });

    await release(new Set(made.plan.changes.slice(1).map(({ id }) => id)));
    expect(await ledger.edit(7, spentOf)).toEqual({ all: 4, repository: 1 });
    await other.release(new Set(other.made.plan.changes.map(({ id }) => id)));
    expect(await ledger.edit(7, spentOf)).toEqual({ all: 4, repository: 1 });
    expect(await ledger.edit(8, spentOf)).toEqual({ all: 0, repository: 0 });
  });

  it('counts the stored runs of a repository once, the oldest first', async () => {
    const asked: unknown[] = [];
    const ledger = open(async (id, before) => {
      asked.push([id, before]);
      return { items: [runOf(10, true), runOf(50, true)], next: undefined };
    });
    const hour = { all: 2, repository: 2 };

    expect((await ask(ledger, 'a', planOf(1), { hour })).deferral?.afterMs).toBe(600_000);
    expect(await ledger.edit(7, spentOf)).toEqual({ all: 2, repository: 2 });
    expect(await ledger.edit('organization acme', spentOf)).toEqual({ all: 0, repository: 0 });
    expect(asked).toEqual([[7, undefined]]);
  });

  it('finds in the stored runs which value went back and forth', async () => {
    // Another writer reverted it each time.
    const items = Array.from({ length: 7 }, (_, minute) => runOf(minute, true, false));
    const ledger = open(async () => ({ items, next: undefined }));
    const flipsTo = (before: unknown, after: unknown, rule = 'operator.yml#rule') =>
      ledger.edit(7, (past) => {
        const write = { before: JSON.stringify(before), after: JSON.stringify(after), rules: [rule] };
        const { count, isFlip } = past.flips({ target: '{"index":1} label:x', ...write });
        return { count, isFlip };
      });

    expect(await flipsTo(false, true)).toEqual({ count: 6, isFlip: true });
    expect(await flipsTo(false, 'new')).toEqual({ count: 6, isFlip: false });
    expect(await flipsTo(false, true, 'operator.yml#other')).toEqual({ count: 6, isFlip: false });
    expect(await flipsTo(true, false)).toEqual({ count: 6, isFlip: false });
  });

  it('compares the values that changes decide, also after a write of this process', async () => {
    const ledger = open();
    const hour = { all: 9, repository: 9 };
    await ask(ledger, 'a', planOf(1), { hour });
    const flipsTo = (after: string) =>
      ledger.edit(7, (past) => past.flips({ ...written, before: 'false', after }).isFlip);

    expect([await flipsTo('true'), await flipsTo('"other"')]).toEqual([true, false]);
  });

  it('reads at most twenty pages of runs', async () => {
    let pages = 0;
    const ledger = open(async () => {
      pages += 1;
      return { items: [runOf(1, true)], next: `page ${pages}` };
    });

    expect(await ledger.edit(7, spentOf)).toEqual({ all: 20, repository: 20 });
    expect(pages).toBe(20);
  });

  it('counts again after the stored runs could not be read', async () => {
    let pages = 0;
    const ledger = open(async () => {
      pages += 1;
      if (pages === 1) throw new Error('not now');
      return { items: [runOf(1, true)], next: undefined };
    });

    await expect(ledger.edit(7, spentOf)).rejects.toThrow('not now');
    // The ledger processes the rejection only after it has reported it.
    await new Promise(setImmediate);
    expect(await ledger.edit(7, spentOf)).toEqual({ all: 1, repository: 1 });
  });

  it('fails only for the run whose plan cannot be made', async () => {
    const ledger = open();
    const broken = (past: WriteHistory): never => {
      past.record([entry('a', 1)]);
      throw new Error('no plan');
    };
    const first = ledger.edit(7, (past) => past.record([entry('a', 1)]));
    const both = [kind === 'of one process' ? Promise.reject(new Error('no plan')) : ledger.edit(7, broken)];
    await expect(both[0]).rejects.toThrow('no plan');
    await first;

    expect(await ledger.edit(7, spentOf)).toEqual({ all: 1, repository: 0 });
  });
});

describe('a ledger that processes share', () => {
  const open = (): BudgetLedger => createBudgetLedger({ now: () => new Date(nowMs), store });

  it('has the same state in each process, with levels, digests and reservations', async () => {
    const [one, two] = [open(), open()];
    const hour = { all: 3, repository: 1 };
    await ask(one, 'a', planOf(0, 1), { hour });
    nowMs += 1_000;
    await ask(one, 'b', planOf(2), { hour });
    await ask(one, 'c', planOf(0, 2), { hour });

    expect(await two.edit(7, spentOf)).toEqual({ all: 3, repository: 1 });
    expect(
      await two.edit(7, (past) => past.flips({ ...written, before: 'false', after: 'true' }).isFlip),
    ).toBe(true);
    expect((await ask(two, 'd', planOf(1), { hour })).deferral?.afterMs).toBe(
      (await ask(open(), 'd', planOf(1), { hour })).deferral?.afterMs,
    );
    const kept = JSON.parse(stored.get('writes 7') ?? '');
    expect(kept.writes.map((group: readonly unknown[]) => group.length)).toEqual([2, 3]);
    expect(Date.parse(kept.at)).toBeGreaterThan(nowMs + 900_000);
  });

  it('keeps writes for an hour, and reservations for a quarter of an hour longer', async () => {
    const ledger = open();
    const hour = { all: 1, repository: 1 };
    await ask(ledger, 'a', planOf(1), { hour });
    expect(JSON.parse(stored.get('writes 7') ?? '')).toMatchObject({ at: new Date(startMs).toISOString() });
    await ask(ledger, 'b', planOf(1), { hour });
    const state = () => JSON.parse(stored.get('writes 7') ?? '');
    expect(state().at).toBe(new Date(startMs + hourMs + 900_000).toISOString());
    expect([state().writes.length, state().reserved.length]).toEqual([1, 1]);

    nowMs += hourMs + 900_000;
    await ask(ledger, 'c', planOf(1), { hour });
    expect([state().writes.length, state().reserved.length]).toEqual([1, 0]);
    const before = stored.get('writes 7');
    await ledger.edit(7, spentOf);
    expect(stored.get('writes 7')).toBe(before);
  });

  it('fails if the store refuses a write, and counts again afterwards', async () => {
    const ledger = open();
    const { release } = await ask(ledger, 'a', planOf(1), { hour: { all: 2, repository: 2 } });
    isRefusing = true;
    await expect(ledger.edit(7, spentOf)).rejects.toThrow('the store refuses');
    // Room that cannot be given back stays counted for an hour; the run still ends normally.
    await release(new Set());
    isRefusing = false;
    expect(await ledger.edit(7, spentOf)).toEqual({ all: 1, repository: 0 });
  });
});

describe('the room of an hour', () => {
  let past: WriteHistory;
  beforeEach(async () => {
    past = await createBudgetLedger({ now: () => new Date(nowMs) }).edit(7, (given) => given);
  });
  const write = (count: number, level: LedgerEntry['level']): string =>
    past.record(Array.from({ length: count }, (_, place) => entry(`${place}`, true, level)));
  const keep = (owner: string, all: number, repository: number, hours: number): void =>
    past.reserve({ owner }, { all, repository }, hours * hourMs);
  const wait = (owner: string, all: number, repository: number, hour: { all: number; repository: number }) =>
    past.waitMs({ owner }, { all, repository }, hour) / hourMs;

  it('for repository files excludes changes already written by such files, within the room of all rules', () => {
    write(5, 'operator');
    write(1, 'repository');

    expect(wait('x', 1, 1, { all: 100, repository: 2 })).toBe(0);
    expect(wait('x', 2, 2, { all: 100, repository: 2 })).toBe(1);
    expect(wait('x', 1, 1, { all: 6, repository: 2 })).toBe(1);
    expect(wait('x', 1, 0, { all: 7, repository: 0 })).toBe(0);
  });

  it('is reserved for waiting runs in the order of their time, and once for each run', () => {
    const hour = { all: 2, repository: 1 };
    keep('late', 2, 0, 2);
    keep('soon', 2, 0, 1);
    expect([wait('soon', 2, 0, hour), wait('late', 2, 0, hour), wait('new', 2, 0, hour)]).toEqual([0, 2, 3]);

    keep('late', 2, 0, 1);
    past.release({ owner: 'soon' });
    past.release({ owner: 'unknown' });
    expect([wait('late', 2, 0, hour), wait('new', 2, 0, hour)]).toEqual([0, 2]);
    past.release({ owner: 'late' });
    expect(wait('new', 2, 0, hour)).toBe(0);
    keep('file', 1, 1, 1);
    expect([wait('other', 1, 1, hour), wait('other', 1, 0, hour)]).toEqual([2, 0]);
  });

  it('is not taken by runs that wait longer than an hour', () => {
    write(1, 'repository');
    for (let hours = 1; hours <= 12; hours += 1) keep(`file ${hours}`, 1, 1, hours);

    expect(wait('new', 1, 0, { all: 10, repository: 1 })).toBe(0);
    expect(wait('new', 9, 0, { all: 10, repository: 1 })).toBe(12);
  });

  it('comes back after an hour, even if the clock was set back, and at once for changes that were not sent', () => {
    const first = write(2, 'operator');
    write(2, 'repository');
    past.takeBack(first, [0]);
    expect(past.spent()).toEqual({ all: 3, repository: 2 });
    nowMs -= 24 * hourMs;
    expect(past.spent()).toEqual({ all: 3, repository: 2 });
    nowMs += hourMs - 1;
    write(1, 'operator');
    expect(past.spent()).toEqual({ all: 4, repository: 2 });
    nowMs += 1;
    expect(past.spent()).toEqual({ all: 1, repository: 0 });
  });
});

describe('changes over the budget of an hour', () => {
  const open = (): BudgetLedger => createBudgetLedger({ now: () => new Date(nowMs) });
  const ids = ({ changes }: Plan) => changes.length;

  it("from repository files are sent as far as the operator's changes leave room", async () => {
    const ledger = open();
    const hour = { all: 12, repository: 6 };
    const { made, deferral } = await ask(ledger, 'a', planOf(8, 5), { hour });

    expect([ids(made.plan), made.plan.refused.length]).toEqual([10, 3]);
    expect(deferral?.afterMs).toBe(hourMs);
    expect(deferral?.why).toMatch(/12 in all and 6 for rules of repositories/);
    expect(made.plan.refused[0]?.why).toBe(`deferred, ${deferral?.why}`);
    // Room is reserved for the three changes of files.
    expect((await ask(ledger, 'b', planOf(0, 3), { hour })).deferral?.afterMs).toBe(2 * hourMs);
  });

  it('from repository files wait if those of the operator do', async () => {
    const ledger = open();
    const hour = { all: 12, repository: 6 };
    await ask(ledger, 'before', planOf(10), { hour });
    const { made, deferral } = await ask(ledger, 'a', planOf(1, 1), { hour });

    expect(ids(made.plan)).toBe(0);
    expect(deferral?.why).toBe(
      'over the budget of 12 changes per hour in one repository, 2 of them reserved for protective changes',
    );
    const files = await ask(ledger, 'b', planOf(0, 1), { hour });
    expect(files.deferral?.why).toMatch(/6 for rules of repositories/);
  });

  it('caused by one account without write access are limited to its share, and delay no other account', async () => {
    const ledger = open();
    const hour = { all: 50, repository: 50 };
    let asked = 0;
    let issues = 0;
    const caused = (id: number, permission: string) => ({
      hour,
      event: { sender: { id, login: `user-${id}` } } as RunInput['event'],
      facts: {
        subject: { kind: 'issue', index: ++issues },
        ask: async () => {
          asked += 1;
          return permission;
        },
      } as unknown as RunInput['facts'],
    });
    const waits: (number | undefined)[] = [];
    for (let run = 0; run < 12; run += 1) {
      const { deferral } = await ask(ledger, `stranger ${run}`, planOf(1), caused(2, 'read'));
      waits.push(deferral && deferral.afterMs / hourMs);
    }

    // A share is a tenth of the 40 changes that are not reserved.
    expect(waits).toEqual([...Array(4).fill(undefined), ...Array(4).fill(1), ...Array(4).fill(2)]);
    expect(asked).toBe(8);
    expect((await ask(ledger, 'other stranger', planOf(1), caused(3, 'read'))).deferral).toBeUndefined();
    expect((await ask(ledger, 'sweep', planOf(10), { hour })).deferral).toBeUndefined();
    expect((await ask(ledger, 'writer', planOf(20), caused(4, 'write'))).deferral).toBeUndefined();
    const { deferral } = await ask(ledger, 'stranger again', planOf(1), caused(2, 'read'));
    expect(deferral?.why).toBe(
      'over the budget of 4 changes per hour in one repository that one account without write access causes',
    );
    nowMs += hourMs;
    expect((await ask(ledger, 'stranger 4', planOf(1), caused(2, 'read'))).deferral).toBeUndefined();
  });

  it('caused by a sender whose permission the forge does not reveal count like those of an account without write access', async () => {
    const ledger = open();
    const facts = {
      subject: { kind: 'issue' },
      ask: async () => {
        throw new ReeveError('forge-forbidden', 'no');
      },
    } as unknown as RunInput['facts'];
    const event = { sender: { id: 2, login: 'user' } } as RunInput['event'];
    const hour = { all: 50, repository: 50 };

    expect((await ask(ledger, 'a', planOf(4), { hour, facts, event })).deferral).toBeUndefined();
    expect((await ask(ledger, 'b', planOf(1), { hour, facts, event })).deferral?.afterMs).toBe(hourMs);
  });

  it('have a key made of all their rules, in any order, unless one of the rules needs its event', () => {
    const { changes } = planOf(1, 1);
    const key = 'operator.yml#rule\nrepository.yml#rule';
    expect(deferralKey(changes)).toEqual({ key });
    expect(deferralKey(changes.toReversed())).toEqual({ key });
    expect(deferralKey([...changes.slice(0, 1), ...planOf(0, 1, 'event.changes.title').changes])).toEqual({});
  });
});
