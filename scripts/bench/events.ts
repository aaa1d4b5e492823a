import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import startedAs from '../../bin/memory.json' with { type: 'json' };
import { nowMs } from '../harness/progress.ts';
import { createSender, secret } from '../harness/sender.ts';
import type { Done } from './children/events-reeve.ts';
import { ask, LabelForge, type Place, pathOf } from './label-forge.ts';
import {
  type BenchRow,
  benchRow,
  inTurns,
  type Measure,
  median,
  onStage,
  Rounds,
  round,
  type Stage,
} from './runner.ts';

/** Number of deliveries that are sent at the same time. */
const connections = 8;

/** Bots that label new issues. */
type BotName = 'reeve' | 'peer';
type Bot = {
  readonly url: string;
  /** Returns the processor time of all threads of the bot since its start, once the bot has nothing left to do. */
  readonly processorMs: () => Promise<number>;
};
type Bots = Readonly<Record<BotName, Bot>> & {
  readonly forge: LabelForge;
  readonly done: () => Promise<Done>;
};

/**
 * Measures the way from delivery to label: how long it takes, and what it costs. Alternates between Reeve and
 * `children/peer-bot.ts`.
 */
export const measure: Measure = ({ quick }) =>
  onStage(async (stage) => {
    const repositories = quick ? 60 : 500;
    const singles = quick ? 40 : 300;
    const load = quick ? { rounds: 3, count: 200 } : { rounds: 5, count: 1_000 };
    const needed = repositories + 2 * (load.rounds + 1) * load.count + 3 * (singles + warmUp);
    const forge = await LabelForge.start(stage, { repositories, issues: Math.ceil(needed / repositories) });
    const rules = join(stage.folder, 'rules');
    await writeOperatorRules(rules);
    const bots = await startBots(stage, forge, rules);
    const first = await measureFirst(bots, repositories);
    const times = await inTurns(['reeve', 'peer'] as const, load, (name) =>
      measureMany(bots, name, load.count),
    );
    // Measured after thousands of events, like a server that has run for some time and whose code is compiled.
    const latencies = await measureSingles(bots, singles);
    const asIs = (ms: number): number => ms;
    const event = `an event with one label, 1,000 rules, ${repositories} repositories with rule files`;
    return [
      ...latencyRows(latencies),
      benchRow({
        name: `${event}: processor time`,
        value: times.median('reeve', asIs),
        unit: 'ms',
        against: `${peerTitle}: ${round(times.median('peer', asIs))} ms`,
        ratio: times.ratio('reeve', 'peer', asIs),
        target: '<= 2 x',
      }),
      benchRow({
        name: 'requests of the first event of a repository',
        value: first.requests,
        unit: 'requests',
        against: `processor time: ${round(first.processorMs)} ms`,
        target: '<= 9',
      }),
    ];
  });

const peerTitle = 'a bot of 40 lines that stores nothing';

/** Starts Reeve, with the rules of an operator, and the peer bot. */
async function startBots(stage: Stage, forge: LabelForge, rules: string): Promise<Bots> {
  const reeve = await startReeve(stage, forge, rules);
  const peer = await stage.start<string>('peer-bot', [forge.url, forge.token, secret]);
  return {
    forge,
    done: reeve.done,
    reeve: { url: reeve.url, processorMs: async () => (await reeve.done()).processorMs },
    peer: { url: peer.ready, processorMs: () => peer.child.ask('processor') },
  };
}

/**
 * Starts Reeve for the forge, with its data in the folder `reeve`. Resolves when Reeve has finished its work at the
 * start.
 */
export async function startReeve(stage: Stage, forge: LabelForge, rules: string) {
  const paths = [join(stage.folder, 'reeve'), rules, join(stage.folder, 'reeve.log')];
  const { child, ready } = await stage.start<string>(
    'events-reeve',
    [forge.url, forge.token, ...paths],
    startedAs,
  );
  const done = (): Promise<Done> => child.ask('done');
  // Catching up with each repository and reading its rule file are deliveries as well, which Reeve handles first.
  await done();
  return { url: ready, done, pid: child.pid, database: join(stage.folder, 'reeve/reeve.db') };
}

/**
 * Sends the first event of each repository, one at a time. It causes requests whose responses Reeve remembers for later
 * events.
 */
