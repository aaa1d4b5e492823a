import { beforeEach, describe, expect, it } from 'vitest';
import { ReeveError } from '../../../src/platform/errors.ts';
import type { Handled, HandleJob, WorkerStore } from '../../../src/store/leases.ts';
import type { Claim } from '../../../src/store/store.ts';
import { AttemptAborted, createAttempt, createBackoff } from '../../../src/work/deliveries/attempt.ts';
import { Breaker } from '../../../src/work/deliveries/breaker.ts';
import { RoutedEvents } from '../../../src/work/deliveries/router.ts';
import { makeClock } from '../../support/make-clock.ts';

const dayMs = 86_400_000;
const now = new Date('2026-03-10T12:00:00.000Z');
const job = {
  id: '7',
  door: 'job',
  eventType: 'sweep',
  lane: '3#1',
  attempts: 1,
  crashes: 0,
  receivedAt: now,
  body: Buffer.from('{"of":"labels"}'),
} as unknown as Claim;
const unreachable = new ReeveError('forge-unreachable', 'no answer');

let breaker: Breaker;
let answers: number;
let advanced: unknown[];
let progress: number;
let hostFailures: string[];
beforeEach(() => {
  breaker = new Breaker(makeClock({ monotonicMs: () => 0 }), { random: () => 0.5 });
  answers = 0;
  advanced = [];
  progress = 0;
  hostFailures = [];
});

const attempt = (
  handleJob: HandleJob | undefined,
  claim: Partial<Claim> = {},
  signal = new AbortController().signal,
) =>
  createAttempt({
    store: {
      advance: async (_claim: Claim, part: unknown) => void advanced.push(part),
    } as unknown as WorkerStore,
    events: new RoutedEvents(),
    handle: async () => expect.unreachable(),
    handleJob,
    backoff: createBackoff({ random: () => 0.5 }),
    lifetimeMs: 7 * dayMs,
    breaker,
    answers: () => answers,
    clock: makeClock({ now: () => now }),
    sleep: async () => {},
    stopping: new AbortController().signal,
    onHostFailure: ({ message }) => void hostFailures.push(message),
    onRecorded: () => {},
  })({ ...job, ...claim }, signal, {
    progress: () => {
      progress += 1;
    },
    stop: () => {},
  });
const throwing = (error: unknown) => async (): Promise<Handled> => {
  throw error;
};
const old = { receivedAt: new Date(now.getTime() - 8 * dayMs) };

describe('an attempt', () => {
  it('of a job passes the payload to the handler, and settles the job', async () => {
    let seen: unknown;
    const ending = await attempt(async (_claim, payload) => {
      seen = payload;
      return { runs: [], reason: 'nothing to do' };
    });

    expect(seen).toEqual({ of: 'labels' });
    expect(ending).toEqual({ how: 'settled', runs: [], reason: 'nothing to do' });
  });

  it('of a job without a handler makes the job dead', async () => {
    expect(await attempt(undefined)).toEqual({
      how: 'dead',
      reason: 'there is no handler for jobs of kind sweep',
    });
  });

  it('of a job records a part with its checkpoint, and counts this as progress', async () => {
    const part = { runs: [], checkpoint: { page: 2 } };
    await attempt(async (_claim, _payload, lease) => {
      await lease.advance(part);
      return { runs: [] };
    });

    expect([advanced, progress]).toEqual([[part], 1]);
  });

  it('that releases its work is not counted as an attempt', async () => {
    const ending = await attempt(async (_claim, _payload, lease) => {
      throw lease.giveBack('the process stops');
    });

    expect(ending).toEqual({ how: 'released', reason: 'the process stops' });
  });

  it('that is deferred runs again until the delivery is too old', async () => {
    const deferral = { afterMs: 60_000, why: 'the budget of the hour is used up' };
    const handle = async () => ({ runs: [], deferral });

    expect(await attempt(handle)).toEqual({ how: 'deferred', runs: [], deferral });
    expect(await attempt(handle, old)).toEqual({
      how: 'dead',
      runs: [],
      reason: 'the budget of the hour is used up, and its lifetime has ended',
    });
  });
});

