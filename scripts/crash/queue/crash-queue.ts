import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import type { QueueHistoryRow } from '../../../src/store/queue-rows.ts';
import type { Store } from '../../../src/store/store.ts';
import { queueStateOf } from '../../../src/work/merge-queue/state.ts';
import { startFaultProxy } from '../../../test/support/fault-proxy.ts';
import { endProcesses } from '../../../test/support/processes.ts';
import { queueRules } from '../../../test/support/queue/queue-repository.ts';
import { createRandom, type Random } from '../../../test/support/random.ts';
import { at, createHook } from '../../harness/installation.ts';
import { untilDone } from '../../harness/progress.ts';
import { authorization, secret } from '../../harness/sender.ts';
import { withWorkspace } from '../../harness/workspace.ts';
import { type Bots, openDoor, startBots } from './bots.ts';
import { closeRefused, startChecks, startContributors } from './checks.ts';
import { type QueueForge, startQueueForge } from './forge.ts';
import { judgeQueue, type QueueReport } from './judge.ts';
import { type Aim, aims, type Requests, watchRequests } from './requests.ts';

export type QueueCrashReport = QueueReport & { readonly kills: number; readonly stops: number };

type QueueCrashOptions = {
  /** Connection string of a database that no other Reeve instance uses. */
  readonly databaseUrl: string;
  readonly kills: number;
  readonly stops: number;
  /** Planned disturbances; if absent, they are drawn at random. */
  readonly plan?: readonly Disturbance[];
  /** Minimum number of open pull requests; default 4. */
  readonly openAtOnce?: number;
  /** Longest time between two disturbances. */
  readonly gapMs: number;
  /** Seed that decides what is opened, killed and stopped, and when. */
  readonly seed: number;
  /** Ends the run early, with an error. */
  readonly signal?: AbortSignal;
  readonly onKill?: (kills: number) => void;
  readonly onWrong?: (finding: string) => void;
};

/** Its limits allow more changes than a long run makes in an hour, because the run does not test budgets. */
const operatorFile = `version: 1
repositories: ["${at.owner}/*"]
limits: { hour: 10000, repository-hour: 10000 }
`;

/** Time without any progress after which the rest counts as lost. The queue itself waits no longer than a minute. */
const stuckMs = 240_000;

/**
 * Runs two processes with one merge queue: `reeve serve` twice on one PostgreSQL database, with an embedded forge and
 * CI. Pull requests are opened continuously while the processes are killed, restarted and suspended. Returns the result
 * of the pull requests.
 */
export function crashQueue(options: QueueCrashOptions): Promise<QueueCrashReport> {
  const { databaseUrl, seed, openAtOnce = 4, onWrong = () => {}, onKill = () => {} } = options;
  // Each part has its own random numbers, because the parts run concurrently.
  const randomOf = (n: number): Random => createRandom(seed * 3 + n);
  return withWorkspace('queue', async ({ folder, defer }) => {
    defer(endProcesses);
    const rulesFolder = join(folder, 'rules');
    await mkdir(rulesFolder);
    await writeFile(join(rulesFolder, 'rules.yml'), queueRules);
    await writeFile(join(folder, 'reeve.yml'), operatorFile);
    const forge = await startQueueForge(folder, 2);
    const proxy = await startFaultProxy(forge.url);
    defer(proxy.close);
    const bots = await startBots({
      folder,
      tokens: forge.tokens,
      environment: {
        FORGE_URL: proxy.url,
        DATABASE_URL: databaseUrl,
        REEVE_RULES: rulesFolder,
        REEVE_CONFIG: join(folder, 'reeve.yml'),
        WEBHOOK_AUTHORIZATION: authorization,
        WEBHOOK_SECRET: secret,
      },
    });
    defer(bots.end);
    const requests = watchRequests(proxy, () => bots);
    const door = await openDoor(bots.addresses);
    defer(door.close);
    const events = ['push', 'pull_request', 'status'];
    await createHook(forge.root, `${door.url}/webhook`, { authorization, secret, events });
    const contributors = startContributors(forge, { openAtOnce, random: randomOf(1) });
    const checks = startChecks(forge, randomOf(2));
    // Failures of these parts are reported elsewhere, not when they are stopped.
    defer(() => Promise.allSettled([contributors.stop(), checks.stop()]));
    const failed = Promise.race([bots.failed, contributors.failed, checks.failed, abortOf(options.signal)]);
    failed.catch(() => {});
    const stops = await disturb(bots, requests, { ...options, random: randomOf(0), failed, onKill });
    await contributors.stop();
    const store = await openPostgresStore({ url: databaseUrl, role: 'reader' });
    defer(store.close);
    if ((await untilEnded(forge, store, failed)) > 0) onWrong(`nothing moves any more\n${bots.logs()}`);
    await checks.stop();
    const seen = {
      contributions: contributors.contributions,
      reports: checks.reports,
      merges: requests.merges,
      history: await readHistory(store),
    };
    return { ...(await judgeQueue(forge, seen, onWrong)), kills: bots.kills(), stops };
  });
}

