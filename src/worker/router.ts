import { routeDelivery } from '../handlers/route-delivery.ts';
import type { Log } from '../log.ts';
import type { WorkerStore } from '../store/lease.ts';
import type { RoutedEvents } from './routed-events.ts';

/** Deliveries routed between two claims: parsing must not delay the lanes. */
const routingBatch = 200;

/**
 * Returns a function that routes the next accepted deliveries to their lanes, or ends them, and returns whether there may be
 * more.
 */
export function createRouter(options: {
  readonly store: Pick<WorkerStore, 'unrouted' | 'route'>;
  /** Receives the events of the deliveries that got a lane. */
  readonly events: Pick<RoutedEvents, 'keep'>;
  readonly log: Log;
}): () => Promise<boolean> {
  const { store, events, log } = options;
  return async () => {
    const deliveries = await store.unrouted(routingBatch);
    if (deliveries.length === 0) return false;
    const routed = deliveries.map((delivery) => ({ delivery, ...routeDelivery(delivery) }));
    await store.route(routed.map(({ routing }) => routing));
    for (const { delivery, routing, event } of routed) {
      if (event !== undefined) events.keep(delivery, event);
      if (routing.to !== 'dead') continue;
      log.warn({ delivery: delivery.id, reason: routing.reason }, 'a delivery is malformed');
    }
    return true;
  };
}
