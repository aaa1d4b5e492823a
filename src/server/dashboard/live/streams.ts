import { PassThrough, type Readable } from 'node:stream';
import type { ChangeWatch } from './change-watch.ts';

/** Open streams of server-sent events. An event says that something changed, and nothing about it. */
export interface LiveStreams {
  /** Opens the stream of a session, and ends its earlier one. Undefined: there are as many as may be. */
  open(sessionId: string): Readable | undefined;
  /** Ends all, and opens no more. */
  close(): void;
}

/** Streams of a process: each holds a connection, and loads a page after each change. */
const maxStreams = 200;
/** Proxies close a connection that is silent for a minute. */
const heartbeatMs = 15_000;
/** A stream ends after this time; the browser opens another one, for which the session is checked again. */
const streamLifeMs = 300_000;
/** Wait of the browser before it opens a stream again. */
const retryMs = 3_000;

/** Creates the streams of a process. */
export function createLiveStreams(watch: ChangeWatch): LiveStreams {
  /** Session id → end of its stream. */
  const endings = new Map<string, (last?: string) => void>();
  let isClosed = false;

  return {
    open(sessionId) {
      // A second window takes the stream over: without `replaced`, the first one would take it back.
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
  // Browsers drop an event without data.
  return `event: ${name}\ndata: 1\n\n`;
}