function abortOf(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
}

/** Waits until no pull request is open and the queue has nothing left to do; returns how much is left. */
function untilEnded(forge: QueueForge, store: Store, failed: Promise<never>): Promise<number> {
  const left = async (): Promise<number> => {
    const open = await Promise.race([closeRefused(forge), failed]);
    const rests = (await store.listQueues()).map(queueStateOf);
    return rests.reduce((sum, { entries, outbox }) => sum + entries.length + outbox.length, open);
  };
  return untilDone(left, { stuckMs, everyMs: 200 });
}

/** Returns the history of the queue, oldest first. */
async function readHistory(store: Store): Promise<readonly QueueHistoryRow[]> {
  const rows: QueueHistoryRow[] = [];
  for (;;) {
    const before = rows.at(-1)?.id;
    const page = await store.listQueueHistory({ limit: 500, ...(before === undefined ? {} : { before }) });
    if (page.length === 0) return rows.toReversed();
    rows.push(...page);
  }
}

/**
 * Duration of a standstill: longer than a process counts as alive (15 s), often longer than the queue waits for a merge
 * (30 s).
 */
const stopMs = { least: 18_000, most: 45_000 };
/** Longest wait for a targeted request: for a drawn disturbance, and for a planned one, which must take place. */
const maxAimMs = { drawn: 3_000, planned: 30_000 };

/**
 * Processes that a disturbance affects. `both`: both at once; `any`: one of them, at any time; otherwise: the one that
 * sends a request of this kind.
 */
type Disturbance = 'both' | 'any' | Aim;

type DisturbOptions = {
  /** Disturbances in order. If absent, they are drawn until there have been enough kills. */
  readonly plan?: readonly Disturbance[] | undefined;
  readonly kills: number;
  /** Number of times that a process is suspended meanwhile. */
  readonly stops: number;
  /** Longest time between two disturbances. */
  readonly gapMs: number;
  readonly random: Random;
  /** Rejects when it makes no sense to continue. */
  readonly failed: Promise<never>;
  readonly onKill: (kills: number) => void;
};

/**
 * Kills processes: at any time, while a request of the queue is on its way to the forge, or while the response is on
 * its way back; sometimes both processes at once. Also suspends processes meanwhile; returns how often.
 */
async function disturb(bots: Bots, requests: Requests, options: DisturbOptions): Promise<number> {
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

/**
 * Draws a disturbance. A merge must not happen twice, so it is the most frequent target. A request that never reaches
 * the forge makes the queue wait for 30 s.
 */
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

/** Kills the process that sends such a request. Returns whether there was one. */
async function killAt(bots: Bots, requests: Requests, aim: Aim, maxMs: number): Promise<boolean> {
  const caught = await requests.catchOne(aim, maxMs);
  if (caught === undefined) return false;
  const killing = bots.kill(caught.bot);
  caught.drop();
  await killing;
  return true;
}

/** Suspends one process, during a request if there is one soon. The request arrives when the process continues. */
async function standStill(bots: Bots, requests: Requests, random: Random): Promise<void> {
  const when = random.below(2) === 0 ? 'before' : 'after';
  const caught = await requests.catchOne({ at: random.pick(aims) ?? 'write', when }, maxAimMs.drawn);
  const bot = caught?.bot ?? random.below(2);
  bots.stop(bot);
  await pause(stopMs.least + random.below(stopMs.most - stopMs.least));
  caught?.release();
  bots.go(bot);
}
