import type { Event } from '../../contract/events/events.ts';
import { Slots } from '../../platform/cache/slots.ts';
import type { Log } from '../../platform/log.ts';
import type { WorkerStore } from '../../store/leases.ts';
import type { CommittedWork } from '../../store/store.ts';
import { eventOf, type RoutedDelivery, routeDelivery } from '../runs/route-delivery.ts';
import type { LookReason, Timer } from './wake-loop.ts';

/** Maximum number of deliveries routed between two claims, because parsing must not delay the lanes. */
const routingBatch = 200;
/**
 * Limits of the work that is parsed before the response to its sender, because more parsing would delay the response.
 */
const maxPrepared = 4;
const maxPreparedBytes = 65_536;
/** Interval of the checks for deliveries left to the leader. If the leader has not routed one, another process does. */
const patienceMs = 250;

/** Dependencies of the router. */
type RouterParts = {
  readonly store: WorkerStore;
  /** Receives the events of the deliveries that got a lane. */
  readonly events: RoutedEvents;
  readonly log: Log;
  readonly timer: Timer;
  /** Called when the deliveries left to the leader must be checked. */
  readonly onOverdue: () => void;
};

/** Assigns lanes to accepted deliveries. */
export class Router {
  readonly #parts: RouterParts;
  #hasArrived = false;
  /** Whether the store may have unrouted work that was not prepared, and which is routed first. */
  #isBehind = true;
  #prepared: PreparedDelivery[] = [];
  #isWaiting = false;
  #isOverdue = false;
  /** The oldest delivery left to the leader at the last check. */
  #leftId: string | undefined;

  constructor(parts: RouterParts) {
    this.#parts = parts;
  }

  /** Notes that work may have been stored. */
  arrived(): void {
    this.#hasArrived = true;
    this.#isBehind = true;
    // The prepared work is routed from the store, in order of acceptance.
    this.#prepared = [];
  }

  /**
   * Parses work that has just been committed, to be routed with the next claim. If there is too much of it, or other
   * work waits in the store, it is routed from the store instead.
   */
  prepare(work: readonly CommittedWork[]): void {
    if (this.#isBehind) {
      this.#hasArrived = true;
      return;
    }
    const bytes = work.reduce(
      (sum, { delivery }) => sum + (delivery?.body.length ?? Number.POSITIVE_INFINITY),
      0,
    );
    if (this.#prepared.length + work.length > maxPrepared || bytes > maxPreparedBytes) {
      this.arrived();
      return;
    }
    for (const { id, delivery } of work) {
      if (delivery === undefined) continue;
      const { eventType, body, route } = delivery;
      const routed = routeDelivery({ id, door: 'webhook', eventType, body, lane: route?.lane });
      this.#prepared.push({ id, bytes: body.length, ...routed });
    }
  }

  /** Returns the prepared work. Call `routed` once it is routed, or `arrived` if that failed. */
  takePrepared(): readonly PreparedDelivery[] {
    const prepared = this.#prepared;
    this.#prepared = [];
    return prepared;
  }

  /** Keeps the events of deliveries that were routed. */
  routed(deliveries: readonly PreparedDelivery[]): void {
    const { events, log } = this.#parts;
    for (const { id, bytes, routing, event } of deliveries) {
      if (event !== undefined) events.keep(id, bytes, event);
      if (routing.to === 'dead')
        log.warn({ delivery: id, reason: routing.reason }, 'a delivery is malformed');
    }
  }

  /**
   * Routes the next accepted deliveries to their lanes, or ends them, and returns whether there may be more. If
   * processes share the store, the leader routes, so that not every process parses every delivery; the others route if
   * they are `asked` to, or if the leader leaves a delivery unrouted. After the end of an attempt (`woken`), deliveries
   * are routed only if something has arrived.
   */
  async route(why: LookReason): Promise<boolean> {
    const isDue = this.#hasArrived || why !== 'woken';
    this.#hasArrived = false;
    if (why === 'asked' || (isDue && this.#parts.store.isLeader())) {
      const hasMore = await this.#routeNext();
      // A delivery may have arrived in the meantime.
      this.#hasArrived ||= hasMore;
      return hasMore;
    }
    if (isDue) this.#lookLater();
    if (!this.#isOverdue) return false;
    this.#isOverdue = false;
    if (await this.#hasLeft()) await this.#routeNext();
    return false;
  }

  #lookLater(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#parts.timer(() => {
      this.#isWaiting = false;
      this.#isOverdue = true;
      this.#parts.onOverdue();
    }, patienceMs);
  }

  /** Returns whether the leader has left a delivery unrouted. */
  async #hasLeft(): Promise<boolean> {
    const before = this.#leftId;
    this.#leftId = (await this.#parts.store.unrouted(1))[0]?.id;
    if (this.#leftId === undefined) return false;
    this.#lookLater();
    return this.#leftId === before;
  }

  async #routeNext(): Promise<boolean> {
    const { store } = this.#parts;
    this.#isBehind = false;
    // The store contains the prepared work.
    this.#prepared = [];
    const deliveries = await store.unrouted(routingBatch);
    if (deliveries.length === 0) return false;
    // Work that is committed from now on comes after the work that may be left in the store.
    this.#isBehind = true;
    this.#prepared = [];
    const routed = deliveries.map((delivery) => ({
      id: delivery.id,
      bytes: delivery.body.byteLength,
      ...routeDelivery(delivery),
    }));
    await store.route(routed.map(({ routing }) => routing));
    this.routed(routed);
    return true;
  }
}

/** A delivery with its route, and its event if it is handled as one. */
type PreparedDelivery = RoutedDelivery & { readonly id: string; readonly bytes: number };

type DeliveredBody = { readonly id: string; readonly eventType: string; readonly body: Uint8Array };

/** Maximum size of the bodies of all kept events. A parsed body needs a small multiple of its size. */
const standardMaxBytes = 2 * 2 ** 20;
/** Size of an entry without its body, which limits the number of small events. */
const entryBytes = 1_024;

/**
 * Events that were parsed for routing, until their first attempt: a process parses a delivery once. An event without room is not
 * kept, and no other is removed for it: lanes are first in, first out, so the events kept first are needed first. A retried or
 * redriven delivery is parsed again, because a retry may wait for hours.
 */
export class RoutedEvents {
  readonly #events = new Slots<{ readonly event: Event; readonly bytes: number }>();
  /** Slot of each event, by the id of its delivery. */
  readonly #slots = new Map<string, number>();
  #leftBytes: number;

  constructor(maxBytes = standardMaxBytes) {
    this.#leftBytes = maxBytes;
  }

  /** Keeps the event of a routed delivery if there is room. */
  keep(id: string, bodyBytes: number, event: Event): void {
    const bytes = bodyBytes + entryBytes;
    if (bytes > this.#leftBytes || this.#slots.has(id)) return;
    this.#slots.set(id, this.#events.add({ event, bytes }));
    this.#leftBytes -= bytes;
  }

  /** Returns the kept event of a delivery and removes it; parses the body if there is none. Throws `delivery-malformed`. */
  take(delivery: DeliveredBody): Event {
    const slot = this.#slots.get(delivery.id);
    const kept = slot === undefined ? undefined : this.#events.take(slot);
    if (kept === undefined) return eventOf(delivery);
    this.#slots.delete(delivery.id);
    this.#leftBytes += kept.bytes;
    return kept.event;
  }
}
