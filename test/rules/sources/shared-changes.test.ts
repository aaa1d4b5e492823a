import { expect, it } from 'vitest';
import { systemClock } from '../../../src/platform/clock.ts';
import { createSharedChanges } from '../../../src/rules/sources/rule-files.ts';

/** Sets up two processes with one store, and a clock that the test controls. */
function setUp() {
  const stored = new Map<string, unknown>();
  let reads = 0;
  let nowMs = 0;
  const pins = {
    async recall(key: string) {
      reads += 1;
      return stored.get(key);
    },
    async remember(key: string, value: unknown) {
      stored.set(key, value);
    },
    revise: async () => undefined,
  };
  const start = () => {
    const dropped: string[] = [];
    const changes = createSharedChanges({
      pins,
      clock: { ...systemClock, monotonicMs: () => nowMs },
      has: (owner) => owner === 'acme',
      onChange: (owners) => dropped.push(...owners),
    });
    return { ...changes, dropped };
  };
  return {
    one: start(),
    other: start(),
    reads: () => reads,
    wait(ms: number) {
      nowMs += ms;
    },
  };
}

it('a change seen by one process reaches the others within ten seconds, and only once', async () => {
  const { one, other, wait } = setUp();
  await one.look('Acme');
  await other.look('Acme');
  wait(1_000);

  await one.tell('acme');
  await other.look('acme');
  expect(other.dropped).toEqual([]);
  wait(5_000);
  await other.look('ACME');
  wait(5_000);
  await other.look('acme');
  await one.look('acme');

  expect(other.dropped).toEqual(['acme']);
  expect(one.dropped).toEqual([]);
});

it('the store is read at most every five seconds, and only for organizations with rules', async () => {
  const { one, reads, wait } = setUp();

  for (let event = 0; event < 100; event += 1) {
    await one.look('acme');
    await one.look('someone');
    wait(100);
  }

  expect(reads()).toBe(2);
});
