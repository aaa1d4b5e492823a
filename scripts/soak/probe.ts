import { monitorEventLoopDelay } from 'node:perf_hooks';
import { canReadMemory, residentBytes } from '../harness/process-memory.ts';

/** What `reeve serve` reports of itself. */
export type ProbeSample = {
  /** What is in use after a garbage collection. */
  readonly heapBytes: number;
  /** What V8 has reserved for the heap: its free parts count, too. */
  readonly committedBytes: number;
  /** Memory of buffers and of the libraries below Node. */
  readonly externalBytes: number;
  readonly rssBytes: number;
  /** The longest time that the event loop was held up since the last sample. */
  readonly delayMs: number;
};

/**
 * `aheadMs`: how far the wall clock of the process is ahead from now on. `returnFreePages`: V8 returns the free pages of its heap,
 * which it otherwise keeps for the next objects, to the system. Each is answered with a sample.
 */
export type ProbeQuestion = { readonly aheadMs: number } | 'returnFreePages';

type Collect = (options?: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

// Loaded by Node before the program, which knows nothing of it: it answers each question with a sample, and moves the wall clock.
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
  // Read at once: the next delivery takes pages again.
  const { heapUsed, heapTotal, external, rss } = process.memoryUsage();
  process.send?.({
    heapBytes: heapUsed,
    committedBytes: heapTotal,
    externalBytes: external,
    rssBytes: canReadMemory ? residentBytes(process.pid) : rss,
    delayMs,
  } satisfies ProbeSample);
  // The collection that the question caused is none of the process's own.
  delay.reset();
});
// The channel keeps nothing alive: the process ends as it does without.
process.channel?.unref();
