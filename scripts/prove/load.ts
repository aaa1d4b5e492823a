import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { headersOf } from '../installation/credentials.ts';

/** What was measured of deliveries that were sent. */
export type LoadResult = {
  readonly sent: number;
  /** Answers other than 202, and errors, with their number. */
  readonly others: ReadonlyMap<string, number>;
  readonly p99Ms: number;
  readonly maxMs: number;
};

export type LoadOptions = {
  readonly url: string;
  readonly perSecond: number;
  readonly seconds: number;
  /** Returns the event type and body of the delivery with that number. */
  readonly make: (number: number) => { readonly eventType: string; readonly body: string };
  readonly signal: AbortSignal;
};

/**
 * Sends deliveries at a fixed rate, whether or not earlier ones are answered: a receiver that stands still delays all that are due
 * meanwhile. Each is measured from the instant at which it was due.
 */
export async function sendAtRate({
  url,
  perSecond,
  seconds,
  make,
  signal,
}: LoadOptions): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true });
  const others = new Map<string, number>();
  const times: number[] = [];
  const count = Math.round(perSecond * seconds);
  const beganMs = performance.now();
  const pending: Promise<void>[] = [];
  try {
    for (let number = 0; number < count; number += 1) {
      const dueMs = beganMs + (number * 1_000) / perSecond;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      signal.throwIfAborted();
      const { eventType, body } = make(number);
      const sent = sendOne(agent, `${url}/webhook`, eventType, body).then((answer) => {
        times.push(performance.now() - dueMs);
        if (answer !== '202') others.set(answer, (others.get(answer) ?? 0) + 1);
      });
      pending.push(sent);
    }
    await Promise.all(pending);
  } finally {
    agent.destroy();
  }
  times.sort((one, other) => one - other);
  return {
    sent: count,
    others,
    p99Ms: times[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN,
    maxMs: times.at(-1) ?? Number.NaN,
  };
}

/** Returns the status of the answer, or what happened instead. */
function sendOne(agent: Agent, url: string, eventType: string, body: string): Promise<string> {
  return new Promise((resolve) => {
    const sent = request(url, { agent, method: 'POST', headers: headersOf(body, eventType) }, (answer) => {
      answer.on('end', () => resolve(String(answer.statusCode))).resume();
    });
    sent.on('error', (error) => resolve(error.message)).end(body);
  });
}

/** Writes how answers other than 202 came, for a figure. */
export function describeOthers(others: LoadResult['others']): string {
  const all = [...others].map(([answer, count]) => `${count} × ${answer}`);
  return all.length === 0 ? '' : `, not acknowledged: ${all.join(', ')}`;
}
