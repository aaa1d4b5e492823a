import { expect, it } from 'vitest';
import { ReeveError } from '../../../src/platform/errors.ts';
import type { WorkerStore } from '../../../src/store/leases.ts';
import type { Claim } from '../../../src/store/store.ts';
import { createRecorder, type Ending } from '../../../src/work/deliveries/attempt.ts';
import { makeRun } from '../../store/make.ts';
import { recordLog } from '../../support/record-log.ts';

const claim = {
  id: '7',
  door: 'webhook',
  eventType: 'push',
  attempts: 2,
  entry: 'acme',
  repository: 'acme/tool',
} as Claim;
const about = { delivery: '7', eventType: 'push', attempts: 2 };
const runs = [makeRun({ id: 'r' })];
const deferral = { afterMs: 90_001, why: 'the budget of the hour is used up' };
const full = new ReeveError('store-unwritable', 'the disk is full');

/** Records an ending in a store that fails with the given errors first. Returns the writes, the waits and the log. */
async function record(
  ending: Ending,
  given: { errors?: unknown[]; onWait?: () => void; isStopping?: boolean; claim?: Claim } = {},
) {
  const { log, lines } = recordLog();
  const errors = [...(given.errors ?? [])];
  const written: unknown[][] = [];
  const waits: number[] = [];
  const write =
    (name: string) =>
    async (...args: unknown[]): Promise<void> => {
      if (errors.length > 0) throw errors.shift();
      written.push([name, ...args]);
    };
  const stopping = new AbortController();
  if (given.isStopping) stopping.abort();
  const signal = new AbortController();
  const recorder = createRecorder({
    store: {
      settle: write('settle'),
      retry: write('retry'),
      defer: write('defer'),
      bury: write('bury'),
      release: write('release'),
    } as unknown as WorkerStore,
    onRecorded: () => {},
    onEnded: () => {},
    sleep: async (ms) => {
      waits.push(ms);
      given.onWait?.();
      if (given.onWait) signal.abort();
    },
    stopping: stopping.signal,
    log,
  });
  await recorder(given.claim ?? claim, ending, signal.signal);
  return { written, waits, lines };
}

it.each<[Ending, unknown[], unknown[]]>([
  [{ how: 'settled', runs, reason: 'x' }, ['settle', claim, runs, 'x'], ['debug', 'settled', about]],
  [
    { how: 'retry', afterMs: 10, reason: 'x' },
    ['retry', claim, { how: 'retry', afterMs: 10, reason: 'x' }],
    ['warn', 'a delivery is retry', { ...about, entry: 'acme', how: 'retry', afterMs: 10, reason: 'x' }],
  ],
  [
    { how: 'deferred', runs, deferral },
    ['defer', claim, runs, deferral],
    ['info', 'a run is deferred', { ...about, repository: 'acme/tool', why: deferral.why, seconds: 91 }],
  ],
  [
    { how: 'dead', reason: 'x', runs },
    ['bury', claim, 'x', runs],
    ['warn', 'a delivery is dead', { ...about, entry: 'acme', how: 'dead', reason: 'x' }],
  ],
  [
    { how: 'released', reason: 'x' },
    ['release', claim],
    ['warn', 'a delivery is released', { ...about, entry: 'acme', how: 'released', reason: 'x' }],
  ],
])('records and logs an ending: $how', async (ending, call, line) => {
  const { written, lines } = await record(ending);

  expect(written).toEqual([call]);
  expect(lines).toEqual([line]);
});

it('logs the deferral of a job, which may poll every few seconds, at debug', async () => {
  const job: Claim = { ...claim, door: 'cron', eventType: 'merge-queue' };

  const { lines } = await record({ how: 'deferred', runs, deferral }, { claim: job });

  expect(lines).toMatchObject([['debug', 'a job is deferred', { why: deferral.why }]]);
});

it('records nothing for a delivery that another worker holds', async () => {
  expect((await record({ how: 'lost' })).written).toEqual([]);
});

it('repeats writes that a full disk refuses, at growing intervals, and logs each attempt', async () => {
  const { written, waits, lines } = await record(
    { how: 'settled', runs },
    { errors: Array.from({ length: 9 }, () => full) },
  );

  expect(written).toEqual([['settle', claim, runs, undefined]]);
  expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(lines.slice(0, 9)).toEqual(
    Array.from({ length: 9 }, () => [
      'warn',
      'could not record that it was settled',
      { delivery: '7', error: 'the disk is full' },
    ]),
  );
  expect(lines.slice(9)).toEqual([['debug', 'settled', about]]);
});

it.each<[string, Parameters<typeof record>[1], number]>([
  ['after another error', { errors: [new ReeveError('lease-lost', 'gone')] }, 0],
  ['after a defect', { errors: [new TypeError('x')] }, 0],
  ['when the process stops', { errors: [full], isStopping: true }, 0],
  ['when the attempt is cut off while it waits', { errors: [full], onWait: () => {} }, 1],
])('gives up %s', async (_title, given, waits) => {
  const result = await record({ how: 'settled', runs }, given);

  expect(result.written).toEqual([]);
  expect(result.waits).toHaveLength(waits);
});
