import { ReeveError } from '../../../platform/errors.ts';
import { createObjectReader, type ObjectReader } from './objects.ts';
import type { Git } from './process.ts';

/** The reader processes of all repositories: a limited number, each kept while its repository is in use. */
interface ReaderPool {
  /** Returns the reader of one repository. Its process starts when a request arrives and a slot is free. */
  of(id: number, folder: string): ObjectReader;
  /** Ends the process of a repository; its pending requests fail. */
  drop(id: number): void;
  /** Ends all processes; further requests fail. */
  close(): void;
}

type ReaderPoolOptions = {
  /** Maximum concurrent processes. Default: 24. */
  readonly maxProcesses?: number;
  /** Idle time in milliseconds after which a process ends. Default: 30,000. */
  readonly idleMs?: number;
  /** Called when the process of a repository ends. */
  readonly onEnd?: (id: number) => void;
};

/** `process` is one `git cat-file`; `pending` counts its pending requests. */
type PooledProcess = { readonly process: Process; readonly timer: NodeJS.Timeout; pending: number };
type Process = ReturnType<typeof createObjectReader>;

/** Creates the pool. Only idle processes are ended to make room, least recently used first. */
export function createReaderPool(git: Git, options: ReaderPoolOptions = {}): ReaderPool {
  const { maxProcesses = 24, idleMs = 30_000, onEnd } = options;
  /** Processes by repository id, ordered by last request. */
  const entries = new Map<number, PooledProcess>();
  const waiting: (() => void)[] = [];
  let isClosed = false;

  function drop(id: number): void {
    const entry = entries.get(id);
    if (entry === undefined) return;
    clearTimeout(entry.timer);
    entries.delete(id);
    entry.process.close();
    onEnd?.(id);
    waiting.shift()?.();
  }

  function hasPlace(): boolean {
    if (entries.size < maxProcesses) return true;
    for (const [id, { pending }] of entries) {
      if (pending > 0) continue;
      drop(id);
      return true;
    }
    return false;
  }

  function add(id: number, folder: string): PooledProcess {
    const timer = setTimeout(() => {
      if (entry.pending === 0) drop(id);
      else timer.refresh();
    }, idleMs);
    timer.unref();
    const entry: PooledProcess = { process: createObjectReader(git, folder), timer, pending: 0 };
    return entry;
  }

  async function ask<T>(id: number, folder: string, question: (process: Process) => Promise<T>): Promise<T> {
    while (!isClosed && !entries.has(id) && !hasPlace()) {
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    if (isClosed) throw new ReeveError('git-failed', 'the repositories are closed');
    const entry = entries.get(id) ?? add(id, folder);
    entries.delete(id);
    entries.set(id, entry);
    entry.timer.refresh();
    entry.pending += 1;
    try {
      return await question(entry.process);
    } finally {
      entry.pending -= 1;
      if (entry.pending === 0) waiting.shift()?.();
    }
  }

  return {
    of: (id, folder) => ({
      info: (name) => ask(id, folder, (process) => process.info(name)),
      read: (name) => ask(id, folder, (process) => process.read(name)),
    }),
    drop,
    close() {
      isClosed = true;
      for (const id of [...entries.keys()]) drop(id);
      for (const wake of waiting.splice(0)) wake();
    },
  };
}
