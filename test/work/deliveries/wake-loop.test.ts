import { describe, expect, it } from 'vitest';
import { createSleep, systemTimer, type Timer, WakeLoop } from '../../../src/work/deliveries/wake-loop.ts';

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Creates a timer that fires when the test calls `pass`. */
function makeTimer(): { timer: Timer; waits: number[]; pass: () => Promise<void> } {
  const entries: { run: () => void; ms: number }[] = [];
  const waits: number[] = [];
  const timer: Timer = (run, ms) => {
    const entry = { run, ms };
    entries.push(entry);
    waits.push(ms);
    return () => {
      if (entries.includes(entry)) entries.splice(entries.indexOf(entry), 1);
    };
  };
  const pass = async (): Promise<void> => {
    entries.shift()?.run();
    await settle();
  };
  return { timer, waits, pass };
}

/** Creates a loop whose calls last until the test ends them. */
function makeLoop() {
  const { timer, waits, pass } = makeTimer();
  const ends: (() => void)[] = [];
  const look = (): Promise<void> => new Promise((resolve) => ends.push(resolve));
  const end = async (): Promise<void> => {
    ends.at(-1)?.();
    await settle();
  };
  return { loop: new WakeLoop({ look, timer, pollMs: 1_000 }), waits, pass, end, ends };
}

describe('the loop', () => {
  it('calls at once, and again after each interval', async () => {
    const { loop, waits, pass, end, ends } = makeLoop();
    loop.start();
    loop.start();
    expect(waits).toEqual([0]);

    await pass();
    await end();
    await pass();
    await end();

    expect(ends).toHaveLength(2);
    expect(waits).toEqual([0, 1_000, 1_000]);
  });

  it('calls once more after a running call, however often it was woken, and never twice at a time', async () => {
    const { loop, pass, end, ends } = makeLoop();
    loop.start();
    await pass();
    for (let count = 0; count < 3; count += 1) loop.wake();
    await settle();
    expect(ends).toHaveLength(1);

    await end();
    expect(ends).toHaveLength(2);
    await end();
    expect(ends).toHaveLength(2);
    loop.wake();
    await settle();

    expect(ends).toHaveLength(3);
  });

  it('makes no call before its start or after its stop', async () => {
    const { loop, pass, end, ends } = makeLoop();
    loop.wake();
    await settle();
    expect(ends).toHaveLength(0);

    loop.start();
    await pass();
    loop.wake();
    let isStopped = false;
    const stopped = loop.stop().then(() => {
      isStopped = true;
    });
    await settle();
    expect(isStopped).toBe(false);
    await end();
    await stopped;
    loop.wake();
    loop.start();
    await pass();

    expect(ends).toHaveLength(1);
  });

  it('makes no further call if it is stopped while it waits', async () => {
    const { loop, pass, end, ends } = makeLoop();
    loop.start();
    await pass();
    await end();

    await loop.stop();
    await pass();

    expect(ends).toHaveLength(1);
  });
});

describe('a sleep', () => {
  it('ends after its time, or as soon as its signal is aborted', async () => {
    const { timer, waits, pass } = makeTimer();
    const sleep = createSleep(timer);
    const ended: string[] = [];
    const abort = new AbortController();

    void sleep(10).then(() => ended.push('time'));
    void sleep(20, abort.signal).then(() => ended.push('signal'));
    await settle();
    expect(ended).toEqual([]);
    await pass();
    abort.abort();
    await settle();
    await sleep(30, abort.signal);

    expect(ended).toEqual(['time', 'signal']);
    expect(waits).toEqual([10, 20]);
  });

  it('uses system timers that can be cancelled', async () => {
    const calls: string[] = [];
    const cancel = systemTimer(() => void calls.push('cancelled'), 0);
    cancel();

    await new Promise<void>((resolve) => systemTimer(resolve, 1));

    expect(calls).toEqual([]);
  });
});
