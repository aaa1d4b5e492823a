import { describe, expect, it } from 'vitest';
import { ReeveError } from '../../../src/platform/errors.ts';
import type { ClaimOptions, Store } from '../../../src/store/store.ts';
import type { WorkerOptions } from '../../../src/work/deliveries/worker.ts';
import { createWorkerBench, nothing, settle } from './worker-bench.ts';

const bench = createWorkerBench();

const concurrency = 2;

/** Creates a worker whose claims take 5 ms. Returns the limits of its claims. */
function startSlowClaims(options: Partial<WorkerOptions>): number[] {
  const limits: number[] = [];
  const claim: Store['claim'] = async (query: ClaimOptions) => {
    limits.push(query.limit);
    bench.moveClockMs(5);
    return bench.store.claim(query);
  };
  bench.start({ concurrency, ...options, store: { ...bench.store, claim } });
  return limits;
}

async function acceptMany(count: number, firstRepository = 1): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) ids.push(await bench.accept(firstRepository + at));
  return ids;
}

/** Handles deliveries until four of them are claimed for each slot. */
async function warmUp(limits: readonly number[]): Promise<void> {
  await acceptMany(60, 1_000);
  for (let looks = 0; looks < 40 && limits.at(-1) !== 4 * concurrency; looks += 1) await bench.pass();
  expect(limits.at(-1)).toBe(4 * concurrency);
  for (let looks = 0; looks < 10; looks += 1) await bench.pass();
}

/** Returns state and number of attempts of deliveries. */
async function statesOf(ids: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(ids.map((id) => bench.store.describeDelivery(id)));
  return found.map((one) => `${one?.state} ${one?.attempts}`);
}

describe('while attempts are quicker than a claim', () => {
  it('four deliveries are claimed for each slot, and no more are handled at once than there are slots', async () => {
    let [active, most] = [0, 0];
    const limits = startSlowClaims({
      handle: async () => {
        active += 1;
        most = Math.max(most, active);
        await settle();
        active -= 1;
        return nothing;
      },
    });
    await warmUp(limits);

    expect(limits[0]).toBe(concurrency);
    expect(most).toBe(concurrency);
  });

  it('those without a slot are given back after 250 ms, as if they had not been claimed, and no more are claimed ahead', async () => {
    let isSlow = false;
    const held: (() => void)[] = [];
    const limits = startSlowClaims({
      handle: async () => {
        if (isSlow) await new Promise<void>((resolve) => held.push(resolve));
        return nothing;
      },
    });
    await warmUp(limits);
    isSlow = true;
    const ids = await acceptMany(6);
    await bench.worker.tick();
    await settle();
    expect(await statesOf(ids)).toEqual(Array(6).fill('claimed 1'));

    await bench.advance(249);
    expect(await statesOf(ids)).toEqual(Array(6).fill('claimed 1'));
    await bench.advance(1);
    expect((await statesOf(ids)).toSorted()).toEqual([
      ...Array(4).fill('accepted 0'),
      ...Array(2).fill('claimed 1'),
    ]);

    isSlow = false;
    for (const end of held) end();
    await settle();
    for (let looks = 0; looks < 3; looks += 1) await bench.pass();
    expect(await statesOf(ids)).toEqual(Array(6).fill('settled 1'));
    expect(limits.slice(-3)).toEqual([concurrency, concurrency, concurrency]);
  });

  it('those without a slot are given back when the process stops', async () => {
    let isSlow = false;
    const limits = startSlowClaims({
      handle: async () => (isSlow ? new Promise(() => {}) : nothing),
    });
    await warmUp(limits);
    isSlow = true;
    const ids = await acceptMany(5);
    await bench.worker.tick();
    const stopped = bench.worker.stop({ graceMs: 1_000 });
    await settle();
    expect((await statesOf(ids)).filter((state) => state === 'accepted 0')).toHaveLength(3);
    await bench.advance(5_000);
    await stopped;
    expect(await statesOf(ids)).toEqual(Array(5).fill('accepted 0'));
  });

  it('those without a slot are given back when the forge has failed meanwhile', async () => {
    let isDown = false;
    const handled: string[] = [];
    const limits = startSlowClaims({
      probe: async () => {
        throw new ReeveError('forge-unavailable', 'no answer');
      },
      handle: async ({ id }) => {
        handled.push(id);
        if (isDown) throw new ReeveError('forge-unavailable', 'no answer');
        return nothing;
      },
    });
    await warmUp(limits);
    isDown = true;
    handled.length = 0;
    const ids = await acceptMany(6);
    await bench.pass();
    expect(await statesOf(ids)).toEqual(Array(6).fill('accepted 0'));
    expect(handled).toHaveLength(concurrency);
  });
});
