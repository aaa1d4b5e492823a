import { setTimeout as sleep } from 'node:timers/promises';
import { operations } from '../../../src/contract/operations.ts';
import { readRows } from '../../harness/database.ts';
import {
  at,
  type Installation,
  type ProxiedInstallation,
  startProxiedInstallation,
} from '../../harness/installation.ts';
import type { Drill } from '../promise.ts';

/** Times at which the process dies, relative to one request that writes. */
const points = ['before the request', 'before its answer', 'after its answer'] as const;
type Point = (typeof points)[number];

const maxMinutes = 14;
const maxRecoveryMs = 30_000;
const rules = `version: 1
rules:
  greet:
    on: issues.opened
    steps:
      - { uses: set-labels, with: { add: [marked] } }
      - { uses: comment, with: { text: "Thank you." } }
      - { uses: react, with: { reaction: eyes } }
`;
/** Number of write requests in one run. */
const writes = 3;

/** Kills Reeve at each point of each write of a run, starts it again, and counts what people then see. */
export const drill: Drill = async ({ isQuick, signal }) => {
  const kills = points.length * writes * (isQuick ? 1 : 67);
  const installation = await startProxiedInstallation({
    rules,
    labels: ['marked'],
    settings: 'limits: { hour: 100000 }\n',
  });
  const untilMs = performance.now() + maxMinutes * 60_000;
  const issues: number[] = [];
  const wrong: string[] = [];
  let slowestMs = 0;
  try {
    for (let kill = 0; kill < kills && performance.now() < untilMs; kill += 1) {
      signal.throwIfAborted();
      const point = points[kill % points.length] ?? points[0];
      const target = Math.floor(kill / points.length) % writes;
      const issue = await dieOnce(installation, { point, target });
      issues.push(issue);
      const startedMs = performance.now();
      await installation.startReeve();
      const end = await waitForEnd(installation, issue, signal);
      slowestMs = Math.max(slowestMs, performance.now() - startedMs);
      if (end !== 'settled') wrong.push(`issue ${issue}, killed ${point} ${target + 1}: ${end}`);
    }
    for (const issue of issues) {
      const seen = await effectsOf(installation, issue);
      if (seen !== expected) wrong.push(`issue ${issue}: ${seen}`);
    }
    const times = Math.floor(issues.length / points.length);
    return {
      figure:
        `${issues.length} kills, ${times} at each of ${points.length} points around ${writes} kinds of writes: ${wrong.length} lost or seen twice${wrong.length > 0 ? ` (${wrong.slice(0, 3).join('; ')})` : ''}; ` +
        `slowest recovery ${(slowestMs / 1_000).toFixed(1)} s with the start of the process`,
      isKept: wrong.length === 0 && slowestMs <= maxRecoveryMs && issues.length >= (isQuick ? kills : 100),
    };
  } finally {
    await installation.close();
  }
};

/** Opens an issue and kills Reeve at the point; returns the number of the issue once the process is gone. */
async function dieOnce(
  installation: ProxiedInstallation,
  { point, target }: { readonly point: Point; readonly target: number },
): Promise<number> {
  const dead = Promise.withResolvers<unknown>();
  const die = (): void => void installation.stopReeve('SIGKILL').then(dead.resolve, dead.reject);
  let seen = 0;
  installation.proxy.decide = ({ method }) => {
    if (method === 'GET') return { kind: 'pass' };
    seen += 1;
    if (seen !== target + 1) return { kind: 'pass' };
    if (point === 'before the request') {
      die();
      return { kind: 'hang' };
    }
    return {
      kind: 'pass',
      async after() {
        if (point === 'before its answer') die();
        else setTimeout(die, Math.random() * 4);
      },
    };
  };
  const { number } = await installation.root.call(operations.createIssue, {
    params: at,
    body: { title: `Killed ${point}` },
  });
  const timeout = sleep(60_000).then(() =>
    Promise.reject(new Error(`no write ${target + 1} for issue ${number}`)),
  );
  await Promise.race([dead.promise, timeout]);
  installation.proxy.decide = () => ({ kind: 'pass' });
  return number;
}

/** Waits until the delivery of an issue is settled or dead, at most a minute; returns its state. */
async function waitForEnd({ database }: Installation, issue: number, signal: AbortSignal): Promise<string> {
  const sql = `SELECT state FROM deliveries WHERE event_type = 'issues' AND lane LIKE '%#' || ? ORDER BY id LIMIT 1`;
  let state = 'not stored';
  for (const untilMs = performance.now() + 60_000; performance.now() < untilMs; ) {
    state = String(readRows(database, sql, String(issue))[0]?.state ?? 'not stored');
    if (state === 'settled' || state === 'dead') return state;
    await sleep(25, undefined, { signal });
  }
  return `${state} after a minute`;
}

const expected = 'labels marked, 1 label event, 1 comment, 1 reaction';

/** Describes what people see of an issue. */
async function effectsOf({ root }: Installation, index: number): Promise<string> {
  const params = { ...at, index };
  const labels = await root.call(operations.listIssueLabels, { params });
  const timeline = await root.call(operations.listTimeline, { params });
  const comments = await root.call(operations.listComments, { params });
  const reactions = await root.call(operations.listIssueReactions, { params });
  const labelled = (timeline ?? []).filter(({ type }) => type === 'label').length;
  const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
  return `labels ${labels.map(({ name }) => name).join()}, ${plural(labelled, 'label event')}, ${plural(comments.length, 'comment')}, ${plural(reactions?.length ?? 0, 'reaction')}`;
}
