import { beforeEach, expect, it } from 'vitest';
import { ReeveError } from '../../../src/platform/errors.ts';
import type { WorkerStore } from '../../../src/store/leases.ts';
import type { Claim } from '../../../src/store/store.ts';
import { AttemptAborted, startHeartbeat } from '../../../src/work/deliveries/attempt.ts';
import { recordLog } from '../../support/record-log.ts';

const claim = { id: '7' } as Claim;
let abort: AbortController;
let waits: { run: () => void; ms: number }[];
let beats: number;
beforeEach(() => {
  abort = new AbortController();
  waits = [];
  beats = 0;
});

const start = (answer: () => void = () => {}) => {
  const { log, lines } = recordLog();
  const timer = (run: () => void, ms: number) => {
    const wait = { run, ms };
    waits.push(wait);
    return () => {
      waits = waits.filter((each) => each !== wait);
    };
  };
  const heartbeat = async (): Promise<void> => {
    beats += 1;
    answer();
  };
  const options = {
    store: { heartbeat } as unknown as WorkerStore,
    timer,
    leaseMs: 60_000,
    stallMs: 45_000,
    log,
  };
  return { heartbeat: startHeartbeat(claim, abort, options), lines };
};
/** Ends the next wait. */
const next = async (): Promise<void> => {
  waits.shift()?.run();
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

it('beats four times per lease until stopped', async () => {
  const { heartbeat } = start();

  expect(waits.map(({ ms }) => ms)).toEqual([15_000]);
  await next();
  await next();
  expect([beats, waits.length]).toEqual([2, 1]);
  heartbeat.stop();

  expect(waits).toEqual([]);
});

it('does not beat again if stopped during a beat', async () => {
  const { heartbeat } = start(() => heartbeat.stop());

  await next();

  expect([beats, waits.length]).toEqual([1, 0]);
});

it('aborts work only after a longer time without progress than allowed', async () => {
  const { heartbeat } = start();

  for (let beat = 0; beat < 3; beat += 1) await next();
  expect(abort.signal.aborted).toBe(false);
  heartbeat.progress();
  for (let beat = 0; beat < 3; beat += 1) await next();
  expect(abort.signal.aborted).toBe(false);
  await next();

  expect(abort.signal.reason).toEqual(new AttemptAborted('retry', 'no progress within 45 s'));
  expect(abort.signal.reason.ending).toBe('retry');
  expect([beats, waits.length]).toEqual([6, 0]);
});

it('aborts work whose lease is lost', async () => {
  const { lines } = start(() => {
    throw new ReeveError('lease-lost', 'another worker has it');
  });

  await next();

  expect(abort.signal.reason).toMatchObject({ ending: 'lost', message: 'another worker has it' });
  expect(lines).toEqual([]);
});

it.each([new ReeveError('store-unwritable', 'the disk is full'), new TypeError('x')])(
  'continues after a beat that failed for another reason, and logs the failure (%s)',
  async (error) => {
    const { lines } = start(() => {
      throw error;
    });

    await next();

    expect(abort.signal.aborted).toBe(false);
    expect(waits).toHaveLength(1);
    expect(lines).toEqual([['warn', 'a heartbeat failed', expect.objectContaining({ delivery: '7' })]]);
  },
);
