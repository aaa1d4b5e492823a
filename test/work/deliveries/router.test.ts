import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLog } from '../../../src/platform/log.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { RoutedEvents, Router } from '../../../src/work/deliveries/router.ts';
import { makeDelivery } from '../../store/make.ts';

let store: Store;
let isLeader: boolean;
let router: Router;
/** Callbacks of the pending timers. */
let pending: (() => void)[];

beforeEach(async () => {
  store = await openSqliteStore({ path: ':memory:', role: 'worker' });
  isLeader = false;
  pending = [];
  router = new Router({
    store: { ...store, isLeader: () => isLeader },
    events: new RoutedEvents(),
    log: silentLog,
    timer(run) {
      pending.push(run);
      return () => {};
    },
    onOverdue: () => {},
  });
});
afterEach(() => store.close());

const accept = async (): Promise<string> => (await store.accept(makeDelivery())).id;
const unroutedIds = async (): Promise<readonly string[]> => (await store.unrouted(100)).map(({ id }) => id);
/** Fires the pending timers, and runs the next check. */
const lookAgain = async (): Promise<void> => {
  for (const run of pending.splice(0)) run();
  await router.route('woken');
};

it('the leader routes new deliveries, and reads nothing after the end of an attempt', async () => {
  isLeader = true;
  const first = await accept();
  await router.route('woken');
  expect(await unroutedIds()).toEqual([first]);

  router.arrived();
  expect(await router.route('woken')).toBe(true);
  expect(await unroutedIds()).toEqual([]);
  expect(await router.route('woken')).toBe(false);
});

it('a delivery that arrives during a check of the leader is routed by the next check', async () => {
  isLeader = true;
  router.arrived();
  const looking = router.route('woken');
  router.arrived();
  await looking;
  await accept();

  expect(await router.route('woken')).toBe(true);
});

it('a process that does not lead leaves routing to the leader, and routes only what the leader left unrouted', async () => {
  const first = await accept();
  router.arrived();
  await router.route('woken');
  await lookAgain();
  expect(await unroutedIds()).toEqual([first]);
  // The leader routes the first delivery.
  await store.route([{ id: first, to: 'settled', reason: '' }]);
  const second = await accept();
  await lookAgain();
  expect(await unroutedIds()).toEqual([second]);

  await lookAgain();
  expect(await unroutedIds()).toEqual([]);
  await lookAgain();
  expect(pending).toEqual([]);
});

it('a process that does not lead checks at each interval, because a notification may be lost', async () => {
  await accept();
  await router.route('poll');
  await lookAgain();
  await lookAgain();

  expect(await unroutedIds()).toEqual([]);
});
