import { createHmac, randomUUID } from 'node:crypto';
import { eventFamilies, type Family } from '../../src/contract/events/event-families.ts';
import { authorization, secret } from './harness.ts';

const user = { id: 7, login: 'ada', username: 'ada' };
const repository = {
  id: 4_711,
  name: 'elsewhere',
  full_name: 'acme/elsewhere',
  default_branch: 'main',
  owner: { id: 3, login: 'acme' },
};
const subject = { id: 70, number: 7, title: 'One', state: 'open', user };
const zeros = '0'.repeat(40);

/** Values of all fields that the body of some event type requires. */
const members: Readonly<Record<string, unknown>> = {
  repository,
  number: 7,
  issue: subject,
  pull_request: { ...subject, base: { ref: 'main', sha: zeros }, head: { ref: 'work', sha: zeros } },
  comment: { id: 9, body: 'Yes.', user },
  ref: 'refs/heads/work',
  ref_type: 'branch',
  before: zeros,
  after: '1'.repeat(40),
  forkee: repository,
  release: { id: 1, tag_name: 'v1' },
  page: 'Home',
  package: { id: 1, type: 'npm', name: 'x', version: '1.0.0', repository },
  sha: zeros,
  state: 'success',
  workflow_run: { id: 1, head_sha: zeros, status: 'completed' },
  workflow_job: { id: 1, name: 'test', status: 'completed' },
  run: { id: 1, title: 'test', status: 'failure', repository },
};

export type MadeDelivery = {
  readonly eventType: string;
  readonly activity: string;
  readonly payload: Record<string, unknown>;
};

/** Returns the fields that a body of an event family requires. */
export function requiredMembers({ members }: (typeof eventFamilies)[Family]): readonly string[] {
  return Object.entries(members).flatMap(([name, kind]) => (kind.startsWith('optional') ? [] : [name]));
}

/** Creates a delivery of every Event-Type and activity, with the fields that the event family requires. */
export function makeDeliveries(): readonly MadeDelivery[] {
  return Object.values(eventFamilies).flatMap((row) =>
    Object.entries(row.types).flatMap(([eventType, activities]) =>
      (activities.length === 0 ? [''] : activities).map((activity) => ({
        eventType,
        activity,
        payload: {
          ...Object.fromEntries(requiredMembers(row).map((member) => [member, members[member]])),
          ...(requiredMembers(row).includes('action') || activity !== ''
            ? { action: activity || 'failure' }
            : {}),
          sender: user,
        },
      })),
    ),
  );
}

/** Sends a body as a forge does, by default signed and with the authorization header. */
export async function post(
  url: string,
  made: { eventType: string; payload: unknown },
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = JSON.stringify(made.payload, null, 2);
  return fetch(`${url}/webhook`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-gitea-delivery': randomUUID(),
      'x-gitea-event': made.eventType,
      'x-gitea-event-type': made.eventType,
      'x-gitea-signature': createHmac('sha256', secret).update(body).digest('hex'),
      authorization,
      ...headers,
    },
  });
}
