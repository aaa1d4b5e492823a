import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LoadedRule } from '../../src/rules/rule.ts';
import { createChance } from '../support/missed/chance.ts';
import { happenings } from '../support/missed/happenings.ts';
import { type Manor, setManor } from '../support/missed/manor.ts';
import { stateOf } from '../support/missed/state.ts';
import type { Story } from '../support/missed/story.ts';

/** `LONG=1` is the full size of the promise; `SEED` tells another story. */
const events = process.env.LONG ? 500 : 60;
const usualSeed = 22;
const seed = Number(process.env.SEED ?? usualSeed);
/** Rules that must have changed something without a single delivery, so that being equal means something: in this story. */
const never = ['quiet-what-is-old', 'welcome'];
const few = ['label-by-path', 'label-by-size', 'describe', 'blocked-pulls', 'release-tags', 'ci-hook'];

let up: Manor;
let down: Manor;

beforeEach(async () => {
  [up, down] = await Promise.all([setManor(), setManor()]);
});
afterEach(async () => {
  await Promise.all([up.close(), down.close()]);
});

/** Tells the story of a seed on a forge; returns what happened, in order, with what went wrong. */
const tell = async (manor: Manor, hear: (event: number) => Promise<unknown>): Promise<readonly string[]> => {
  const chance = createChance(seed);
  const places = ['site', 'tools'].map((repo) => ({ owner: 'acme', repo }));
  const story: Story = { manor, chance, places, pulls: [], issues: [], branches: [], tags: [], serial: 0 };
  const told: string[] = [];
  for (let event = 1; event <= events; event += 1) {
    manor.pass(1);
    const { name, happen } = chance.weighted(happenings);
    const end = await happen(story).then(
      () => '',
      (error: unknown) => `: ${String(error)}`,
    );
    told.push(name + end);
    await hear(event);
  }
  return told;
};

/** Lets all clocks strike: twice, so that what one sweep makes another may use, and a runner may be offline for long. */
const nextSlots = async (manor: Manor): Promise<void> => {
  for (let times = 0; times < 2; times += 1) {
    manor.pass(30);
    await manor.sweep();
  }
};

const markerOf = ({ source, name }: LoadedRule): string =>
  `<!-- reeve:${source.split('/').at(-1)?.replace('.yml', '')}/${name}`;

/** Names of rules that wanted a change while the bot looked, since a run. */
const rulesThatDid = ({ runs }: Manor, from: number): readonly string[] => {
  const ids = runs.slice(from).flatMap(({ changes }) => changes.flatMap(({ rules }) => rules));
  return [...new Set(ids)].map((id) => id.split('#')[1] ?? '');
};

it(`ends up the same after ${events} missed events as where all were delivered, for every rule that ships`, async () => {
  for (const manor of [up, down]) {
    await manor.startBot();
    await manor.sweep();
  }
  await down.stopBot();
  const before = down.runs.length;

  const [heard, unheard] = await Promise.all([
    tell(up, (event) => (event % 125 === 0 ? up.sweep() : up.quiet())),
    tell(down, () => down.quiet()),
  ]);
  await down.startBot();
  await Promise.all([nextSlots(up), nextSlots(down)]);

  expect(unheard).toEqual(heard);
  expect([await up.unfinished(), await down.unfinished()]).toEqual([0, 0]);
  // The delivery alone names the account that is welcomed: that rule says so in each run, and is left out here.
  const lost = up.rules.filter(({ name }) => name === 'welcome');
  expect(lost).toHaveLength(1);
  const read = (manor: Manor) => stateOf(manor.root, manor.bot, lost.map(markerOf));
  expect(await read(down)).toEqual(await read(up));
  const all = up.rules.map(({ name }) => name).filter((name) => !never.includes(name));
  if (seed !== usualSeed) return;
  expect(rulesThatDid(down, before)).toEqual(expect.arrayContaining(process.env.LONG ? all : few));
}, 1_800_000);
