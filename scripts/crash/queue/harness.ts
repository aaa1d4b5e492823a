import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import type { QueueHistoryRow } from '../../../src/store/queue-rows.ts';
import type { Store } from '../../../src/store/store.ts';
import { queueStateOf } from '../../../src/work/merge-queue/state.ts';
import { startFaultProxy } from '../../../test/support/fault-proxy.ts';
import { createRandom } from '../../../test/support/missed/random.ts';
import { endProcesses } from '../../../test/support/processes.ts';
import { queueRules } from '../../../test/support/queue/queue-repository.ts';
import { authorization, secret } from '../sender.ts';
import { nowMs } from '../workers/attempts.ts';
import { startBots } from './bots.ts';
import { startChecks } from './checks.ts';
import { closeRefused, startContributors } from './contributors.ts';
import { type Disturbance, disturb } from './disturb.ts';
import { openDoor } from './door.ts';
import { org, type QueueForge, startQueueForge } from './forge.ts';
import { judgeQueue, type QueueReport } from './judge.ts';
import { watchRequests } from './requests.ts';

export type QueueCrashReport = QueueReport & { readonly kills: number; readonly stops: number };

type QueueCrashOptions = {
  /** Connection string of a database that no other Reeve uses. */
  readonly databaseUrl: string;
  readonly kills: number;
  readonly stops: number;
  /** What happens; absent: it is drawn. */
  readonly plan?: readonly Disturbance[];
  /** Pull requests that are open at least; default 4. */
  readonly openAtOnce?: number;
  /** Longest time between two disturbances. */
  readonly gapMs: number;
  /** Chooses what is opened, killed and stopped, and when. */
  readonly seed: number;
  /** Ends it early, with an error. */
  readonly signal?: AbortSignal;
  readonly onKill?: (kills: number) => void;
  readonly onWrong?: (finding: string) => void;
};

/** More changes than a long run makes in an hour: it is not about budgets. */
const operatorFile = `version: 1
repositories: ["${org}/*"]
limits: { hour: 10000, repository-hour: 10000 }
`;

/** Without any progress for so long, what is left is lost. The queue itself waits for no more than a minute. */
const stuckMs = 240_000;

/**
 * Two processes, one merge queue: `reeve serve` twice on one PostgreSQL database, an embedded forge and CI beside them. Pull requests
 * are opened all the time, while the processes are killed, started again and stopped. Returns what became of the pull requests.
 */
export async function crashQueue(options: QueueCrashOptions): Promise<QueueCrashReport> {
  const { databaseUrl, seed, openAtOnce = 4, onWrong = () => {}, onKill = () => {} } = options;
  const folder = await mkdtemp(join(tmpdir(), 'reeve-queue-'));
  const ending: (() => Promise<unknown>)[] = [];
  // Each has its own draws: they are at work at the same time.
  const [forDisturbing, forOpening, forChecks] = [0, 1, 2].map((n) => createRandom(seed * 3 + n));
  if (!forDisturbing || !forOpening || !forChecks) throw new Error('there are three rows of draws');
  try {
    const rulesFolder = join(folder, 'rules');
    await mkdir(rulesFolder);
    await writeFile(join(rulesFolder, 'rules.yml'), queueRules);
    const forge = await startQueueForge(join(folder, 'forge'), 2);
    const proxy = await startFaultProxy(forge.url);
    ending.push(proxy.close);
    await writeFile(join(folder, 'reeve.yml'), operatorFile);
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
    ending.push(bots.end);
    const requests = watchRequests(proxy, () => bots);
    const door = await openDoor(bots.addresses);
    ending.push(door.close);
    await forge.hookTo(`${door.url}/webhook`, { authorization, secret });
    const contributors = startContributors(forge, { openAtOnce, random: forOpening });
    ending.push(contributors.stop);
    const checks = startChecks(forge, forChecks);
    ending.push(checks.stop);
    const failed = Promise.race([bots.failed, contributors.failed, checks.failed, abortOf(options.signal)]);
    failed.catch(() => {});
    const stops = await disturb(bots, requests, { ...options, random: forDisturbing, failed, onKill });
    await contributors.stop();
    const store = await openPostgresStore({ url: databaseUrl, role: 'reader' });
    ending.push(store.close);
    if (!(await untilEnded(forge, store, failed))) onWrong(`nothing moves any more\n${bots.logs()}`);
    await checks.stop();
    const seen = {
      contributions: contributors.contributions,
      reports: checks.reports,
      merges: requests.merges,
      history: await readHistory(store),
    };
    return { ...(await judgeQueue(forge, seen, onWrong)), kills: bots.kills(), stops };
  } finally {
    await Promise.allSettled(ending.map((end) => end()));
    await endProcesses();
    await rm(folder, { recursive: true, force: true });
  }
}

function abortOf(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
}

/** Waits until no pull request is open, and the queue has nothing left to do; returns whether that came. */
async function untilEnded(forge: QueueForge, store: Store, failed: Promise<never>): Promise<boolean> {
  for (let [last, sinceMs] = [-1, nowMs()]; nowMs() - sinceMs < stuckMs; ) {
    const open = await Promise.race([closeRefused(forge), failed]);
    const rests = (await store.listQueues()).map(queueStateOf);
    const left = rests.reduce((sum, { entries, outbox }) => sum + entries.length + outbox.length, open);
    if (left === 0) return true;
    if (left !== last) [last, sinceMs] = [left, nowMs()];
    await pause(200);
  }
  return false;
}

/** Returns what the queue says of itself, the oldest first. */
async function readHistory(store: Store): Promise<readonly QueueHistoryRow[]> {
  const rows: QueueHistoryRow[] = [];
  for (;;) {
    const before = rows.at(-1)?.id;
    const page = await store.listQueueHistory({ limit: 500, ...(before === undefined ? {} : { before }) });
    if (page.length === 0) return rows.toReversed();
    rows.push(...page);
  }
}