describe('a delivery is given up without being read', () => {
  const never = async () => expect.unreachable();
  const settled = { how: 'settled', runs: [] };
  const done = async () => ({ runs: [] });

  it('after five crashes of the process, but not earlier', async () => {
    expect(await attempt(never, { crashes: 5 })).toEqual({
      how: 'dead',
      reason: 'the process died 5 times while it handled this delivery alone',
    });
    expect(await attempt(done, { crashes: 4 })).toMatchObject(settled);
  });

  it('after twelve unfinished attempts, but only if the delivery is old', async () => {
    expect(await attempt(never, { attempts: 13, ...old })).toEqual({
      how: 'dead',
      reason: 'started 12 times without an end',
    });
    expect(await attempt(done, { attempts: 12, ...old })).toMatchObject(settled);
    expect(await attempt(done, { attempts: 13 })).toMatchObject(settled);
    expect(await attempt(done, { attempts: 13, ...old, failingSince: now })).toMatchObject(settled);
  });
});

describe('the breaker is told about an attempt', () => {
  /** Opens the breaker, and lets the forge answer the probe. The next attempt is then the trial. */
  const halfOpen = (): void => {
    breaker.failed(breaker.begin('1#1'));
    breaker.probed(true);
  };

  it.each<[string, number, unknown, string]>([
    ['that the forge answered', 1, undefined, 'closed'],
    ['that asked it nothing', 0, undefined, 'half-open'],
    ['that the forge refused', 1, new ReeveError('forge-refused', 'no'), 'closed'],
    ['that failed before it asked', 0, new ReeveError('settings', 'no'), 'half-open'],
    ['that the stop ended', 1, new ReeveError('stopped', 'stopping'), 'half-open'],
    ['with a defect', 1, new TypeError('x'), 'half-open'],
  ])('%s', async (_title, count, error, state) => {
    halfOpen();

    await attempt(async () => {
      answers += count;
      if (error !== undefined) throw error;
      return { runs: [] };
    });

    expect(breaker.state()).toBe(state);
    // The slot for the trial is free again.
    if (state === 'half-open') expect(breaker.room(8)).toBe(1);
  });

  it.each([
    [0, 'half-open'],
    [1, 'closed'],
  ])('while it runs: a page of a sweep with %i responses', async (count, state) => {
    halfOpen();
    let seen = '';
    await attempt(async (_claim, _payload, lease) => {
      answers += count;
      await lease.advance({ runs: [], checkpoint: 1 });
      // Not asserted here, because the attempt would treat a failed assertion as its own failure.
      seen = breaker.state();
      return { runs: [] };
    });

    expect(seen).toBe(state);
  });

  it('that failed because of the forge, and this is reported; a failure of a single item is not', async () => {
    expect(await attempt(throwing(unreachable))).toMatchObject({ how: 'released' });
    expect([breaker.state(), hostFailures]).toEqual(['open', ['no answer']]);

    breaker.probed(true);
    expect(await attempt(throwing(unreachable))).toMatchObject({ how: 'retry' });
    expect([breaker.state(), hostFailures]).toEqual(['closed', ['no answer']]);
  });
});

describe('an aborted attempt', () => {
  it('ends even if its handler does not, after a grace period for the handler', async () => {
    const abort = new AbortController();
    let ended = false;
    const ending = attempt(
      (_claim, _payload, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            ended = true;
            reject(new Error('cut'));
          });
        }),
      {},
      abort.signal,
    );
    abort.abort(new AttemptAborted('retry', 'no progress within 600 s'));

    expect(await ending).toMatchObject({ how: 'retry', reason: 'no progress within 600 s' });
    expect(ended).toBe(true);
  });

  it('ends at once if it was aborted before it started', async () => {
    const signal = AbortSignal.abort(new AttemptAborted('lost', 'gone'));

    expect(await attempt(() => new Promise(() => {}), {}, signal)).toEqual({ how: 'lost' });
  });
});
