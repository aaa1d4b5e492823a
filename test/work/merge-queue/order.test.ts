import { expect, it } from 'vitest';
import { enterQueue, placeEntry } from '../../../src/work/merge-queue/edits.ts';
import { type QueueEntry, queueStateOf } from '../../../src/work/merge-queue/state.ts';

const makeEntry = (number: number, given: Partial<QueueEntry> & { priority?: number } = {}): QueueEntry => {
  const { priority = 0, ...more } = given;
  return {
    number,
    head: 'a'.repeat(40),
    rule: 'r.yml#queue',
    request: { method: 'merge', priority, timeoutMs: 60_000, forks: false },
    phase: 'waiting',
    enteredAt: '2026-03-01T12:00:00.000Z',
    ...more,
  };
};
/** Returns the numbers of a queue into which these pull requests entered one after the other. */
const orderOf = (...entries: readonly QueueEntry[]): readonly number[] =>
  entries.reduce<readonly QueueEntry[]>(placeEntry, []).map(({ number }) => number);

it('pull requests of one priority have the order of their deliveries, not of the ends of their runs', () => {
  expect(
    orderOf(
      makeEntry(6, { delivery: '12' }),
      makeEntry(5, { delivery: '10' }),
      makeEntry(4, { delivery: '9' }),
      makeEntry(7, { delivery: '13' }),
    ),
  ).toEqual([4, 5, 6, 7]);
});

it('a pull request is placed before lower priorities, and after higher ones, whatever their deliveries', () => {
  expect(
    orderOf(
      makeEntry(1, { delivery: '1' }),
      makeEntry(2, { delivery: '2', priority: 5 }),
      makeEntry(3, { delivery: '9' }),
      makeEntry(4, { delivery: '3', priority: 5 }),
    ),
  ).toEqual([2, 4, 1, 3]);
});

it('the pull request that has its turn keeps it', () => {
  const turnAt = '2026-03-01T12:00:00.000Z';
  expect(orderOf(makeEntry(5, { delivery: '10', turnAt }), makeEntry(4, { delivery: '9' }))).toEqual([5, 4]);
  expect(orderOf(makeEntry(5, { turnAt }), makeEntry(4, { priority: 9 }))).toEqual([5, 4]);
});

it('a pull request that entered for live state alone comes last, and is not overtaken', () => {
  expect(orderOf(makeEntry(1), makeEntry(2, { delivery: '1' }), makeEntry(3))).toEqual([1, 2, 3]);
});

it('the history says which pull request was overtaken, because its delivery arrived later', () => {
  const at = new Date('2026-03-01T12:00:00.000Z');
  const texts: string[] = [];
  let state = queueStateOf(undefined);
  for (const [number, delivery] of [
    [6, '12'],
    [4, '9'],
    [7, '13'],
    [5, '10'],
  ] as const) {
    const edited = enterQueue({ ...makeEntry(number), delivery }, at, 'main')(state);
    if (edited === undefined) throw new Error('Nothing was edited.');
    state = edited.state;
    texts.push(...edited.events.map(({ text }) => text));
  }
  expect(texts).toEqual([
    'entered with priority 0',
    'entered with priority 0, before #6, whose delivery arrived later',
    'entered with priority 0',
    'entered with priority 0, before #6, whose delivery arrived later',
  ]);
});
