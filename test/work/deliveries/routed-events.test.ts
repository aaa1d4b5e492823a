import { describe, expect, it } from 'vitest';
import { RoutedEvents } from '../../../src/work/deliveries/router.ts';
import { eventOf } from '../../../src/work/runs/route-delivery.ts';

/** Returns a push whose body has at least this many bytes. */
const makePush = (id: string, bytes: number) => {
  const about = { repository: { id: 5, full_name: 'acme/r5' }, sender: { id: 1, login: 'ada' } };
  const push = JSON.stringify({ ref: 'refs/heads/main', before: '0', after: '1', ...about });
  return { id, eventType: 'push', body: Buffer.from(push.padEnd(bytes)) };
};
const makePushes = (count: number, bytes: number) =>
  Array.from({ length: count }, (_, index) => {
    const delivery = makePush(`${index}`, bytes);
    return { delivery, event: eventOf(delivery) };
  });

describe('events of routed deliveries', () => {
  it('are returned once, and are parsed again after that', () => {
    const events = new RoutedEvents();
    const delivery = makePush('1', 500);
    const event = eventOf(delivery);
    events.keep(delivery.id, delivery.body.byteLength, event);

    expect(events.take(delivery)).toBe(event);
    expect(events.take(delivery)).not.toBe(event);
    expect(events.take(delivery)).toEqual(event);
  });

  it('are kept in order up to a total size of their bodies, and free their space when taken', () => {
    const events = new RoutedEvents(100_000);
    const pushes = makePushes(50, 9_000);
    const keptOf = (): number[] => {
      for (const { delivery, event } of pushes) events.keep(delivery.id, delivery.body.byteLength, event);
      return pushes.flatMap(({ delivery, event }, index) => (events.take(delivery) === event ? [index] : []));
    };

    expect(keptOf()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(keptOf()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('are limited in number, however small their bodies are', () => {
    const events = new RoutedEvents(100_000);
    const pushes = makePushes(1_000, 0);
    for (const { delivery, event } of pushes) events.keep(delivery.id, delivery.body.byteLength, event);

    const kept = pushes.filter(({ delivery, event }) => events.take(delivery) === event);

    expect(kept.length).toBeLessThan(98);
    expect(kept.length).toBeGreaterThan(50);
  });
});
