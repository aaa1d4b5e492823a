import { z } from 'zod';
import type { Family } from '../../contract/events/event-families.ts';
import { type Event, laneOf, parseDelivery, parseEvent } from '../../contract/events/events.ts';
import { parsePayload } from '../../contract/events/parse-payload.ts';
import { readMember } from '../../contract/events/payload-members.ts';
import type { RepositoryRef, Subject } from '../../contract/events/subject.ts';
import { messageOf } from '../../platform/errors.ts';
import { digestOfBody } from '../../store/fingerprint.ts';
import { type DeliveryWithBody, type EventSummary, foundEventKind, type Routing } from '../../store/store.ts';

/** Returns a stored delivery as an event. Throws `delivery-malformed`. */
export function eventOf(delivery: { readonly eventType: string; readonly body: Uint8Array }): Event {
  return parseDelivery(delivery.eventType, parsePayload(delivery.body));
}

/** Route of a delivery, with its event if the delivery is handled as an event. */
export type RoutedDelivery = { readonly routing: Routing; readonly event?: Event };

/**
 * Returns the route of an accepted delivery. The delivery gets its lane; or is dead, with the error that would have led
 * to a 400 if the delivery had been parsed before the response; or is settled, if no rule can match its event type.
 */
export function routeDelivery(
  delivery: Pick<DeliveryWithBody, 'id' | 'door' | 'eventType' | 'body' | 'lane'>,
): RoutedDelivery {
  const { id, lane } = delivery;
  if (delivery.door !== 'webhook') {
    const summary = delivery.eventType === foundEventKind ? { summary: summarizeFound(delivery.body) } : {};
    const of = { ...repositoryOfLane(lane), ...summary };
    return { routing: { id, to: 'lane', lane: lane ?? `job ${delivery.eventType}`, ...of } };
  }
  try {
    const event = eventOf(delivery);
    const { repository } = event;
    const about =
      repository === undefined
        ? {}
        : { repositoryId: repository.id, repository: `${repository.owner}/${repository.name}` };
    const route = { lane: laneOf(event), summary: summarizeEvent(event), ...about };
    if (event.family === undefined) {
      return { routing: { id, to: 'settled', reason: `unknown kind ${delivery.eventType}`, ...route } };
    }
    return { routing: { id, to: 'lane', digest: digestOfBody(delivery.body), ...route }, event };
  } catch (error) {
    // A parser error concerns only this delivery, and the next one must still get its lane.
    return { routing: { id, to: 'dead', reason: messageOf(error) } };
  }
}

/**
 * Returns the repository of a job in the lane of one repository or pull request (`7#12`), so that its runs are found as
 * runs about this repository. The name is omitted: without it, only operators see the job.
 */
function repositoryOfLane(lane = ''): { readonly repositoryId?: number } {
  const id = /^(?:concerned )?(\d{1,15})(?:#\d+)?$/.exec(lane)?.[1];
  return id === undefined ? {} : { repositoryId: Number(id) };
}

/** Maximum length of a text of a summary. */
const maxSummaryChars = 200;

/** Members of the payload that contain the title of an event without an issue or pull request, by family. */
const titleMembers: Readonly<Partial<Record<Family, readonly (readonly string[])[]>>> = {
  release: [
    ['release', 'name'],
    ['release', 'tag_name'],
  ],
  fork: [['forkee', 'full_name']],
  wiki: [['page']],
  package: [['package', 'name']],
  status: [['context']],
  workflow_run: [
    ['workflow_run', 'display_title'],
    ['workflow_run', 'name'],
  ],
  workflow_job: [['workflow_job', 'name']],
  action_run_failure: [['run', 'title']],
  action_run_recover: [['run', 'title']],
  action_run_success: [['run', 'title']],
};

/** Returns what an event is about, for lists of deliveries. */
export function summarizeEvent(event: Event): EventSummary {
  const { activity, sender } = event;
  const title = shortLine(titleOf(event));
  const actor = shortLine(sender?.login);
  return {
    ...(activity === '' ? {} : { activity: activity.slice(0, maxSummaryChars) }),
    ...(title === undefined ? {} : { title }),
    ...(actor === undefined ? {} : { actor }),
  };
}

/** Returns what an event that was found by reading the forge is about. */
function summarizeFound(body: Uint8Array): EventSummary {
  try {
    const event = caughtUpEvent(parsePayload(body));
    const { activity = '', ...rest } = summarizeEvent(event);
    const { family, eventType, repository, subject } = event;
    const number = subject?.index === undefined ? '' : `#${subject.index}`;
    return {
      ...rest,
      activity: [family ?? eventType, activity].filter(Boolean).join(' '),
      ...(repository && { item: `${repository.owner}/${repository.name}${number}` }),
    };
  } catch {
    // The job reports the error when it is handled.
    return {};
  }
}

function titleOf({ family, payload, subject }: Event): unknown {
  const read = (...path: readonly string[]): unknown =>
    path.reduce<unknown>((holder, name) => readMember(holder, name), payload);
  if (subject?.ref !== undefined) {
    const name = `${subject.isTag ? 'tag' : 'branch'} ${subject.ref}`;
    if (family !== 'push') return `${name} ${family === 'create' ? 'created' : 'deleted'}`;
    const message = shortLine(read('head_commit', 'message'));
    return message === undefined ? name : `${subject.ref}: ${message}`;
  }
  const ofFamily = (family && titleMembers[family]) ?? [];
  const found = [
    ...ofFamily.map((path) => read(...path)),
    read('pull_request', 'title'),
    read('issue', 'title'),
  ];
  return found.find((one) => typeof one === 'string' && one.trim() !== '');
}

/** Returns the first line of a text, shortened; undefined if there is none. */
function shortLine(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  const [line = ''] = text.trim().split(/\r?\n/, 1);
  // The beginning is enough to cut a text of any size.
  const letters = [...line.slice(0, 2 * maxSummaryChars + 2)];
  const short =
    letters.length > maxSummaryChars ? `${letters.slice(0, maxSummaryChars - 1).join('')}…` : line;
  return short === '' ? undefined : short.toWellFormed();
}

const CaughtUp = z.object({ eventType: z.string(), payload: z.record(z.string(), z.unknown()) });

/** Returns the event of a job that catch-up has stored. */
export function caughtUpEvent(payload: unknown): Event {
  const { eventType, payload: whole } = CaughtUp.parse(payload);
  return parseEvent(eventType, whole);
}

/** Returns the event of a stored delivery, or of a job that catch-up stored in its place. */
export function storedEvent(delivery: DeliveryWithBody): Event {
  return delivery.door === 'webhook' ? eventOf(delivery) : caughtUpEvent(parsePayload(delivery.body));
}

/** Returns an event for a job about a pull request. It contains only the subject. */
export function eventlessOf(repository: RepositoryRef, index: number, kind: string): Event {
  const subject: Subject = { kind: 'pull_request', repository, index };
  const nothing = { activity: '', payload: {}, ownerId: undefined, sender: undefined };
  return { ...nothing, eventType: kind, family: 'pull_request', repository, subject };
}
