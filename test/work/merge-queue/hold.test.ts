import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { QueueEvent } from '../../../src/store/queue-rows.ts';
import { editQueue, enterQueue } from '../../../src/work/merge-queue/edits.ts';
import { queueStateOf } from '../../../src/work/merge-queue/state.ts';
import { type QueuePlace, workOnQueue } from '../../../src/work/merge-queue/work.ts';
import { createMemoryQueueRows } from '../../support/memory-queue-rows.ts';
import { ModelForge, type ModelPull } from './model-forge.ts';

const place: QueuePlace = { repositoryId: 1, base: 'main', repository: 'acme/shop' };

/**
 * Creates a queue with two rules, `even` and `odd` by the number of the pull request. The forge records a violation if
 * anything is written for a paused rule.
 */
function makePausable() {
  const forge = new ModelForge();
  const rows = createMemoryQueueRows(forge.now);
  const paused = new Set<string>();
  const events: QueueEvent[] = [];
  const ruleOf = (number: number): string => (number % 2 === 0 ? 'even' : 'odd');
  const note = (number: number): void => {
    if (paused.has(ruleOf(number))) forge.violations.push(`#${number} was written for while paused`);
  };
  const ports = forge.ports(rows);
  return {
    forge,
    paused,
    events,
    /** Runs between a step and its next write. */
    beforeWrites: (): unknown => undefined,
    async enter(pull: ModelPull) {
      const candidate = {
        number: pull.number,
        head: pull.head,
        rule: ruleOf(pull.number),
        request: forge.request(pull),
      };
      forge.nowMs += 1;
      await editQueue(rows, place, enterQueue(candidate, forge.now(), 'main'));
    },
    work(number?: number) {
      const hook = (): unknown => this.beforeWrites();
      return workOnQueue(
        place,
        {
          ...ports,
          async waitMs() {
            hook();
            return 0;
          },
          write(write) {
            note(write.number);
            return ports.write(write);
          },
          attempt(action) {
            note(action.attempt.number);
            return ports.attempt(action);
          },
          held: async (rules) =>
            rules.filter((rule) => paused.has(rule)).map((rule) => ({ rule, why: `${rule} is paused` })),
          onEvent: (event) => events.push(event),
        },
        { number },
      );
    },
    stateOf: async () => queueStateOf(await rows.readQueue(place)),
    merged: () => events.filter(({ kind }) => kind === 'merged').map(({ number }) => number),
  };
}

type Pausable = ReturnType<typeof makePausable>;

/** Makes CI pass on every head while the queue works and time passes. Returns the result of the queue's last work. */
async function goOn(queue: Pausable, rounds: number) {
  const { forge } = queue;
  let rest = await queue.work();
  for (let round = 0; round < rounds; round += 1) {
    for (const { head } of forge.pulls.values()) {
      const commit = forge.commits.get(head);
      if (commit) commit.check = 'success';
    }
    forge.nowMs += rest.afterMs ?? 60_000;
    rest = await queue.work();
  }
  return rest;
}

it('pull requests of a paused rule stay while the others continue, and are merged once the pause ends', async () => {
  const queue = makePausable();
  for (let count = 0; count < 4; count += 1) await queue.enter(queue.forge.open());
  queue.paused.add('odd');

  const rest = await goOn(queue, 12);

  expect(queue.merged()).toEqual([2, 4]);
  expect(rest).toEqual({ afterMs: 3_600_000, why: 'odd is paused', isPaused: true });
  queue.paused.clear();
  await goOn(queue, 12);
  expect(queue.merged()).toEqual([2, 4, 1, 3]);
  expect(queue.forge.violations.filter((one) => !one.includes('was merged before'))).toEqual([]);
});

