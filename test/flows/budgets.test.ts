import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { operations } from '../../src/contract/operations.ts';
import { createLog } from '../../src/log.ts';
import { visitWithPassword } from '../support/dashboard-visitor.ts';
import { patienceMs } from '../support/flow-names.ts';
import { at, type Stage, setStage } from '../support/stage.ts';

const rules = `version: 1
rules:
  mark:
    on: [issues.opened]
    steps:
      - { uses: set-labels, with: { sync: { area/docs: 'issue.title.contains("docs")' } } }
      - { uses: comment, with: { text: "Thank you." } }
`;
const issueCount = 300;
const hourMs = 3_600_000;

let folder: string;
let stage: Stage;
let log: string[];
/** How far the clock of the server is ahead. */
let aheadMs: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-budgets-'));
  await writeFile(join(folder, 'rules.yml'), rules);
  aheadMs = 0;
  log = [];
  const write = (line: string): void => void log.push(line);
  stage = await setStage({
    server: {
      rules: folder,
      clock: { ...systemClock, now: () => new Date(Date.now() + aheadMs) },
      log: createLog({ destination: { write } }),
    },
  });
});
afterEach(async () => {
  await stage.close();
  await rm(folder, { recursive: true, force: true });
});

/** Opens an issue for each number, twenty at a time. */
async function openIssues(): Promise<readonly number[]> {
  const opened: number[] = [];
  for (let from = 0; from < issueCount; from += 20) {
    const titles = Array.from({ length: 20 }, (_, place) => `docs ${from + place}`);
    const issues = await Promise.all(
      titles.map((title) => stage.ada.call(operations.createIssue, { params: at, body: { title } })),
    );
    opened.push(...issues.map(({ number }) => number));
  }
  return opened;
}

async function readMetrics(): Promise<string> {
  const password = (await readFile(join(stage.data, 'dashboard.password'), 'utf8')).trim();
  const basic = Buffer.from(`reader:${password}`).toString('base64');
  return (
    await fetch(`${stage.server.url}/metrics`, { headers: { authorization: `Basic ${basic}` } })
  ).text();
}

const appliedOf = (): number =>
  stage.runs.flatMap(({ outcomes }) => outcomes).filter(({ status }) => status === 'applied').length;

it('300 issues opened at once are all done, hour by hour, and no change is refused', {
  timeout: 40 * patienceMs,
}, async () => {
  const issues = await openIssues();
  await stage.quiet();

  const { deferred } = await stage.server.store.counts();
  expect([appliedOf(), deferred]).toEqual([500, 50]);
  const password = (await readFile(join(stage.data, 'dashboard.password'), 'utf8')).trim();
  const overview = await (await visitWithPassword(stage.server.url, password)).get('/');
  expect(overview.text).toContain('Runs deferred by an hourly budget of changes: 50');
  const metrics = await readMetrics();
  expect(metrics).toContain('reeve_deliveries{state="deferred"} 50');
  expect(metrics).toContain('reeve_runs_deferred_total{door="webhook"} 50');
  const lines = log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'a run is deferred');
  expect(lines).toHaveLength(50);
  expect(lines[0]).toMatchObject({
    repository: 'acme/demo',
    why: expect.stringContaining('500 changes an hour'),
  });

  aheadMs += hourMs + 60_000;
  await expect
    .poll(async () => (await stage.server.store.counts()).deferred, { timeout: 10 * patienceMs })
    .toBe(0);
  await stage.quiet();

  expect(appliedOf()).toBe(2 * issueCount);
  for (const index of issues) expect(await stage.labelsOf(index)).toEqual(['area/docs']);
  const refused = stage.runs.flatMap((run) => run.refused).filter(({ until }) => until === undefined);
  expect(refused).toEqual([]);
  expect(await stage.server.store.counts()).toMatchObject({ dead: 0, retry: 0, deferred: 0 });
});

it('a deferred run is planned anew from live state', { timeout: 10 * patienceMs }, async () => {
  await stage.close();
  stage = await setStage({
    server: {
      rules: folder,
      budgets: { delivery: { all: 50, repository: 20 }, hour: { all: 2, repository: 2 } },
      clock: { ...systemClock, now: () => new Date(Date.now() + aheadMs) },
    },
  });
  for (const title of ['docs one', 'docs two', 'docs three']) {
    await stage.ada.call(operations.createIssue, { params: at, body: { title } });
    await stage.quiet();
  }
  expect((await stage.server.store.counts()).deferred).toBe(2);
  const body = { title: 'another title' };
  await stage.ada.call(operations.editIssue, { params: { ...at, index: 2 }, body });

  // Deferred runs survive a restart, too.
  await stage.restart();
  for (let hour = 0; hour < 3; hour += 1) {
    aheadMs += hourMs + 60_000;
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await stage.quiet();
  }

  expect((await stage.server.store.counts()).deferred).toBe(0);
  expect([await stage.labelsOf(1), await stage.labelsOf(2), await stage.labelsOf(3)]).toEqual([
    ['area/docs'],
    [],
    ['area/docs'],
  ]);
});
