import type { Log } from '../../platform/log.ts';
import type { WorkerStore } from '../../store/leases.ts';
import { routeDelivery } from '../runs/route-delivery.ts';
import type { RoutedEvents } from './routed-events.ts';
import type { Timer } from './timer.ts';
import type { LookReason } from './wake-loop.ts';

/** Deliveries routed between two claims: parsing must not delay the lanes. */
const routingBatch = 200;
/** Between two looks at what the leader is to route: a delivery that it has left is routed by another process. */
const patienceMs = 250;

/** Gives accepted deliveries their lanes. */
export interface Router {
  /** Called when something may have been stored. */
  arrived(): void;
  /**
   * Routes the next accepted deliveries to their lanes, or ends them, and returns whether there may be more. Where processes
   * share the store, the leader does it, so that not all of them parse everything: the others do so if they are `asked` to, or
   * if the leader leaves a delivery as it is. After the end of an attempt (`woken`), only if something has arrived.
   */
  route(why: LookReason): Promise<boolean>;
}

export function createRouter(options: {
  readonly store: Pick<WorkerStore, 'unrouted' | 'route' | 'isLeader'>;
  /** Receives the events of the deliveries that got a lane. */
  readonly events: Pick<RoutedEvents, 'keep'>;
  readonly log: Log;
  readonly timer: Timer;
  /** Called when it is time for a look at what the leader was to route. */
  readonly onOverdue: () => void;
}): Router {
  const { store, events, log, timer, onOverdue } = options;
  let hasArrived = false;
  let isWaiting = false;
  let isOverdue = false;
  /** The oldest delivery that the leader was to route at the last look. */
  let leftId: string | undefined;

  const lookLater = (): void => {
    if (isWaiting) return;
    isWaiting = true;
    timer(() => {
      isWaiting = false;
      isOverdue = true;
      onOverdue();
    }, patienceMs);
  };
  /** Whether the leader has left a delivery as it was. */
  const hasLeft = async (): Promise<boolean> => {
    const before = leftId;
    leftId = (await store.unrouted(1))[0]?.id;
    if (leftId === undefined) return false;
    lookLater();
    return leftId === before;
  };
  const routeNext = async (): Promise<boolean> => {
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

  return {
    arrived() {
      hasArrived = true;
    },
    async route(why) {
      const isDue = hasArrived || why !== 'woken';
      hasArrived = false;
      if (why === 'asked' || (isDue && store.isLeader())) {
        const hasMore = await routeNext();
        // Something may have arrived meanwhile.
        hasArrived ||= hasMore;
        return hasMore;
      }
      if (isDue) lookLater();
      if (!isOverdue) return false;
      isOverdue = false;
      if (await hasLeft()) await routeNext();
      return false;
    },
  };
}
