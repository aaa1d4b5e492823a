import { monitorEventLoopDelay } from 'node:perf_hooks';
import { canReadMemory, residentBytes } from '../harness/process-memory.ts';

/** Data that `reeve serve` reports about itself. */
export type ProbeSample = {
  /** Heap in use after a garbage collection. */
  readonly heapBytes: number;
  /** Memory that V8 has reserved for the heap, including its free parts. */
  readonly committedBytes: number;
  /** Memory of buffers and of the libraries below Node. */
  readonly externalBytes: number;
  readonly rssBytes: number;
  /** Longest delay of the event loop since the last sample. */
  readonly delayMs: number;
};

/**
 * `aheadMs`: offset of the process's wall clock from now on. `returnFreePages`: V8 returns the free pages of its heap,
 * which it otherwise keeps for new objects, to the system. Each question is answered with a sample.
 */
export type ProbeQuestion = { readonly aheadMs: number } | 'returnFreePages';

type Collect = (options?: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

// Node loads this module before the program, which does not know about it. It answers each question with a sample, and
// moves the wall clock.
const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();
let aheadMs = 0;
const SystemDate = Date;
globalThis.Date = new Proxy(SystemDate, {
  construct: (target, args) => {
    const given = args.length === 0 ? [target.now() + aheadMs] : args;
    return Reflect.construct(target, given) as Date;
  },
  get: (target, name) =>
    name === 'now' ? () => target.now() + aheadMs : (Reflect.get(target, name) as unknown),
});

process.on('message', (question: ProbeQuestion) => {
  const collect = globalThis.gc as Collect | undefined;
  if (collect === undefined) throw new Error('start this with --expose-gc');
  const delayMs = delay.max / 1e6;
  if (question === 'returnFreePages') {
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  } else {
    aheadMs = question.aheadMs;
    collect();
  }
  // Read at once, because the next delivery uses pages again.
  const { heapUsed, heapTotal, external, rss } = process.memoryUsage();
  process.send?.({
    heapBytes: heapUsed,
    committedBytes: heapTotal,
    externalBytes: external,
    rssBytes: canReadMemory ? residentBytes(process.pid) : rss,
    delayMs,
  } satisfies ProbeSample);
  // The collection caused by the question must not count as one of the process.
  delay.reset();
});
// The channel must not keep the process alive, so that it ends as usual.
process.channel?.unref();
