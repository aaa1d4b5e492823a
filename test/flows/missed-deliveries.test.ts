import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LoadedRule } from '../../src/rules/rule.ts';
import { isProving, isThorough, recordFigure } from '../support/figure.ts';
import type { EventHistory } from '../support/missed/event-history.ts';
import { type Installation, startInstallation } from '../support/missed/installation.ts';
import { randomEvents } from '../support/missed/random-events.ts';
import { stateOf } from '../support/missed/state.ts';
import { createRandom } from '../support/random.ts';

/**
 * `npm run check` uses a small size. `LONG=1` is the full size of the promise. `SEED` selects another sequence of
 * events.
 */
const events = process.env.LONG ? 500 : 60;
const usualSeed = 22;
const seed = Number(process.env.SEED ?? usualSeed);
/** Rules that depend on past events instead of the current state. Their writes are not compared. */
const past = ['welcome', 'first-contribution'];
/**
 * Rules that must have changed something in this sequence without a single delivery, so that equality is significant.
 */
const few = ['label-by-path', 'label-by-size', 'describe', 'blocked', 'release-tags', 'ci-hook'];
const many = [
  ...few,
  ...['acknowledge', 'blocked-issues', 'changelog', 'collaborators', 'title', 'dco', 'freeze'],
  ...['fresh-approvals-only', 'guard-branches', 'label-definitions', 'large-pull', 'linked-issue'],
  ...['organization-settings', 'owners', 'owner-reviewers', 'quiet-what-is-over', 'repository-settings'],
  ...['labels', 'rotate-reviewers', 'runner-offline', 'security', 'signed', 'tasks'],
];

let online: Installation;
let offline: Installation;

beforeEach(async () => {
  [online, offline] = await Promise.all([startInstallation(), startInstallation()]);
});
afterEach(async () => {
  await Promise.all([online.close(), offline.close()]);
});

/** Performs the events of a seed on a forge, and returns them in order, with errors. */
const performEvents = async (
  installation: Installation,
  afterEvent: (event: number) => Promise<unknown>,
): Promise<readonly string[]> => {
  const random = createRandom(seed);
  const repositories = ['site', 'tools'].map((repo) => ({ owner: 'acme', repo }));
  const history: EventHistory = {
    installation,
    random,
    repositories,
    pulls: [],
    issues: [],
    branches: [],
    tags: [],
    serial: 0,
  };
  const log: string[] = [];
  for (let event = 1; event <= events; event += 1) {
    installation.advance(1);
    const { name, perform: happen } = random.pickWeighted(randomEvents);
    const end = await happen(history).then(
      () => '',
      (error: unknown) => `: ${String(error)}`,
    );
    log.push(name + end);
    await afterEvent(event);
  }
  return log;
};

/**
 * Lets all schedules run twice, so that the result of one sweep is available to another, and a runner can be offline
 * for long.
 */
const nextSlots = async (installation: Installation): Promise<void> => {
  for (let times = 0; times < 2; times += 1) {
    installation.advance(30);
    await installation.sweep();
  }
};

/** Returns the start of the comments by all rules of a file. */
const markerOf = ({ source }: LoadedRule): string =>
  `<!-- reeve:${source.split('/').at(-1)?.replace('.yml', '')}/`;

/** Returns the names of the rules that planned a change since a run. */
const rulesThatDid = ({ runs }: Installation, from: number): readonly string[] => {
  const ids = runs.slice(from).flatMap(({ changes }) => changes.flatMap(({ rules }) => rules));
  return [...new Set(ids)].map((id) => id.split('#')[1] ?? '');
};

it.runIf(isThorough || isProving)(
  `the state after ${events} missed events is the same as if all had been delivered, for every shipped rule`,
  async (context) => {
    for (const installation of [online, offline]) {
      await installation.startBot();
      await installation.sweep();
    }
    await offline.stopBot();
    const before = offline.runs.length;

    const [deliveredLog, missedLog] = await Promise.all([
      performEvents(online, (event) => (event % 125 === 0 ? online.sweep() : online.idle())),
      performEvents(offline, () => offline.idle()),
    ]);
    await offline.startBot();
    await Promise.all([nextSlots(online), nextSlots(offline)]);

    expect(missedLog).toEqual(deliveredLog);
    expect([await online.unfinished(), await offline.unfinished()]).toEqual([0, 0]);
    // The past cannot be read: only the delivery names the account to welcome, and after a merge the forge no longer
    // shows that a contribution was the first one.
    const lost = online.rules.filter(({ name }) => past.includes(name));
    expect(lost).toHaveLength(past.length);
    const read = (installation: Installation) =>
      stateOf(installation.root, installation.bot, lost.map(markerOf));
    expect(await read(offline)).toEqual(await read(online));
    recordFigure(
      context,
      `${events} missed events: the same final state as of an instance that received all of them`,
    );
    if (seed !== usualSeed) return;
    expect(rulesThatDid(offline, before)).toEqual(expect.arrayContaining(process.env.LONG ? many : few));
  },
  1_800_000,
);
