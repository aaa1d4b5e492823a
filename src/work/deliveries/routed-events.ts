import type { Event } from '../../contract/events/events.ts';
import { Slots } from '../../platform/cache/slots.ts';
import type { DeliveryWithBody } from '../../store/store.ts';
import { eventOf } from '../runs/route-delivery.ts';

type DeliveredBody = Pick<DeliveryWithBody, 'id' | 'eventType' | 'body'>;

/** Events that were parsed for routing, until their first attempt: a process parses a delivery once. */
export interface RoutedEvents {
  /** Keeps the event of a routed delivery if there is room. */
  keep(delivery: DeliveredBody, event: Event): void;
  /** Returns the kept event of a delivery and removes it; parses the body if there is none. Throws `delivery-malformed`. */
  take(delivery: DeliveredBody): Event;
}

/** Maximum size of the bodies of all kept events. A parsed body needs a small multiple of its size. */
const standardMaxBytes = 2 * 2 ** 20;
/** Size of an entry without its body: it limits the number of small events. */
const entryBytes = 1_024;

/**
 * Creates an empty collection. An event without room is not kept, and no other is removed for it: lanes are first in, first out,
 * so the events kept first are needed first. A retried or redriven delivery is parsed again, because a retry may wait for hours.
 */
export function createRoutedEvents(maxBytes = standardMaxBytes): RoutedEvents {
  const events = new Slots<{ readonly event: Event; readonly bytes: number }>();
  /** Slot of each event, by the id of its delivery. */
  const slots = new Map<string, number>();
  let leftBytes = maxBytes;
  return {
    keep({ id, body }, event) {
      const bytes = body.byteLength + entryBytes;
      if (bytes > leftBytes || slots.has(id)) return;
      slots.set(id, events.add({ event, bytes }));
      leftBytes -= bytes;
    },
    take(delivery) {
      const slot = slots.get(delivery.id);
      const kept = slot === undefined ? undefined : events.take(slot);
      if (kept === undefined) return eventOf(delivery);
      slots.delete(delivery.id);
      leftBytes += kept.bytes;
      return kept.event;
    },
  };
}
