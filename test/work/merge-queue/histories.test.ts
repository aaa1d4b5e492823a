import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { QueueEvent, QueueRows } from '../../../src/store/queue-rows.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  editQueue,
  moveInQueue,
  pauseQueue,
  removeFromQueue,
  resumeQueue,
} from '../../../src/work/merge-queue/edits.ts';
import { createQueueDesk } from '../../../src/work/merge-queue/merge-queues.ts';
import { queueStateOf } from '../../../src/work/merge-queue/state.ts';
import { type QueuePlace, type QueueRest, workOnQueue } from '../../../src/work/merge-queue/work.ts';
import { propertyRuns } from '../../support/figure.ts';
import { createMemoryQueueRows } from '../../support/memory-queue-rows.ts';
import { Killed, ModelForge, type ModelPull } from './model-forge.ts';

const place: QueuePlace = { repositoryId: 1, base: 'main', repository: 'acme/shop' };

/** Generates one happening. `pull` selects a pull request by its position among the existing ones. */
const happening = fc.oneof(
  fc.record({
    kind: fc.constantFrom(
      ...(['push', 'green', 'green', 'green', 'red', 'unwanted', 'wanted', 'close', 'reopen'] as const),
      ...(['by hand', 'conflict', 'draft', 'move', 'remove', 'delete'] as const),
    ),
    pull: fc.nat(9),
  }),
  fc.record({ kind: fc.constant('open' as const), priority: fc.nat(2), isFork: fc.boolean() }),
  fc.record({
    kind: fc.constantFrom(
      ...(['base', 'race', 'lost', 'refuse', 'slow', 'kill before', 'kill after', 'base green'] as const),
      ...(['pause', 'resume', 'problem'] as const),
    ),
  }),
  fc.record({ kind: fc.constant('time' as const), seconds: fc.integer({ min: 1, max: 900 }) }),
  // A late merge is performed within the time that the forge has to show an accepted merge.
  fc.record({ kind: fc.constant('late' as const), seconds: fc.integer({ min: 1, max: 25 }) }),
);
type Happening = typeof happening extends fc.Arbitrary<infer Value> ? Value : never;

/** Histories that failed in the past. */
const regressions: [Happening[], boolean][] = [
  // A person moves another pull request to the first position while a merge is in flight.
  [
    [
      { kind: 'late', seconds: 1 },
      { kind: 'time', seconds: 2 },
      { kind: 'move', pull: 1 },
    ],
    false,
  ],
  // The pull request is closed and reopened while its merge is in flight.
  [
    [
      { kind: 'late', seconds: 1 },
      { kind: 'time', seconds: 2 },
      { kind: 'close', pull: 0 },
      { kind: 'reopen', pull: 0 },
    ],
    false,
  ],
  // The forge performs a merge late, after the queue has requested it again, and refuses the second request.
  [
    [
      { kind: 'late', seconds: 25 },
      { kind: 'time', seconds: 2 },
      { kind: 'time', seconds: 900 },
    ],
    true,
  ],
];

type World = {
  readonly forge: ModelForge;
  readonly rows: QueueRows;
  readonly events: QueueEvent[];
};

/** Runs the rule, which adds the pull request if the rule wants it and the queue does not contain it or hold it off. */
async function runRule({ forge, rows }: World, pull: ModelPull): Promise<void> {
  const { number, head, wanted, draft, state } = pull;
  const desk = createQueueDesk({
    store: { ...rows, enqueue: async () => ({ id: '', known: false }) } as unknown as Store,
    now: forge.now,
    wake: () => {},
    onEvent: () => {},
  });
  const at = { repository: { id: 1, owner: 'acme', name: 'shop' }, base: 'main', number, head };
  forge.nowMs += 1;
  if (!wanted) await desk.forgive(at);
  if (!wanted || draft || state !== 'open' || pull.isDeleted) return;
  if ((await desk.find(at)) === undefined) await desk.enter(at, forge.request(pull), { rule: 'r' });
}

async function happen(world: World, one: Happening): Promise<void> {
  const { forge } = world;
  const all = [...forge.pulls.values()].filter(({ isDeleted }) => !isDeleted);
  const chosen = 'pull' in one ? all[one.pull % Math.max(all.length, 1)] : undefined;
  if (one.kind === 'open') {
    await runRule(
      world,
      forge.open({ priority: one.priority, isFork: one.isFork && forge.pulls.size % 3 === 0 }),
    );
  } else if (one.kind === 'time') forge.nowMs += one.seconds * 1000;
  else if (one.kind === 'late') forge.lateMs.push(one.seconds * 1000);
  else if (!('pull' in one)) await happenToAll(world, one.kind);
  else if (chosen) await happenTo(world, chosen, one);
}

async function happenToAll({ forge, rows }: World, kind: Happening['kind']): Promise<void> {
  const person = { by: 'ada', at: forge.now() };
  if (kind === 'base') forge.writeToBase();
  if (kind === 'base green') check(forge, forge.tip, 'success');
  if (kind === 'race') forge.races += 1;
  if (kind === 'lost') forge.lostAnswers += 1;
  if (kind === 'refuse') forge.refusals += 1;
  if (kind === 'slow') forge.slowMergeable += 2;
  if (kind === 'problem') forge.problems += 1;
  if (kind === 'kill before') forge.kills.push('before');
  if (kind === 'kill after') forge.kills.push('after');
  if (kind === 'pause') await editQueue(rows, place, pauseQueue(person));
  if (kind === 'resume') await editQueue(rows, place, resumeQueue(person));
}

