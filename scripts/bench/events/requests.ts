import { createHmac, randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { authorization, secret } from '../intake/secrets.ts';
import { type EventsForge, type IssuePayload, owner } from './fill.ts';

/** One HTTP request over kept connections. */
export type Sent = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};
/** Sends a request and reads its whole answer; rejects unless its status is below 300. */
export type Send = (url: string, sent: Sent) => Promise<string>;

/** Returns what sends requests over so many kept connections. */
export function keepConnections(maxSockets: number): { readonly send: Send; close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets });
  return {
    send: (url, { method, headers, body }) =>
      new Promise((resolve, reject) => {
        const sent = request(url, { agent, method, headers }, (answer) => {
          const chunks: Buffer[] = [];
          answer
            .on('data', (chunk: Buffer) => chunks.push(chunk))
            .on('error', reject)
            .on('end', () => {
              const text = Buffer.concat(chunks).toString();
              if ((answer.statusCode ?? 500) < 300) resolve(text);
              else reject(new Error(`${method} ${url}: ${answer.statusCode} ${text.slice(0, 200)}`));
            });
        });
        sent.on('error', reject).end(body);
      }),
    close: () => agent.destroy(),
  };
}

/** Returns the delivery of a new issue, signed as the forge signs. */
export function deliveryOf(
  { payload }: Pick<EventsForge, 'payload'>,
  repository: EventsForge['repositories'][number],
  number: number,
): Sent {
  const { id, name } = repository;
  const full = `${owner}/${name}`;
  const about: IssuePayload = {
    ...payload,
    number,
    issue: { ...payload.issue, id: id * 10_000 + number, number },
    repository: { ...payload.repository, id, name, full_name: full },
  };
  const body = JSON.stringify(about);
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    authorization,
    'x-gitea-delivery': randomUUID(),
    'x-gitea-event': 'issues',
    'x-gitea-event-type': 'issues',
    'x-gitea-signature': createHmac('sha256', secret).update(body).digest('hex'),
  };
  return { method: 'POST', headers, body };
}
