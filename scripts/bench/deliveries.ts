import { randomUUID } from 'node:crypto';
import type { Store } from '../../src/store/store.ts';
import { headersOf } from '../harness/sender.ts';

export type WebhookRequest = { method: 'POST'; headers: Record<string, string>; body: string };

/**
 * Returns a push of about 8 KB with the headers that a forge sends. Each push is different, so none counts as a repeat.
 */
export function makeRequest(repositoryId = 7): WebhookRequest {
  const uuid = randomUUID();
  const message = 'a commit message of ordinary length';
  const commit = { id: uuid, message, added: [], removed: [], modified: ['src/a.ts'] };
  const owner = { id: 3, login: 'acme' };
  const body = JSON.stringify({
    ref: 'refs/heads/main',
    before: uuid,
    after: uuid,
    commits: Array.from({ length: 52 }, () => commit),
    repository: { id: repositoryId, name: 'tool', full_name: 'acme/tool', owner },
    sender: { id: 5, login: 'ada' },
  });
  const own = headersOf(body, 'push');
  const headers = {
    ...own,
    'x-github-delivery': own['x-gitea-delivery'] ?? '',
    'x-github-event': 'push',
    'x-hub-signature-256': `sha256=${own['x-gitea-signature']}`,
  };
  return { method: 'POST', headers, body };
}

/** Number of repositories, and of issues in each of them: 1,000 lanes together. */
const repositories = 50;
const issues = 20;

/** An event of about 1 KB. */
export type BacklogEvent = {
  readonly repository: { readonly id: number };
  readonly issue: { readonly number: number };
};

/** Returns the event with this number, starting at 0. Consecutive events are in different lanes. */
export function backlogEvent(number: number): BacklogEvent {
  const index = (Math.floor(number / repositories) % issues) + 1;
  return {
    action: 'edited',
    number: index,
    issue: { number: index },
    repository: { id: (number % repositories) + 1, full_name: 'acme/tool', owner: { id: 1 } },
    sender: { id: 1, login: 'ada' },
    at: number,
    pad: 'x'.repeat(1_000),
  } as BacklogEvent;
}

/** Stores one delivery. */
export function acceptOne(store: Store, eventType: string, body: string): Promise<unknown> {
  const about = { uuid: randomUUID(), eventType, entry: 'bench', contentType: 'application/json' };
  return store.accept({ ...about, receivedAt: new Date(), body: Buffer.from(body) });
}

/** Stores this many deliveries, a thousand at a time. */
export async function storeBacklog(store: Store, deliveries: number): Promise<void> {
  for (let from = 0; from < deliveries; from += 1_000) {
    const events = Array.from({ length: Math.min(1_000, deliveries - from) }, (_, at) =>
      backlogEvent(from + at),
    );
    await Promise.all(events.map((event) => acceptOne(store, 'issues', JSON.stringify(event))));
  }
}
