import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../../test/support/missed/random.ts';
import type { Bots } from './bots.ts';
import { type Aim, aims, type Requests } from './requests.ts';

/** How long a process stands still: longer than it counts as alive (15 s), often longer than a merge is waited for (30 s). */
const stopMs = { least: 18_000, most: 45_000 };
/** Longest wait for a request that is aimed at: of a drawn disturbance, and of a planned one, which is to happen. */
const maxAimMs = { drawn: 3_000, planned: 30_000 };

/** What happens to the processes. `both`: at once; `any`: one of them at any moment; else: the one that sends such a request. */
export type Disturbance = 'both' | 'any' | Aim;

type DisturbOptions = {
  /** What happens, in this order. Absent: it is drawn, until there were so many kills. */
  readonly plan?: readonly Disturbance[] | undefined;
  readonly kills: number;
  /** How often a process stands still meanwhile. */
  readonly stops: number;
  /** Longest time between two disturbances. */
  readonly gapMs: number;
  readonly random: Random;
  /** Rejects when it makes no sense to go on. */
  readonly failed: Promise<never>;
  readonly onKill: (kills: number) => void;
};

/**
 * Kills processes: at any moment, or while a request of the queue is on its way to the forge or its answer on the way back; sometimes
 * both at once. Meanwhile, processes stand still. Returns how often they did.
 */
export async function disturb(bots: Bots, requests: Requests, options: DisturbOptions): Promise<number> {
  const { kills, stops, gapMs, random, failed } = options;
  const plan = options.plan?.values();
  const next = (): Disturbance | undefined => {
    if (plan) return plan.next().value;
    return bots.kills() < kills ? drawDisturbance(random) : undefined;
  };
  const standing: Promise<void>[] = [];
  const stopEvery = Math.max(Math.floor(kills / (stops + 1)), 1);
  for (let one = next(); one !== undefined; one = next()) {
    await Promise.race([pause(random.below(gapMs)), failed]);
    const isStopDue = standing.length < stops && bots.kills() >= stopEvery * (standing.length + 1);
    if (isStopDue && bots.going().length === 2) standing.push(standStill(bots, requests, random));
    if (one === 'both') await Promise.all([bots.kill(0), bots.kill(1)]);
    else if (one === 'any') await killAny(bots, random);
    else if (
      !(await Promise.race([killAt(bots, requests, one, maxAimMs[plan ? 'planned' : 'drawn']), failed]))
    )
      await killAny(bots, random);
    options.onKill(bots.kills());
  }
  await Promise.all(standing);
  return standing.length;
}

/** A merge is what must not happen twice: it is aimed at most often. What never reaches the forge is waited for in vain for 30 s. */
function drawDisturbance(random: Random): Disturbance {
  const kind = random.below(20);
  if (kind === 0) return 'both';
  if (kind < 9) return 'any';
  const at = random.below(2) === 0 ? 'merge' : (random.pick(aims) ?? 'write');
  return { at, when: random.below(4) === 0 ? 'before' : 'after' };
}

async function killAny(bots: Bots, random: Random): Promise<void> {
  await bots.kill(random.pick(bots.going()) ?? 0);
}

/** Returns whether there was such a request. */
async function killAt(bots: Bots, requests: Requests, aim: Aim, maxMs: number): Promise<boolean> {
  const caught = await requests.catchOne(aim, maxMs);
  if (caught === undefined) return false;
  const killing = bots.kill(caught.bot);
  caught.drop();
  await killing;
  return true;
}

/** One process stands still, in the middle of a request where there is one soon. It arrives when the process goes on. */
async function standStill(bots: Bots, requests: Requests, random: Random): Promise<void> {
  const when = random.below(2) === 0 ? 'before' : 'after';
  const caught = await requests.catchOne({ at: random.pick(aims) ?? 'write', when }, maxAimMs.drawn);
  const bot = caught?.bot ?? random.below(2);
  bots.stop(bot);
  await pause(stopMs.least + random.below(stopMs.most - stopMs.least));
  caught?.release();
  bots.go(bot);
}
