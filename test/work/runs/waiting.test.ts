import { describe, expect, it } from 'vitest';
import type { Run } from '../../../src/engine/record.ts';
import type { Ran } from '../../../src/engine/run.ts';
import { createRuleSet } from '../../../src/rules/rule.ts';
import type { AdmittedEvent } from '../../../src/rules/sources/admission.ts';
import type { Lease } from '../../../src/store/leases.ts';
import type { Claim, DeliveryWithBody, NewJob } from '../../../src/store/store.ts';
import { createLeaveWaiting, createWaitingHandler } from '../../../src/work/runs/waiting.ts';
import { makeClock } from '../../support/make-clock.ts';
import { makeReeve } from '../../support/make-reeve.ts';

const repository = { id: 1, owner: 'acme', name: 'demo' };
const born = new Date('2026-03-01T12:00:00Z');
const lease = { signal: new AbortController().signal } as Lease;
const status = JSON.stringify({
  sha: 'a'.repeat(40),
  state: 'success',
  sender: { id: 3, login: 'ada' },
  repository: { id: 1, full_name: 'acme/demo', owner: { id: 2 } },
});
const delivery = {
  id: '7',
  door: 'webhook',
  entry: 'all',
  eventType: 'status',
  body: Buffer.from(status),
} as unknown as DeliveryWithBody;
const rule = { id: 'r.yml#auto', level: 'operator', on: [], schedules: [], steps: [] } as never;
const run = { outcomes: [], rules: [], changes: [], refused: [] } as unknown as Run;

/** Creates a handler with test doubles. Each look returns `ran`. */
function setup(
  options: {
    ran?: Partial<Ran>;
    waitsFor?: readonly string[];
    kept?: boolean;
    rules?: readonly never[];
    lifetimeMs?: number;
  } = {},
) {
  let nowMs = born.getTime();
  const kept = new Map<string, unknown>();
  const looks: AdmittedEvent[] = [];
  const reeve = makeReeve({
    admissions: {
      admit: async (_origin, event) => ({ state: 'admitted', event: event as AdmittedEvent }),
    },
    rules: {
      rulesFor: async () => ({ rules: createRuleSet(options.rules ?? [rule]), broken: [] }),
    },
    store: {
      readDelivery: async () => (options.kept === false ? undefined : delivery),
      async remember(key: string, value: unknown) {
        if (value === undefined) kept.delete(key);
        else kept.set(key, value);
      },
      recall: async (key) => kept.get(key),
      async revise() {
        throw new Error('a row has one process at a time');
      },
    },
    clock: makeClock({ now: () => new Date(nowMs), monotonicMs: () => nowMs }),
    ...(options.lifetimeMs === undefined ? {} : { lifetimeMs: options.lifetimeMs }),
  });
  const handle = createWaitingHandler(reeve, async (_delivery, event) => {
    looks.push(event);
    return { run, facts: undefined as never, denials: 0, awaiting: ['r.yml#auto'], ...options.ran };
  });
  const payload = { repository, index: 5, rules: options.waitsFor ?? ['r.yml#auto'], delivery: '7' };
  const claim = (id = '20') => ({ id, door: 'cron', receivedAt: born, redrivenAt: undefined }) as Claim;
  return {
    looks,
    kept,
    at: async (seconds: number, id?: string) => {
      nowMs = born.getTime() + seconds * 1_000;
      return handle(claim(id), payload, lease);
    },
  };
}

