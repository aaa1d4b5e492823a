import { createHmac, randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** The `Authorization` header and the secret of a hook, unless a drill has others. */
export const authorization = 'Bearer only-for-drills-on-loopback';
export const secret = 'only-for-drills-on-loopback';

/** Returns the headers of a delivery, signed as the forge signs. */
export function headersOf(
  body: string | Buffer,
  eventType: string,
  as: { readonly authorization: string; readonly secret: string } = { authorization, secret },
): Record<string, string> {
  return {
    'content-type': 'application/json',
    authorization: as.authorization,
    'x-gitea-delivery': randomUUID(),
    'x-gitea-event': eventType,
    'x-gitea-event-type': eventType,
    'x-gitea-signature': createHmac('sha256', as.secret).update(body).digest('hex'),
  };
}

export type Sent = {
  /** Default: POST. */
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
};
/** `status` is 0 where the connection broke before the answer; then `text` is the reason. */
export type Answer = { readonly status: number; readonly text: string };

/** Kept connections. */
export interface Sender {
  send(url: string, sent: Sent): Promise<Answer>;
  close(): void;
}

/** Creates the connections, at most so many. */
export function createSender(maxSockets: number = Number.POSITIVE_INFINITY): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets });
  return {
    send: (url, { method = 'POST', headers, body }) =>
      new Promise((resolve) => {
        const sent = request(url, { agent, method, headers }, (answer) => {
          const chunks: Buffer[] = [];
          // The status line is the acknowledgement: it counts where the connection ends before the body.
          const settle = (): void =>
            resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
          answer
            .on('data', (chunk: Buffer) => chunks.push(chunk))
            .on('error', settle)
            .on('end', settle);
        });
        sent.on('error', (error: NodeJS.ErrnoException) => {
          const connection = sent.reusedSocket ? 'a connection used before' : 'a new connection';
          resolve({ status: 0, text: `${error.code ?? error.message} on ${connection}` });
        });
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}

/** What was measured of deliveries that were sent. */
export type LoadResult = {
  readonly sent: number;
  /** Answers other than 202, and errors, with their number. */
  readonly others: ReadonlyMap<string, number>;
  readonly p99Ms: number;
  readonly maxMs: number;
};

type LoadOptions = {
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
export async function sendAtRate(options: LoadOptions): Promise<LoadResult> {
  const { url, perSecond, seconds, make, signal } = options;
  const sender = createSender();
  const others = new Map<string, number>();
  const times: number[] = [];
  const count = Math.round(perSecond * seconds);
  const beganMs = performance.now();
  const pending: Promise<void>[] = [];
  const sendOne = async (number: number, dueMs: number): Promise<void> => {
    const { eventType, body } = make(number);
    const { status, text } = await sender.send(`${url}/webhook`, {
      headers: headersOf(body, eventType),
      body,
    });
    times.push(performance.now() - dueMs);
    const other = status === 0 ? text : String(status);
    if (status !== 202) others.set(other, (others.get(other) ?? 0) + 1);
  };
  try {
    for (let number = 0; number < count; number += 1) {
      const dueMs = beganMs + (number * 1_000) / perSecond;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      signal.throwIfAborted();
      pending.push(sendOne(number, dueMs));
    }
    await Promise.all(pending);
  } finally {
    sender.close();
  }
  return { sent: count, others, p99Ms: percentile(times, 0.99), maxMs: percentile(times, 1) };
}

/** Writes how answers other than 202 came, for a figure. */
export function describeOthers(others: LoadResult['others']): string {
  const all = [...others].map(([answer, count]) => `${count} × ${answer}`);
  return all.length === 0 ? '' : `, not acknowledged: ${all.join(', ')}`;
}

/** Returns the least value that such a share of the values does not exceed; NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)] ?? Number.NaN;
}