async function happenTo(
  world: World,
  pull: ModelPull,
  { kind, pull: chance }: Extract<Happening, { readonly pull: number }>,
): Promise<void> {
  const { forge, rows } = world;
  const person = { by: 'ada', at: forge.now() };
  if (kind === 'push') forge.push(pull);
  if (kind === 'green') check(forge, pull.head, 'success');
  if (kind === 'red') check(forge, pull.head, 'failure');
  if (kind === 'unwanted' || kind === 'wanted') pull.wanted = kind === 'wanted';
  if (kind === 'close' || (kind === 'reopen' && pull.merged === undefined))
    pull.state = kind === 'close' ? 'closed' : 'open';
  if (kind === 'by hand') forge.mergeByHand(pull);
  if (kind === 'conflict') pull.conflicts = true;
  if (kind === 'draft') pull.draft = !pull.draft;
  if (kind === 'delete' && pull.state === 'open') pull.isDeleted = true;
  if (kind === 'remove')
    pull.isRemoved = (await editQueue(rows, place, removeFromQueue(pull.number, person))) || pull.isRemoved;
  if (kind === 'move')
    forge.isMoved =
      (await editQueue(rows, place, moveInQueue(pull.number, 1 + (Math.floor(chance / 3) % 3), person))) ||
      forge.isMoved;
  if (['push', 'wanted', 'unwanted', 'reopen', 'draft'].includes(kind)) await runRule(world, pull);
}

function check(forge: ModelForge, commit: string, state: 'success' | 'failure'): void {
  const found = forge.commits.get(commit);
  if (found) found.check = state;
}

function note(forge: ModelForge, events: QueueEvent[], event: QueueEvent): void {
  forge.checkReason(event);
  events.push(event);
}

/** Runs a queue process. If it is killed, the next process runs once the lease has ended. */
async function work({ forge, rows, events }: World): Promise<QueueRest> {
  for (;;) {
    try {
      return await workOnQueue(place, forge.ports(rows, { onEvent: (event) => note(forge, events, event) }));
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      forge.nowMs += 61_000;
    }
  }
}

/**
 * Happenings that may occur between any two requests of the queue, because the forge refuses a merge that they make
 * wrong.
 */
const meanwhile: readonly Happening['kind'][] = ['push', 'open', 'move', 'remove'];

/** Generates happenings with many pushes, which may occur while the queue still uses an earlier state. */
const hasty = fc.oneof(happening, fc.record({ kind: fc.constant('push' as const), pull: fc.nat(2) }));

const entriesOf = async ({ rows }: World) => queueStateOf(await rows.readQueue(place)).entries;

async function play(history: readonly Happening[], isFastForward = false): Promise<World> {
  const forge = new ModelForge();
  forge.isFastForward = isFastForward;
  const world: World = { forge, rows: createMemoryQueueRows(forge.now), events: [] };
  for (let opened = 0; opened < 3; opened += 1) await runRule(world, forge.open());
  for (const one of history) {
    await happen(world, one);
    await work(world);
  }
  return world;
}

/** Lets time pass without further happenings. The queue works when it asked to. */
async function rest(world: World): Promise<void> {
  await happenToAll(world, 'resume');
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
    'merge in order, only pull requests that were green together with their base, report foreign writes, and end',
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
        { numRuns: process.env.LONG ? 100_000 : propertyRuns(300), examples: regressions },
      );
    },
    process.env.LONG ? 3_600_000 : 120_000,
  );

  it('with two processes on one queue never write at the same time, and lose nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(hasty, { maxLength: 25 }), fc.scheduler(), async (history, scheduler) => {
        const forge = new ModelForge();
        const world: World = { forge, rows: createMemoryQueueRows(forge.now), events: [] };
        for (let opened = 0; opened < 3; opened += 1) await runRule(world, forge.open());
        let writing = 0;
        /** Delays each request in an order chosen by the scheduler. */
        const slow = async <Value>(send: () => Promise<Value>): Promise<Value> => {
          writing += 1;
          if (writing > 1) forge.violations.push('two processes write at the same time');
          try {
            return await scheduler.schedule(Promise.resolve()).then(send);
          } finally {
            writing -= 1;
          }
        };
        const ports = forge.ports(world.rows, { onEvent: (event) => note(forge, world.events, event) });
        const both = {
          ...ports,
          // A happening may occur before the look, and between the look and the use of its result.
          look: (...given: Parameters<typeof ports.look>) =>
            scheduler
              .schedule(Promise.resolve())
              .then(() => ports.look(...given))
              .then((seen) => scheduler.schedule(Promise.resolve(seen))),
          write: (write: Parameters<typeof ports.write>[0]) => slow(() => ports.write(write)),
          attempt: (action: Parameters<typeof ports.attempt>[0]) => slow(() => ports.attempt(action)),
        };
        for (const one of history) {
          // Another test covers killed processes.
          if (one.kind.startsWith('kill')) continue;
          const isMeanwhile = meanwhile.includes(one.kind);
          if (!isMeanwhile) await happen(world, one);
          const other = async (): Promise<void> => {
            await scheduler.schedule(Promise.resolve());
            if (isMeanwhile) await happen(world, one);
          };
          await scheduler.waitFor(Promise.all([workOnQueue(place, both), workOnQueue(place, both), other()]));
        }
        await rest(world);
        expect(forge.violations).toEqual([]);
        expect(await entriesOf(world)).toEqual([]);
      }),
      { numRuns: process.env.LONG ? 5_000 : propertyRuns(80) },
    );
  }, 300_000);
});