describe('a waiting row', () => {
  it('is checked after 10 s, 30 s later, and then every minute', async () => {
    const { at, looks } = setup();

    expect((await at(0)).deferral?.afterMs).toBe(10_000);
    expect(looks).toHaveLength(0);
    expect((await at(10)).deferral?.afterMs).toBe(30_000);
    expect((await at(40)).deferral?.afterMs).toBe(60_000);
    expect((await at(100)).deferral?.afterMs).toBe(60_000);
    expect(looks.map(({ subject }) => [subject.kind, subject.index])).toEqual(
      Array.from({ length: 3 }, () => ['pull_request', 5]),
    );
  });

  it.each([
    ['its rules no longer wait', { ran: { awaiting: undefined as never } }],
    ['its rules are gone', { rules: [] }],
    ['delivery 7 is no longer kept', { kept: false }],
    ['it has waited for its whole lifetime', { lifetimeMs: 60_000 }],
  ])('ends when %s', async (reason, options) => {
    const { at } = setup(options);

    expect(await at(30)).toEqual({ runs: [], reason });
  });

  it('retries refused changes six times at doubling intervals, and says why it ends', async () => {
    const change = { id: 'c1', rules: ['r.yml#auto'] };
    const other = { id: 'c2', rules: ['r.yml#other'] };
    const outcomes = [change, other].map(({ id }) => ({
      change: id,
      status: 'failed',
      error: 'refused (409)',
    }));
    const failed = { ...run, changes: [change, other], outcomes } as unknown as Run;
    const { at, looks, kept } = setup({ ran: { run: failed, resisted: ['r.yml#auto'] } });
    let seconds = 10;
    const waits: unknown[] = [];
    for (let look = 1; look < 6; look += 1) {
      const afterMs = (await at(seconds)).deferral?.afterMs ?? 0;
      waits.push(afterMs / 1_000);
      // A row that is woken early, for example by a restart, does not retry.
      if (look > 3) expect((await at(seconds + 20)).deferral?.afterMs).toBe(afterMs - 20_000);
      seconds += afterMs / 1_000;
    }

    const { runs, ...last } = await at(seconds);

    expect(waits).toEqual([30, 60, 120, 240, 480]);
    expect(looks).toHaveLength(6);
    expect(last).toEqual({ reason: 'the forge keeps refusing its changes' });
    expect(runs[0]?.outcomes.map(({ error }) => error)).toEqual([
      'refused (409); refused 6 times: not tried again before the next event about the pull request',
      'refused (409)',
    ]);
    expect(kept.size).toBe(0);
  });

  it('keeps waiting for its other rules while the forge refuses one', async () => {
    const rules = ['a', 'b'].map((name) => ({ ...(rule as object), id: name }) as never);
    const ran: { awaiting: string[]; resisted: string[] } = { awaiting: ['a', 'b'], resisted: ['a'] };
    const { at } = setup({ ran, rules, waitsFor: ['a', 'b'] });
    let seconds = 10;
    for (let look = 1; look < 40; look += 1) {
      const { deferral } = await at(seconds);
      expect(deferral?.afterMs).toBe(look === 1 ? 30_000 : 60_000);
      seconds += (deferral?.afterMs ?? 0) / 1_000;
    }

    ran.awaiting = [];
    expect(await at(seconds)).toEqual({ runs: [], reason: 'its rules no longer wait' });
  });

  it('is kept with its deferral if an hourly budget stopped it', async () => {
    const { at } = setup({ ran: { deferral: { afterMs: 5, why: 'budget' } } });

    expect((await at(30)).deferral).toEqual({ afterMs: 5, why: 'budget' });
  });

  it('rows take turns: ten thousand of them are not checked at the same time', async () => {
    const { at, looks } = setup();
    const turns: number[] = [];
    for (let row = 0; row < 10_000; row += 1) {
      const { deferral } = await at(100, String(row));
      turns.push(deferral?.afterMs ?? 0);
    }

    expect(looks).toHaveLength(1);
    expect(turns.slice(1, 4)).toEqual([500, 1_000, 1_500]);
    await at(100.5, '1');
    await at(100.5, '2');
    expect(looks).toHaveLength(2);
  });
});

it('a waiting row is stored once for a run, in the lane of its pull request', async () => {
  const stored: NewJob[] = [];
  const leave = createLeaveWaiting(
    makeReeve({
      store: {
        enqueue: async (job: NewJob) => {
          stored.push(job);
          return { id: '1', known: false };
        },
      },
      clock: makeClock({ now: () => born }),
    }),
  );
  const ran = { run, facts: undefined as never, denials: 0 };
  const subject = { kind: 'pull_request', repository, index: 5 } as const;

  await leave({ ...ran, awaiting: ['b', 'a'] }, { subject, job: { id: '7' }, delivery: '7' });
  await leave(ran, { subject, job: { id: '8' } });

  expect(stored).toMatchObject([
    { kind: 'waiting', lane: '1#5', uuid: 'waiting#7#1#5', payload: { rules: ['a', 'b'], delivery: '7' } },
  ]);
});