it('a pause takes the turn away and counts for no timeout, and its end restores the position', async () => {
  const queue = makePausable();
  for (let count = 0; count < 4; count += 1) await queue.enter(queue.forge.open());
  queue.forge.nowMs += 3_000;
  for (const number of [1, 2, 3, 4]) {
    const commit = queue.forge.commits.get(queue.forge.pulls.get(number)?.head ?? '');
    if (commit) commit.check = 'pending';
  }
  await queue.work();
  expect((await queue.stateOf()).entries[0]).toMatchObject({ number: 1, phase: 'testing' });

  queue.paused.add('odd').add('even');
  queue.forge.nowMs += 60_000;
  await queue.work();
  const { looks, requests } = queue.forge;
  queue.forge.nowMs += 36_000_000;
  await queue.work();
  expect(queue.forge).toMatchObject({ looks, requests });
  expect((await queue.stateOf()).entries.map(({ number, turnAt }) => [number, turnAt])).toEqual(
    [1, 2, 3, 4].map((number) => [number, undefined]),
  );
  queue.paused.clear();
  await goOn(queue, 20);

  expect(queue.merged()).toEqual([1, 2, 3, 4]);
  expect(queue.forge.violations).toEqual([]);
});

it('messages about a pull request that left during a pause are sent after the pause', async () => {
  const queue = makePausable();
  const pull = queue.forge.open();
  await queue.enter(pull);
  queue.paused.add('odd');
  await goOn(queue, 1);
  queue.forge.push(pull);

  expect(await queue.work(pull.number)).toMatchObject({ isPaused: true });

  expect(queue.events.at(-1)).toMatchObject({ kind: 'left', reason: 'pushed' });
  expect(pull.comments).toEqual([]);
  queue.paused.clear();
  await queue.work();
  expect(pull.comments.join()).toContain('someone pushed to it');
});

it('a pause that begins after a step stops the writes of that step, and the queue does not wait for unsent writes', async () => {
  const queue = makePausable();
  const pull = queue.forge.open();
  await queue.enter(pull);
  queue.forge.nowMs += 3_000;
  queue.beforeWrites = () => queue.paused.add('odd');

  expect(await queue.work()).toMatchObject({ isPaused: true });
  expect(await queue.work()).toMatchObject({ isPaused: true });

  expect(queue.forge).toMatchObject({ requests: 0, violations: [] });
  expect((await queue.stateOf()).attempt).toBeUndefined();
  queue.beforeWrites = () => {};
  for (let writes = 0; writes < 6; writes += 1) {
    queue.paused.clear();
    let left = writes;
    queue.beforeWrites = () => {
      if (left === 0) queue.paused.add('odd');
      left -= 1;
    };
    await queue.work();
    queue.forge.nowMs += 40_000;
  }
  queue.paused.clear();
  queue.beforeWrites = () => {};
  await goOn(queue, 6);
  expect(queue.merged()).toEqual([1]);
  expect(queue.forge.violations).toEqual([]);
});

it('in random histories, nothing is written for a paused rule, and all entries end once nothing is paused', async () => {
  const happening = fc.oneof(
    fc.constantFrom('odd', 'even', 'open', 'lost', 'race', 'push', 'close'),
    fc.integer({ min: 1, max: 900 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 40 }), async (history) => {
      const queue = makePausable();
      const { forge, paused } = queue;
      for (let count = 0; count < 3; count += 1) await queue.enter(forge.open());
      for (const one of history) {
        const newest = [...forge.pulls.values()].at(-1);
        if (typeof one === 'number') forge.nowMs += one * 1_000;
        else if (one === 'open') await queue.enter(forge.open());
        else if (one === 'lost') forge.lostAnswers += 1;
        else if (one === 'race') forge.races += 1;
        else if (one === 'push' && newest) forge.push(newest);
        else if (one === 'close' && newest && !newest.merged) newest.state = 'closed';
        else if (!paused.delete(one)) paused.add(one);
        await goOn(queue, 0);
      }
      paused.clear();
      forge.writeToBase();
      for (let rounds = 0; rounds < 20 && (await queue.stateOf()).entries.length > 0; rounds += 1) {
        const commit = forge.commits.get(forge.tip);
        if (commit) commit.check = 'success';
        await goOn(queue, 10);
      }
      expect((await queue.stateOf()).entries).toEqual([]);
      expect(forge.violations.filter((one) => !one.includes('was merged before'))).toEqual([]);
    }),
    { numRuns: process.env.LONG ? 20_000 : 300 },
  );
}, 300_000);
