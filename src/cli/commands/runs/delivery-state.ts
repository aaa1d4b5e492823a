import type { Delivery } from '../../../store/store.ts';

/** Returns why a delivery has no run, or is not handled yet, as the end of a sentence. */
export function whyNoRun({ state, reason, copyOf, repeatOf, retryAt }: Delivery): string {
  if (copyOf !== undefined) {
    return `it is a duplicate of delivery ${copyOf}, which came within a minute before; see reeve explain ${copyOf}`;
  }
  const why = reason ?? 'the reason is not recorded';
  if (state === 'dead') return `it was given up: ${why}`;
  if (state === 'settled') return repeatOf === undefined ? why : `${why} (it repeats delivery ${repeatOf})`;
  if (state === 'claimed') return 'it is being handled now';
  const next = retryAt === undefined ? '' : `, next attempt at ${retryAt.toISOString()}`;
  return reason === undefined ? `it waits for its turn${next}` : `it waits: ${reason}${next}`;
}

/** Returns why redriving a delivery does nothing; undefined for a dead one. */
export function whyNotDead(delivery: Delivery): string | undefined {
  if (delivery.state === 'dead') return undefined;
  if (delivery.state !== 'settled') return `${whyNoRun(delivery)}; only dead deliveries are redriven`;
  const result = delivery.reason === undefined ? 'it was handled' : `it was handled: ${delivery.reason}`;
  return `${result}; reeve replay ${delivery.id} shows what the current rules would do`;
}
