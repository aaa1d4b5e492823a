import { z } from 'zod';
import { type Event, parseEvent } from '../contract/events/events.ts';
import { parsePayload } from '../contract/events/parse-payload.ts';
import type { DeliveryWithBody } from '../store/store.ts';
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
