import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editQueue, enterQueue } from '../../src/queue/edits.ts';
import { queueStateOf } from '../../src/queue/state.ts';
import { type QueuePlace, type QueueRest, workOnQueue } from '../../src/queue/work.ts';
import type { QueueEvent, QueueRows } from '../../src/store/queue-rows.ts';
import { createMemoryQueueRows } from '../support/memory-queue-rows.ts';
import { Killed, ModelForge, type ModelPull } from './model-forge.ts';

const place: QueuePlace = { repositoryId: 1, base: 'main', repository: 'acme/shop' };

/** One thing that happens. `pull` chooses a pull request, by its place among those there are. */
const happening = fc.oneof(
  fc.record({
    kind: fc.constantFrom(
      ...(['push', 'green', 'green', 'green', 'red', 'unwanted', 'close', 'by hand', 'conflict'] as const),
    ),
    pull: fc.nat(9),
  }),
  fc.record({ kind: fc.constant('open' as const), priority: fc.nat(2), isFork: fc.boolean() }),
  fc.record({
    kind: fc.constantFrom(
      ...(['base', 'race', 'lost', 'refuse', 'slow', 'kill before', 'kill after', 'base green'] as const),
    ),
  }),
  fc.record({ kind: fc.constant('time' as const), seconds: fc.integer({ min: 1, max: 900 }) }),
);
type Happening = typeof happening extends fc.Arbitrary<infer Value> ? Value : never;

type World = {
  readonly forge: ModelForge;
  readonly rows: QueueRows;
  readonly events: QueueEvent[];
};

async function enter({ forge, rows }: World, pull: ModelPull): Promise<void> {
  const { number, head } = pull;
  const candidate = { number, head, rule: 'r', request: forge.request(pull) };
  forge.nowMs += 1;
  await editQueue(rows, place, enterQueue(candidate, forge.now(), 'main'));
}

async function happen(world: World, one: Happening): Promise<void> {
  const { forge } = world;
  const all = [...forge.pulls.values()];
  const chosen = 'pull' in one ? all[one.pull % Math.max(all.length, 1)] : undefined;
  if (one.kind === 'open') {
    await enter(
      world,
      forge.open({ priority: one.priority, isFork: one.isFork && forge.pulls.size % 3 === 0 }),
    );
  } else if (one.kind === 'time') forge.nowMs += one.seconds * 1000;
  else if (one.kind === 'base') forge.writeToBase();
  else if (one.kind === 'base green') check(forge, forge.tip, 'success');
  else if (one.kind === 'race') forge.races += 1;
  else if (one.kind === 'lost') forge.lostAnswers += 1;
  else if (one.kind === 'refuse') forge.refusals += 1;
  else if (one.kind === 'slow') forge.slowMergeable += 2;
  else if (one.kind === 'kill before') forge.kills.push('before');
  else if (one.kind === 'kill after') forge.kills.push('after');
  else if (chosen === undefined) return;
  else if (one.kind === 'push') forge.push(chosen);
  else if (one.kind === 'green') check(forge, chosen.head, 'success');
  else if (one.kind === 'red') check(forge, chosen.head, 'failure');
  else if (one.kind === 'unwanted') chosen.wanted = false;
  else if (one.kind === 'close') chosen.state = 'closed';
  else if (one.kind === 'by hand') forge.mergeByHand(chosen);
  else chosen.conflicts = true;
}

function check(forge: ModelForge, commit: string, state: 'success' | 'failure'): void {
  const found = forge.commits.get(commit);
  if (found) found.check = state;
}

/** Lets a process work; a killed one is followed by the next, once its lease has ended. */
async function work({ forge, rows, events }: World): Promise<QueueRest> {
  for (;;) {
    try {
      return await workOnQueue(place, forge.ports(rows, { onEvent: (event) => events.push(event) }));
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      forge.nowMs += 61_000;
    }
  }
}

const entriesOf = async ({ rows }: World) => queueStateOf(await rows.readQueue(place)).entries;

async function play(history: readonly Happening[], isFastForward = false): Promise<World> {
  const forge = new ModelForge();
  forge.isFastForward = isFastForward;
  const world: World = { forge, rows: createMemoryQueueRows(forge.now), events: [] };
  for (let opened = 0; opened < 3; opened += 1) await enter(world, forge.open());
  for (const one of history) {
    await happen(world, one);
    await work(world);
  }
  return world;
}

/** Time goes by and nothing else happens, except that the queue is worked on when it asks for it. */
async function rest(world: World): Promise<void> {
  const limit = ((await entriesOf(world)).length + 1) * 90;
  for (let rounds = 0; rounds < limit * 2; rounds += 1) {
    const { afterMs } = await work(world);
    if ((await entriesOf(world)).length === 0) return;
    expect(afterMs, 'a queue with pull requests asks to be looked at again').toBeDefined();
    world.forge.nowMs += Math.max(afterMs ?? 0, 1);
  }
}

describe('random histories of a merge queue', () => {
  it(
    'merge only what was green with its base, in order, tell foreign writes, and end',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(happening, { maxLength: 40 }),
          fc.boolean(),
          async (history, isFastForward) => {
            const world = await play(history, isFastForward);
            await rest(world);
            const { forge, events } = world;
            expect(forge.violations).toEqual([]);
            expect(await entriesOf(world)).toEqual([]);
            const merged = events.filter(({ kind }) => kind === 'merged').map(({ number }) => number);
            const byUs = [...forge.pulls.values()].filter((pull) => pull.merged === 'us');
            expect(merged.toSorted()).toEqual(byUs.map(({ number }) => number).toSorted());
            const told = events.filter(({ kind }) => kind === 'foreign-write').map(({ number }) => number);
            expect(told).toEqual(forge.raced);
          },
        ),
        { numRuns: process.env.LONG ? 100_000 : 1_000 },
      );
    },
    process.env.LONG ? 3_600_000 : 120_000,
  );

  it('of two processes on one queue never write at the same time, and lose nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 25 }), fc.scheduler(), async (history, scheduler) => {
        const forge = new ModelForge();
        const world: World = { forge, rows: createMemoryQueueRows(forge.now), events: [] };
        for (let opened = 0; opened < 3; opened += 1) await enter(world, forge.open());
        let writing = 0;
        /** Each request takes a while, in an order that the scheduler chooses. */
        const slow = async <Value>(send: () => Promise<Value>): Promise<Value> => {
          writing += 1;
          if (writing > 1) forge.violations.push('two processes write at the same time');
          try {
            return await scheduler.schedule(Promise.resolve()).then(send);
          } finally {
            writing -= 1;
          }
        };
        const ports = forge.ports(world.rows, { onEvent: (event) => world.events.push(event) });
        const both = {
          ...ports,
          look: (...given: Parameters<typeof ports.look>) =>
            scheduler.schedule(Promise.resolve()).then(() => ports.look(...given)),
          write: (write: Parameters<typeof ports.write>[0]) => slow(() => ports.write(write)),
          attempt: (action: Parameters<typeof ports.attempt>[0]) => slow(() => ports.attempt(action)),
        };
        for (const one of history) {
          // A killed process is another test.
          if (!one.kind.startsWith('kill')) await happen(world, one);
          const ended = Promise.all([workOnQueue(place, both), workOnQueue(place, both)]);
          await scheduler.waitFor(ended);
        }
        await rest(world);
        expect(forge.violations).toEqual([]);
        expect(await entriesOf(world)).toEqual([]);
      }),
      { numRuns: process.env.LONG ? 5_000 : 200 },
    );
  }, 300_000);
});