async function measureFirst({ forge, reeve, done }: Bots, repositories: number) {
  const sender = createSender(1);
  const found: { readonly requests: number; readonly processorMs: number }[] = [];
  try {
    for (const place of forge.take(repositories)) {
      const before = await reeve.processorMs();
      // Discards earlier requests, for example for catching up, because no event caused them.
      await forge.answered();
      await forge.labelBy(sender, reeve.url, place);
      const { processorMs } = await done();
      found.push({ requests: (await forge.answered()).length, processorMs: processorMs - before });
    }
  } finally {
    sender.close();
  }
  return {
    requests: median(found.map(({ requests }) => requests)),
    processorMs: median(found.map(({ processorMs }) => processorMs)),
  };
}

/**
 * Sends deliveries as fast as the bot accepts them, and waits until each issue has its label. Returns the processor
 * time per delivery.
 */
async function measureMany({ forge, done, ...bots }: Bots, name: BotName, count: number): Promise<number> {
  const { url, processorMs } = bots[name];
  const deliveries = forge.take(count).map((place) => forge.deliveryOf(place));
  const sender = createSender(connections);
  try {
    const before = await processorMs();
    const labels = forge.untilLabelled(count);
    await Promise.all(deliveries.map((delivery) => ask(sender, `${url}/webhook`, delivery)));
    await labels;
    const after = await processorMs();
    const { dead } = await done();
    if (dead > 0) throw new Error(`${dead} deliveries are dead`);
    return (after - before) / count;
  } finally {
    sender.close();
  }
}

/** Number of single events that are not counted. */
const warmUp = 20;

type Latencies = { readonly times: Rounds<BotName | 'bare', number>; readonly requests: number };

/**
 * Sends each bot one delivery at a time. In every round, also repeats the requests that Reeve sent for its issue,
 * without a bot and for another issue.
 */
async function measureSingles({ forge, reeve, peer, done }: Bots, count: number): Promise<Latencies> {
  const sender = createSender(1);
  const times: Latencies['times'] = new Rounds();
  let requests = 0;
  const timeOf = async (bot: Bot, place: Place): Promise<number> => {
    const delivery = forge.deliveryOf(place);
    const startMs = nowMs();
    return (await forge.labelBy(sender, bot.url, place, delivery)) - startMs;
  };
  try {
    for (let at = -warmUp; at < count; at += 1) {
      const [first, second, third] = forge.take(3) as readonly [Place, Place, Place];
      await forge.answered();
      const reeveMs = await timeOf(reeve, first);
      await done();
      // Reeve also sends other requests to the forge, for example for its own account from time to time.
      const caused = (await forge.answered()).filter(({ path }) => path.includes(pathOf(first)));
      const peerMs = await timeOf(peer, second);
      const bareMs = await forge.repeatRequests(sender, caused, first, third);
      if (at < 0) continue;
      requests = caused.length;
      times.add('reeve', reeveMs);
      times.add('peer', peerMs);
      times.add('bare', bareMs);
    }
  } finally {
    sender.close();
  }
  return { times, requests };
}

function latencyRows({ times, requests }: Latencies): readonly BenchRow[] {
  const asIs = (ms: number): number => ms;
  const row = (other: 'peer' | 'bare', title: string, target: string): BenchRow =>
    benchRow({
      name: 'delivery to label on the embedded forge, end to end',
      value: times.median('reeve', asIs),
      unit: 'ms',
      against: `${title}: ${round(times.median(other, asIs))} ms`,
      ratio: times.ratio('reeve', other, asIs),
      target,
    });
  return [
    row('peer', peerTitle, '<= 1.5 x'),
    row('bare', `the same ${requests} requests over a kept connection, one after the other`, '<= 2.2 x'),
  ];
}

const files = 20;
const rulesPerFile = 50;
/** Number of rules that listen to new issues. */
const listening = 10;

/**
 * Writes 1,000 rules of the operator. Ten of them listen to new issues, but no issue of the benchmark satisfies their
 * conditions; the others listen to other events.
 */
async function writeOperatorRules(folder: string): Promise<void> {
  await mkdir(folder);
  for (let file = 0; file < files; file += 1) {
    const rules = Array.from({ length: rulesPerFile }, (_, at) => ruleOf(file * rulesPerFile + at));
    await writeFile(join(folder, `rules-${file}.yml`), `version: 1\nrules:\n${rules.join('')}`);
  }
}

function ruleOf(number: number): string {
  const isHeard = number % ((files * rulesPerFile) / listening) === 0;
  const on = isHeard ? 'issues.opened' : 'pull_request.opened';
  const item = isHeard ? 'issue' : 'pull_request';
  const condition = `${item}.title.lower().contains("topic-${number} ") && event.sender.login != "bot-${number}"`;
  return `  rule-${number}:\n    on: ${on}\n    if: ${condition}\n    steps: [{ uses: set-labels, with: { add: [topic-${number}] } }]\n`;
}
