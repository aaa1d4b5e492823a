import { beforeEach, describe, expect, it } from 'vitest';
import { type ErrorCode, ReeveError } from '../../../src/platform/errors.ts';
import { Breaker, ForgeWatch } from '../../../src/work/deliveries/breaker.ts';
import { makeClock } from '../../support/make-clock.ts';
import { recordLog } from '../../support/record-log.ts';

let nowMs: number;
let breaker: Breaker;
let answers: number;
beforeEach(() => {
  nowMs = 0;
  answers = 0;
  breaker = new Breaker(makeClock({ monotonicMs: () => nowMs }), { random: () => 0.5 });
});

const at = (ms: number): Date => new Date(Date.UTC(2026, 2, 1, 12) + ms);
const start = (probe?: () => Promise<unknown>) => {
  const { log, lines } = recordLog();
  const clock = makeClock({ now: () => at(nowMs) });
  const watch = new ForgeWatch({ breaker, probe, clock, log, onAnswer: () => (answers += 1) });
  /** Acts like a failed attempt: the breaker opens, and the watch receives the error. */
  const fail = (code: ErrorCode): void => {
    breaker.failed(breaker.begin(`${code}#1`));
    watch.failed(new ReeveError(code, `it said ${code}`));
  };
  return { watch, lines, fail };
};
const settle = () => new Promise((resolve) => setImmediate(resolve));
const throwing = (error: unknown) => async () => {
  throw error;
};

describe('the forge watch', () => {
  it('reports a failing forge once, with the time of its first failure, and each change in the kind of failure', () => {
    const { watch, lines, fail } = start();
    expect(watch.state()).toEqual({ state: 'ok' });

    fail('forge-unreachable');
    nowMs = 5_000;
    fail('forge-timeout');
    expect(watch.state()).toEqual({ state: 'failing', since: at(0), reason: 'it said forge-timeout' });
    fail('forge-unauthorized');

    expect(watch.state()).toEqual({ state: 'refused', since: at(0), reason: 'it said forge-unauthorized' });
    expect(lines).toEqual([
      ['warn', 'the forge fails; work waits until it answers again', { error: 'it said forge-unreachable' }],
      [
        'warn',
        'the forge refuses our credential; work waits until it answers again',
        { error: 'it said forge-unauthorized' },
      ],
    ]);
  });

  it('probes when due, one probe at a time, and wakes the worker once the forge answers', async () => {
    let probes = 0;
    let answer = (): void => {};
    const { watch, fail } = start(() => {
      probes += 1;
      return new Promise<void>((resolve) => {
        answer = resolve;
      });
    });
    fail('forge-unreachable');

    watch.look();
    expect(probes).toBe(0);
    nowMs = 1_000;
    watch.look();
    watch.look();
    expect([probes, answers]).toEqual([1, 0]);
    answer();
    await settle();

    expect([breaker.state(), answers]).toEqual(['half-open', 1]);
  });

  it('reports that work continues, and forgets the failure', async () => {
    const { watch, lines, fail } = start(async () => {});
    fail('forge-unreachable');
    nowMs = 1_000;
    watch.look();
    await settle();
    expect(watch.state()).toMatchObject({ state: 'failing' });
    expect(lines).toHaveLength(1);

    breaker.succeeded(breaker.begin('other#1'));
    expect(watch.state()).toEqual({ state: 'ok' });
    watch.look();
    watch.look();

    expect(lines.slice(1)).toEqual([
      ['info', 'the forge answers again; work continues', { since: at(0).toISOString() }],
    ]);
    nowMs = 60_000;
    fail('forge-timeout');
    expect(watch.state()).toMatchObject({ since: at(60_000) });
  });

  it.each<[string, unknown, string, number, string | undefined]>([
    ['fails as a whole', new ReeveError('forge-junk', 'a page of a proxy'), 'open', 0, 'a page of a proxy'],
    ['answers with a refusal', new ReeveError('forge-forbidden', 'not you'), 'half-open', 1, undefined],
    ['answers with something unknown', new TypeError('what'), 'half-open', 1, undefined],
    [
      'is not asked to the end: the process stops',
      new ReeveError('stopped', 'stopping'),
      'open',
      0,
      undefined,
    ],
  ])('a probe that %s', async (_title, error, state, woken, reason) => {
    const { watch, lines, fail } = start(throwing(error));
    fail('forge-unreachable');
    nowMs = 1_000;

    watch.look();
    await settle();

    expect([breaker.state(), answers]).toEqual([state, woken]);
    expect(watch.state()).toMatchObject({ reason: reason ?? 'it said forge-unreachable' });
    const debug = lines.filter(([level]) => level === 'debug');
    expect(debug).toEqual(
      woken === 1 ? [['debug', 'the forge answers a probe', { error: (error as Error).message }]] : [],
    );
    // The next probe is due after a longer wait.
    nowMs = 60_000;
    watch.look();
    expect(breaker.isDue()).toBe(state === 'open');
  });

  it('allows a trial delivery after the delay if there is no probe', () => {
    const { watch, fail } = start();
    fail('forge-unreachable');
    nowMs = 1_000;

    watch.look();

    expect(breaker.state()).toBe('half-open');
  });
});
