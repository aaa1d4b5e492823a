import { z } from 'zod';
import { type Event, parseEvent } from '../../contract/events/events.ts';
import { parsePayload } from '../../contract/events/parse-payload.ts';
import type { RepositoryRef, Subject } from '../../contract/events/subject.ts';
import type { DeliveryWithBody } from '../../store/store.ts';
import { eventOf } from './route-delivery.ts';

const CaughtUp = z.object({ eventType: z.string(), payload: z.record(z.string(), z.unknown()) });

/** Returns the event of a job that catching up has stored. */
export function caughtUpEvent(payload: unknown): Event {
  const { eventType, payload: whole } = CaughtUp.parse(payload);
  return parseEvent(eventType, whole);
}

/** Returns the event of a stored delivery, or of a job that catching up has stored in its place. */
export function storedEvent(delivery: DeliveryWithBody): Event {
  return delivery.door === 'webhook' ? eventOf(delivery) : caughtUpEvent(parsePayload(delivery.body));
}

/** An event of a job about a pull request: it says where to look and nothing else. */
export function eventlessOf(repository: RepositoryRef, index: number, kind: string): Event {
  const subject: Subject = { kind: 'pull_request', repository, index };
  const nothing = { activity: '', payload: {}, ownerId: undefined, sender: undefined };
  return { ...nothing, eventType: kind, family: 'pull_request', repository, subject };
}
