import { beforeEach, describe, expect, it } from 'vitest';
import { ReeveError } from '../../../src/platform/errors.ts';
import type { Store } from '../../../src/store/store.ts';
import type { WorkerOptions } from '../../../src/work/deliveries/worker.ts';
import { makeDelivery, makeRun } from '../../store/make.ts';
import { recordLog } from '../../support/record-log.ts';
import { bodyOf, createWorkerBench, failing, nothing } from './worker-bench.ts';

const bench = createWorkerBench();
const { accept, advance, pass, start } = bench;

describe('a delivery', () => {
  it('is handled as the event that it contains, and settled with its runs', async () => {
    const seen: unknown[] = [];
    start({
      handle: async (delivery, event) => {
        seen.push([delivery.id, event.family, event.subject?.index, event.repository?.name]);
        return { runs: [makeRun({ id: 'r' })] };
      },
    });
    const id = await accept(5, 7);

    await pass();

    expect(seen).toEqual([[id, 'issues', 7, 'r5']]);
    expect(await bench.store.readDelivery(id)).toMatchObject({
      state: 'settled',
      lane: '5#7',
      repository: 'acme/r5',
    });
    expect((await bench.store.listRuns({ delivery: id, repositoryId: 5 })).items).toEqual([
      makeRun({ id: 'r' }),
    ]);
  });

  it('with the body of an earlier delivery is handled as its repeat, whatever its event type', async () => {
    const seen: (string | undefined)[] = [];
    start({
      handle: async ({ repeatOf }) => {
        seen.push(repeatOf);
        return nothing;
      },
    });
    const body = Buffer.from(
      JSON.stringify({ ...JSON.parse(bodyOf(5, 7).toString()), pull_request: { number: 7 } }),
    );
    const types = ['issues', 'issues', 'pull_request'];
    for (const eventType of types) {
      await bench.store.accept(makeDelivery({ eventType, receivedAt: bench.now, body }));
      await pass();
    }

    expect(seen).toEqual([undefined, '1', '1']);
  });

  it('is dead with the reason if it is malformed, and settled if its kind is unknown, in both cases without being handled', async () => {
    const { log, lines } = recordLog();
    start({ handle: failing('internal'), log });
    const { id: malformed } = await bench.store.accept(makeDelivery({ body: Buffer.from('{"a":') }));
    const { id: misfit } = await bench.store.accept(makeDelivery({ body: Buffer.from('{}') }));
    const { id: unknown } = await bench.store.accept(
      makeDelivery({ eventType: 'moon_landing', body: Buffer.from('{}') }),
    );

    await pass();

    expect(await bench.store.readDelivery(malformed)).toMatchObject({
      state: 'dead',
      reason: expect.stringMatching(/JSON/),
    });
    expect(await bench.store.readDelivery(misfit)).toMatchObject({
      state: 'dead',
      reason: expect.stringMatching(/ref must be a text, but is missing/),
    });
    expect(lines).toEqual([
      ['warn', 'a delivery is malformed', { delivery: malformed, reason: expect.stringMatching(/JSON/) }],
      ['warn', 'a delivery is malformed', { delivery: misfit, reason: expect.stringMatching(/ref must/) }],
    ]);
    expect(await bench.store.readDelivery(unknown)).toMatchObject({
      state: 'settled',
      reason: 'unknown kind moon_landing',
    });
  });

  it('that is a copy is not handled', async () => {
    let handled = 0;
    start({
      handle: async () => {
        handled += 1;
        return nothing;
      },
    });
    const body = bodyOf(1);
    await bench.store.accept(makeDelivery({ receivedAt: bench.now, body }));
    await bench.store.accept(makeDelivery({ receivedAt: bench.now, body }));

    await pass();
    await pass();

    expect(handled).toBe(1);
    expect((await bench.store.counts()).settled).toBe(2);
  });
});

describe('a delivery that an hourly budget stops', () => {
  const deferral = { afterMs: 3_600_000, why: 'over the budget of 500 changes per hour' };

  it('keeps its trigger and is handled again once the budget has room', async () => {
    let handled = 0;
    start({
      handle: async () => {
        handled += 1;
        const runs = [makeRun({ id: `run ${handled}` })];
        return handled < 3 ? { runs, deferral } : { runs };
      },
    });
    const id = await accept(5, 7);

    await pass();
    expect(await bench.store.describeDelivery(id)).toMatchObject({ state: 'deferred' });
    for (let hour = 0; hour < 2; hour += 1) {
      await advance(3_600_000);
      await pass();
    }

    expect(await bench.store.describeDelivery(id)).toMatchObject({ state: 'settled', attempts: 1 });
    expect((await bench.store.listRuns({ delivery: id })).items).toHaveLength(3);
  });

  it('is dead with its runs and the reason once it is older than its lifetime', async () => {
    start({ handle: async () => ({ runs: [makeRun({ id: String(bench.now.getTime()) })], deferral }) });
    const id = await accept(5, 7);

    for (let hour = 0; hour < 7 * 24 + 2; hour += 1) {
      await pass();
      await advance(3_600_000);
    }

    const { state, reason } = (await bench.store.describeDelivery(id)) ?? {};
    expect([state, reason]).toEqual([
      'dead',
      expect.stringContaining('over the budget of 500 changes per hour'),
    ]);
    expect((await bench.store.listRuns({ delivery: id, limit: 500 })).items.length).toBeGreaterThan(160);
  });
});

describe('the event of a delivery', () => {
  const handled: unknown[] = [];
  const handle: WorkerOptions['handle'] = async (_delivery, event) => {
    handled.push(event.subject?.index);
    return nothing;
  };
  beforeEach(() => {
    handled.length = 0;
  });
  /** Returns the store with claims whose body cannot be parsed. */
  const withoutBodies = (): Store => ({
    ...bench.store,
    claim: async (options) =>
      (await bench.store.claim(options)).map((claim) => ({ ...claim, body: Buffer.from('{') })),
  });

  it('is parsed once, for its lane and its first attempt', async () => {
    start({ store: withoutBodies(), handle });
    await accept(5, 7);

    await pass();

    expect(handled).toEqual([7]);
  });

  it('is parsed again after a restart, from the stored body', async () => {
    start({ handle, concurrency: 0 });
    const id = await accept(5, 7);
    await bench.worker.tick();
    expect(await bench.store.readDelivery(id)).toMatchObject({ state: 'accepted', lane: '5#7' });

    start({ handle });
    await pass();

    expect(handled).toEqual([7]);
  });

  it('is parsed again for a retry', async () => {
    let attempts = 0;
    start({
      handle: async (delivery, event, lease) => {
        attempts += 1;
        if (attempts === 1) throw new ReeveError('forge-unexpected', 'not now');
        return handle(delivery, event, lease);
      },
    });
    await accept(5, 7);
    await pass();
    await advance(60_000);

    await pass();

    expect([attempts, handled]).toEqual([2, [7]]);
  });
});
