import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/store/store.ts';
import { type Scheduled, Scheduler } from '../../../../src/work/sweeps/schedule/schedule.ts';
import { recordFigure } from '../../../support/figure.ts';
import { makeReeve } from '../../../support/make-reeve.ts';
import { makeStore } from '../../../support/make-store.ts';

const nightly: Scheduled = {
  id: 'rules/a.yml#nightly',
  schedule: { cron: '17 3 * * *', timezone: 'UTC' },
  kind: 'sweep',
  payload: { rule: 'rules/a.yml#nightly' },
};
const often: Scheduled = {
  ...nightly,
  id: 'rules/a.yml#often',
  schedule: { cron: '*/5 * * * *', timezone: 'UTC' },
};

describe('the scheduler', () => {
  let store: Store;
  let close: () => Promise<void>;

  beforeEach(async () => {
    ({ store, close } = await makeStore());
  });
  afterEach(() => close());

  const make = (entries: readonly Scheduled[] = [nightly]): Scheduler =>
    new Scheduler(makeReeve({ store }), async () => entries);

  const slots = async (): Promise<readonly string[]> => {
    const { items } = await store.listDeliveries({ limit: 500 });
    return items.map(({ uuid }) => uuid.split('@')[1] ?? '').toReversed();
  };

  const finish = async (): Promise<void> => {
    const unrouted = await store.unrouted(100);
    await store.route(unrouted.map(({ id, lane }) => ({ id, to: 'lane', lane: lane ?? '' })));
    for (const claim of await store.claim({ limit: 100, leaseMs: 60_000 })) await store.settle(claim, []);
  };

  it('runs nothing that was due before the scheduler first saw the schedule', async () => {
    await make().tick(new Date('2026-05-01T12:00:00Z'));

    expect(await slots()).toEqual([]);
  });

  it('runs the first slot of a schedule that was added less than a minute before it, and none before that', async () => {
    const entries = [often];
    const scheduler = make(entries);
    await scheduler.tick(new Date('2026-05-01T03:15:00Z'));
    await scheduler.tick(new Date('2026-05-01T03:16:00Z'));
    entries.push(nightly, { ...nightly, id: 'earlier', schedule: { cron: '16 3 * * *', timezone: 'UTC' } });

    await scheduler.tick(new Date('2026-05-01T03:17:00Z'));
    await scheduler.tick(new Date('2026-05-01T03:18:00Z'));

    expect(await slots()).toEqual(['2026-05-01T03:17:00.000Z']);
  });

  it('turns each slot into one job, however often the scheduler runs', async () => {
    const scheduler = make();
    await scheduler.tick(new Date('2026-05-01T03:16:00Z'));

    for (const second of ['00', '20', '59']) await scheduler.tick(new Date(`2026-05-01T03:17:${second}Z`));

    expect(await slots()).toEqual(['2026-05-01T03:17:00.000Z']);
  });

  it('runs missed slots once after a restart', async () => {
    await make().tick(new Date('2026-05-01T03:00:00Z'));

    const restarted = make();
    await restarted.tick(new Date('2026-05-05T10:00:00Z'));
    await restarted.tick(new Date('2026-05-05T10:01:00Z'));

    expect(await slots()).toEqual(['2026-05-05T03:17:00.000Z']);
    expect((await restarted.status()).get('rules/a.yml#nightly#17 3 * * *')?.missed).toBe(4);
  });

  it('runs a slot in place of the previous slot if an hourly budget deferred that one', async () => {
    const scheduler = make([often]);
    await scheduler.tick(new Date('2026-05-01T10:00:00Z'));
    await scheduler.tick(new Date('2026-05-01T10:05:00Z'));
    const [job] = await store.unrouted(100);
    await store.route([{ id: job?.id ?? '', to: 'lane', lane: job?.lane ?? '' }]);
    for (const claim of await store.claim({ limit: 1, leaseMs: 60_000 })) {
      await store.defer(claim, [], { afterMs: 3_600_000, why: 'over a budget' });
    }

    await scheduler.tick(new Date('2026-05-01T10:10:00Z'));

    expect(await slots()).toEqual(['2026-05-01T10:05:00.000Z', '2026-05-01T10:10:00.000Z']);
    expect(await store.describeDelivery(job?.id ?? '')).toMatchObject({
      state: 'settled',
      reason: expect.stringContaining('2026-05-01T10:10:00.000Z runs in its place'),
    });
    expect([...(await scheduler.status()).values()].map(({ overlaps }) => overlaps)).toEqual([0]);
  });

  it('skips and counts slots while the job of an earlier slot is running, and continues afterwards', async () => {
    const scheduler = make([often]);
    await scheduler.tick(new Date('2026-05-01T10:00:00Z'));
    await scheduler.tick(new Date('2026-05-01T10:05:00Z'));
    await scheduler.tick(new Date('2026-05-01T10:10:00Z'));
    await scheduler.tick(new Date('2026-05-01T10:15:00Z'));
    await finish();
    await scheduler.tick(new Date('2026-05-01T10:20:00Z'));

    expect(await slots()).toEqual(['2026-05-01T10:05:00.000Z', '2026-05-01T10:20:00.000Z']);
    expect((await scheduler.status()).get('rules/a.yml#often#*/5 * * * *')?.overlaps).toBe(2);
  });

  it('runs no slot twice when the clock is set back by two seconds a thousand times', async (context) => {
    const scheduler = make([often]);
    let atMs = Date.parse('2026-05-01T10:00:00Z');
    await scheduler.tick(new Date(atMs));
    for (let step = 0; step < 1_000; step += 1) {
      atMs += 4_000;
      await scheduler.tick(new Date(atMs));
      atMs -= 2_000;
      await scheduler.tick(new Date(atMs));
      if (step % 100 === 0) await finish();
    }

    const found = await slots();
    expect(new Set(found).size).toBe(found.length);
    expect(found.length).toBeGreaterThanOrEqual(3);
    recordFigure(context, `set back by 2 s 1,000 times: ${found.length} slots, 0 twice`);
  });

  it.each([
    ['an hour', 3_600_000],
    ['a day', 86_400_000],
  ])(
    'skips no slot by more than one period when the clock goes %s ahead and back again',
    async (_name, jumpMs) => {
      const scheduler = make([often]);
      const startMs = Date.parse('2026-05-01T10:00:00Z');
      await scheduler.tick(new Date(startMs));
      await scheduler.tick(new Date(startMs + jumpMs));
      await finish();
      for (let minute = 1; minute <= 20; minute += 1) {
        await scheduler.tick(new Date(startMs + minute * 60_000));
        await finish();
      }

      const ahead = new Date(startMs + jumpMs).toISOString();
      const found = (await slots()).filter((slot) => slot !== ahead);
      expect(found.map((slot) => slot.slice(11, 16))).toEqual(['10:05', '10:10', '10:15', '10:20']);
    },
  );
});
