import { createHmac, randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Default `Authorization` header and secret of a hook; a drill may use others. */
export const authorization = 'Bearer only-for-drills-on-loopback';
export const secret = 'only-for-drills-on-loopback';

/** Returns the headers of a delivery, signed like a forge does. */
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
/** `status` is 0 if the connection broke before the response; `text` is then the reason. */
export type Answer = { readonly status: number; readonly text: string };

/** Keep-alive connections. */
export interface Sender {
  send(url: string, sent: Sent): Promise<Answer>;
  close(): void;
}

/** Creates the connections, at most this many. */
export function createSender(maxSockets: number = Number.POSITIVE_INFINITY): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets });
  return {
    send: (url, { method = 'POST', headers, body }) =>
      new Promise((resolve) => {
        const sent = request(url, { agent, method, headers }, (answer) => {
          const chunks: Buffer[] = [];
          // The status line is the acknowledgement: it counts even if the connection ends before the body.
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

/** Measurements of the sent deliveries. */
export type LoadResult = {
  readonly sent: number;
  /** Responses other than 202, and errors, each with how often it occurred. */
  readonly others: ReadonlyMap<string, number>;
  readonly p99Ms: number;
  readonly maxMs: number;
};

type LoadOptions = {
  readonly url: string;
  readonly perSecond: number;
  readonly seconds: number;
  /** Returns the event type and body of the delivery with this number. */
  readonly make: (number: number) => { readonly eventType: string; readonly body: string };
  readonly signal: AbortSignal;
};

/**
 * Sends deliveries at a fixed rate, without waiting for the responses to earlier ones: a receiver that stalls delays
 * all deliveries that are due meanwhile. Each is measured from the time at which it was due.
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

/** Describes responses other than 202, for a figure. */
export function describeOthers(others: LoadResult['others']): string {
  const all = [...others].map(([answer, count]) => `${count} × ${answer}`);
  return all.length === 0 ? '' : `, not acknowledged: ${all.join(', ')}`;
}

/** Returns the smallest value that this share of the values does not exceed; NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)] ?? Number.NaN;
}
