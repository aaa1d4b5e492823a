import { PassThrough, type Readable } from 'node:stream';
import { messageOf } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { DashboardData } from './data.ts';

/** Notifies listeners that pages may have changed. */
interface ChangeWatch {
  /** Calls `onChange` after each change until the returned function is called. */
  listen(onChange: () => void): () => void;
  stop(): void;
}

/** Interval between comparisons. All streams of a process share one comparison. */
const pollMs = 2_000;

/**
 * Creates the watch. It compares counts and newest rows in the store, where other processes write too, and reads
 * nothing while it has no listeners.
 */
export function createChangeWatch(data: DashboardData, log: Log): ChangeWatch {
  const listeners = new Set<() => void>();
  let seen: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  const look = async (): Promise<void> => {
    try {
      const now = await readMark(data);
      if (seen !== undefined && now !== seen) for (const onChange of listeners) onChange();
      seen = now;
    } catch (error) {
      // The pages themselves show store errors.
      log.debug({ error: messageOf(error) }, 'the comparison for live pages failed');
    }
    // One comparison at a time, however slow the store is.
    if (listeners.size > 0) timer = setTimeout(look, pollMs).unref();
    else [timer, seen] = [undefined, undefined];
  };

  return {
    listen(onChange) {
      listeners.add(onChange);
      timer ??= setTimeout(look, 0).unref();
      return () => void listeners.delete(onChange);
    },
    stop() {
      listeners.clear();
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** Returns a text that changes whenever the first row of a list, or a count, changes. */
async function readMark({ store, rules }: DashboardData): Promise<string> {
  const one = { limit: 1 };
  const { items: deliveries } = await store.listDeliveries(one);
  const { items: runs } = await store.listRuns(one);
  return JSON.stringify([
    await store.counts(),
    deliveries.map(({ id, state }) => [id, state]),
    runs.map(({ id }) => id),
    await store.listAudit(one),
    await store.listPauses(),
    await store.listQueueHistory(one),
    rules().map(({ id, line, mode, coverage }) => [id, line, mode, coverage]),
  ]);
}

/** Open streams of server-sent events. An event contains no data; it only signals that something changed. */
export interface LiveStreams {
  /** Opens the stream of a session and ends its earlier one; undefined if the maximum number of streams is reached. */
  open(sessionId: string): Readable | undefined;
  /** Ends all streams and opens no more. */
  close(): void;
}

/** Maximum number of streams per process. Each stream holds a connection and loads a page after each change. */
const maxStreams = 200;
/** Shorter than the minute of silence after which proxies close a connection. */
const heartbeatMs = 15_000;
/** Lifetime of a stream. The browser then opens another one, for which the session is checked again. */
const streamLifeMs = 300_000;
/** Time that the browser waits before it opens a stream again. */
const retryMs = 3_000;

/** Creates the streams of a process. */
export function createLiveStreams(watch: ChangeWatch): LiveStreams {
  /** Functions that end a stream, by session id. */
  const endings = new Map<string, (last?: string) => void>();
  let isClosed = false;

  return {
    open(sessionId) {
      // A second window takes over the stream: without `replaced`, the first one would reconnect and take it back.
      endings.get(sessionId)?.(eventText('replaced'));
      if (isClosed || endings.size >= maxStreams) return undefined;
      const stream = new PassThrough();
      const heartbeat = setInterval(() => stream.write(':\n\n'), heartbeatMs).unref();
      const end = (last = ''): void => {
        clearInterval(heartbeat);
        clearTimeout(life);
        forget();
        if (endings.get(sessionId) === end) endings.delete(sessionId);
        if (!stream.writableEnded) stream.end(last);
      };
      const life = setTimeout(end, streamLifeMs, '').unref();
      const forget = watch.listen(() => stream.write(eventText('changed')));
      endings.set(sessionId, end);
      stream.on('close', () => end()).on('error', () => end());
      stream.write(`retry: ${retryMs}\n\n`);
      return stream;
    },
    close() {
      isClosed = true;
      for (const end of endings.values()) end();
      watch.stop();
    },
  };
}

function eventText(name: 'changed' | 'replaced'): string {
  // Browsers drop events without data.
  return `event: ${name}\ndata: 1\n\n`;
}
