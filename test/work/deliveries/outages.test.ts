import { describe, expect, it } from 'vitest';
import { type ErrorCode, ReeveError } from '../../../src/platform/errors.ts';
import { createWorkerBench, failing, nothing, settle } from './worker-bench.ts';

const bench = createWorkerBench();
const { accept, moveClockMs, pass, start } = bench;

describe('a forge that fails', () => {
  const hostFailures: readonly ErrorCode[] = [
    'forge-unreachable',
    'forge-timeout',
    'forge-unavailable',
    'forge-junk',
    'forge-unauthorized',
  ];
  /** Makes one pass per second until the time is over, or nothing waits. */
  const work = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      await pass();
      const { accepted, retry } = await bench.store.counts();
      if (accepted + retry === 0) return;
      moveClockMs(1_000);
    }
  };

  it('stops all lanes without counting an attempt, and is probed at growing intervals', async () => {
    let isDown = true;
    let calls = 0;
    let probes = 0;
    start({
      concurrency: 4,
      probe: async () => {
        probes += 1;
        if (isDown) throw new ReeveError('forge-unreachable', 'no answer');
      },
      handle: async () => {
        calls += 1;
        if (isDown) throw new ReeveError('forge-unreachable', 'no answer');
        return { runs: [] };
      },
    });
    for (let repository = 1; repository <= 10; repository += 1) await accept(repository);

    await pass();
    expect([calls, bench.worker.status().breaker]).toEqual([4, 'open']);
    expect(bench.worker.status().forge).toMatchObject({ state: 'failing', reason: 'no answer' });
    await work(3_600);
    // Probes after 1, 2, 4, 8 and 16 s, and every 30 s from then on.
    expect([calls, probes]).toEqual([4, 123]);
    isDown = false;
    await work(60);

    expect(bench.worker.status()).toMatchObject({ breaker: 'closed', forge: { state: 'ok' } });
    expect(await bench.store.counts()).toMatchObject({ settled: 10, accepted: 0, retry: 0 });
    expect((await bench.store.listDeliveries()).items.every((each) => each.attempts === 1)).toBe(true);
  });

  it('does not stop lanes that need no forge', async () => {
    const done: string[] = [];
    const unreachable = failing('forge-unreachable');
    start({
      localLanes: ['chore size'],
      probe: unreachable,
      handle: unreachable,
      handleJob: async ({ lane = '' }) => {
        done.push(lane);
        return nothing;
      },
    });
    await accept(1);
    await pass();
    for (const lane of ['chore size', 'chore rules']) {
      await bench.store.enqueue({
        door: 'cron',
        uuid: lane,
        kind: 'chore',
        lane,
        receivedAt: bench.now,
        payload: null,
      });
    }

    await work(60);

    expect([done, bench.worker.status().breaker]).toEqual([['chore size'], 'open']);
    expect(await bench.store.counts()).toMatchObject({ accepted: 2, settled: 1 });
  });

  it('is tried although attempts that need no forge fill all slots', async () => {
    let isDown = true;
    const outage = async () => {
      if (isDown) throw new ReeveError('forge-unavailable', '502');
      return nothing;
    };
    let end = (): void => {};
    start({
      concurrency: 1,
      localLanes: ['chore size'],
      probe: outage,
      handle: outage,
      handleJob: async () => {
        await new Promise<void>((resolve) => {
          end = resolve;
        });
        return nothing;
      },
    });
    await accept(1);
    await pass();
    const chore = { door: 'cron', uuid: 'chore', kind: 'chore', lane: 'chore size', payload: null } as const;
    await bench.store.enqueue({ ...chore, receivedAt: bench.now });
    const look = async (): Promise<void> => {
      await bench.worker.tick();
      await settle();
    };
    await look();

    isDown = false;
    moveClockMs(2_000);
    for (let looks = 0; looks < 3; looks += 1) await look();

    expect(bench.worker.status()).toMatchObject({ breaker: 'closed', active: 1 });
    expect(await bench.store.counts()).toMatchObject({ settled: 1, claimed: 1 });
    end();
    await bench.worker.idle();
  });

  it.each(hostFailures)(
    'with %s for a night ends no delivery, and all deliveries are done within two minutes afterwards',
    async (code) => {
      let isDown = true;
      const outage = async () => {
        if (isDown) throw new ReeveError(code, `it said ${code}`);
        return { runs: [] };
      };
      start({ probe: outage, handle: outage });
      for (let repository = 1; repository <= 30; repository += 1) await accept(repository);

      for (let hour = 0; hour < 10; hour += 1) {
        await work(60);
        moveClockMs(3_540_000);
      }
      isDown = false;
      await work(120);

      expect(await bench.store.counts()).toMatchObject({ settled: 30, dead: 0, retry: 0, accepted: 0 });
      expect((await bench.store.listDeliveries()).items.every(({ attempts }) => attempts === 1)).toBe(true);
    },
  );

  it('for ten days does not end deliveries either: old deliveries are tried once the forge answers', async () => {
    let isDown = true;
    const outage = async () => {
      if (isDown) throw new ReeveError('forge-unavailable', '502');
      return { runs: [] };
    };
    start({ probe: outage, handle: outage });
    for (let repository = 1; repository <= 12; repository += 1) await accept(repository);

    await pass();
    moveClockMs(10 * 86_400_000);
    await work(60);
    isDown = false;
    await work(120);

    expect(await bench.store.counts()).toMatchObject({ settled: 12, dead: 0 });
  });

  it('for one item alone delays no other lane, and that item ends at its maximum age', async () => {
    let others = 0;
    start({
      concurrency: 2,
      probe: async () => {},
      handle: async (_delivery, event) => {
        if (event.repository?.id === 666) throw new ReeveError('forge-unavailable', '500');
        others += 1;
        return { runs: [] };
      },
    });
    const poison = await accept(666);
    for (let repository = 1; repository <= 20; repository += 1) await accept(repository);

    await work(30);
    expect(others).toBe(20);
    expect(await bench.store.readDelivery(poison)).toMatchObject({ state: 'retry', reason: '500' });
    for (let day = 0; day < 8; day += 1) {
      moveClockMs(86_400_000);
      await accept(1);
      await work(30);
    }

    expect(others).toBe(28);
    expect(await bench.store.readDelivery(poison)).toMatchObject({
      state: 'dead',
      reason: 'older than 7 days; last: 500',
    });
  });

  it('for one item, with no other work, ends that item at its maximum age', async () => {
    start({ probe: async () => {}, handle: failing('forge-unavailable') });
    const poison = await accept(666);

    for (let hour = 0; hour < 8 * 24; hour += 1) {
      await work(10);
      moveClockMs(3_590_000);
    }

    expect((await bench.store.readDelivery(poison))?.state).toBe('dead');
  });

  it('does not count as recovered just because work without requests succeeds', async () => {
    let answers = 0;
    let isDown = true;
    const handled: number[] = [];
    start({
      concurrency: 1,
      answers: () => answers,
      handle: async (_delivery, event) => {
        const id = event.repository?.id ?? 0;
        handled.push(id);
        if (id % 2 === 0) return { runs: [] };
        if (isDown) throw new ReeveError('forge-timeout', 'slow');
        answers += 1;
        return { runs: [] };
      },
    });
    for (const repository of [1, 2, 3, 5]) await accept(repository);

    await pass();
    moveClockMs(1_000);
    await pass();
    expect([handled, bench.worker.status().breaker]).toEqual([[1, 2], 'half-open']);
    isDown = false;
    await work(30);

    expect(bench.worker.status().breaker).toBe('closed');
    expect((await bench.store.counts()).settled).toBe(4);
  });

  it('is tried with a delivery of a lane that has not failed', async () => {
    const handled: string[] = [];
    start({
      concurrency: 1,
      handle: async (delivery) => {
        handled.push(delivery.lane ?? '');
        if (delivery.lane === '1#1') throw new ReeveError('forge-unavailable', '500');
        return { runs: [] };
      },
    });
    await accept(1, 1);
    await accept(1, 2);

    await pass();
    moveClockMs(1_000);
    await pass();

    expect(handled).toEqual(['1#1', '1#2']);
    expect(bench.worker.status().breaker).toBe('closed');
  });
});
