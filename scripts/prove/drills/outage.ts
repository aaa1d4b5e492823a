import { setTimeout as sleep } from 'node:timers/promises';
import { operations } from '../../../src/contract/operations.ts';
import { readRows } from '../../harness/database.ts';
import { at, type Installation, startInstallation } from '../../harness/installation.ts';
import { type Line, openLine } from '../../harness/network.ts';
import type { Drill } from '../promise.ts';

const perSecond = 20;
const maxRecoverySeconds = 120;
const rules = `version: 1
rules:
  mark:
    on: issues.opened
    steps: [{ uses: set-labels, with: { sync: { marked: 'issue.title.startsWith("Opened")' } } }]
`;

/** Opens issues while Reeve cannot reach the forge, and measures how long after the outage all of them are labelled. */
export const drill: Drill = async ({ isQuick, signal }) => {
  const seconds = isQuick ? 5 : 600;
  const count = seconds * perSecond;
  let line: Line | undefined;
  const installation = await startInstallation({
    rules,
    labels: ['marked'],
    settings: 'limits: { hour: 100000 }\n',
    isHooked: true,
    async between(url) {
      line = await openLine({ port: Number(new URL(url).port), host: '127.0.0.1' });
      return `http://127.0.0.1:${line.port}`;
    },
  });
  try {
    const cut = line as Line;
    cut.set('cut');
    await openIssues(installation, count, signal);
    const asked = cut.refused();
    const { stored } = stateOf(installation);
    cut.set('pass');
    const recoverySeconds = await waitForEnd(installation, count, signal);
    const labelled = await countLabelled(installation);
    const { attempts, dead } = stateOf(installation);
    return {
      figure:
        `outage of ${seconds} s with ${count.toLocaleString('en')} events, ${stored.toLocaleString('en')} acknowledged before its end: ${labelled.toLocaleString('en')} of ${count.toLocaleString('en')} effects ${recoverySeconds.toFixed(0)} s after it; ` +
        `${asked} connections tried meanwhile, at most ${attempts} attempt of a delivery, ${dead} dead`,
      isKept:
        labelled === count &&
        dead === 0 &&
        attempts === 1 &&
        recoverySeconds <= maxRecoverySeconds &&
        // One request at once for each delivery in progress, then at most one probe every 30 s.
        asked <= 40 + seconds / 10,
    };
  } finally {
    await installation.close();
    await line?.close();
  }
};

/** Opens issues at the given rate, or as fast as the forge can. */
async function openIssues({ root }: Installation, count: number, signal: AbortSignal): Promise<void> {
  const beganMs = performance.now();
  for (let number = 0; number < count; number += 1) {
    const waitMs = beganMs + (number * 1_000) / perSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    signal.throwIfAborted();
    await root.call(operations.createIssue, { params: at, body: { title: `Opened ${number}` } });
  }
}

/** Waits until the delivery of every issue is settled; returns the seconds it took, at most ten minutes. */
async function waitForEnd(installation: Installation, count: number, signal: AbortSignal): Promise<number> {
  const beganMs = performance.now();
  for (;;) {
    const { settled } = stateOf(installation);
    const seconds = (performance.now() - beganMs) / 1_000;
    if (settled >= count || seconds > 600) return seconds;
    await sleep(200, undefined, { signal });
  }
}

function stateOf({ database }: Installation) {
  const [row] = readRows(
    database,
    `SELECT count(*) AS stored, coalesce(sum(state = 'settled'), 0) AS settled, coalesce(sum(state = 'dead'), 0) AS dead,
       coalesce(max(attempts), 0) AS attempts
     FROM deliveries WHERE door = 'webhook' AND event_type = 'issues'`,
  );
  const of = (name: string): number => Number(row?.[name]);
  return { stored: of('stored'), settled: of('settled'), dead: of('dead'), attempts: of('attempts') };
}

/** Counts labelled issues on the forge, independently of the bot. */
async function countLabelled({ root }: Installation): Promise<number> {
  let labelled = 0;
  for await (const issue of root.items(operations.listIssues, {
    params: at,
    query: { state: 'all', type: 'issues' },
  }))
    labelled += issue.labels?.filter(({ name }) => name === 'marked').length === 1 ? 1 : 0;
  return labelled;
}
