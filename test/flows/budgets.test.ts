import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createLog } from '../../src/platform/log.ts';
import { signInWithPassword } from '../support/dashboard-client.ts';
import { isThorough, recordFigure } from '../support/figure.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { at, type Harness, startHarness } from '../support/harness.ts';
import { scrapeMetrics } from '../support/scrape-metrics.ts';

const rules = `version: 1
rules:
  mark:
    on: [issues.opened]
    steps:
      - { uses: set-labels, with: { sync: { area/docs: 'issue.title.contains("docs")' } } }
      - { uses: comment, with: { text: "Thank you." } }
`;
/**
 * Hourly budget, and a number of issues whose two changes each exceed the budget. A thorough run uses the budget of a
 * server without settings.
 */
const hourly = isThorough ? 500 : 60;
const issueCount = 0.6 * hourly;
/** A fifth of the budget is reserved for changes that protect something. */
const unreserved = 0.8 * hourly;
const deferredCount = issueCount - unreserved / 2;
const budgets = { delivery: { all: 50, repository: 20 }, hour: { all: hourly, repository: 100 } };
const hourMs = 3_600_000;

let folder: string;
let harness: Harness;
let log: string[];
/** How far the server's clock is ahead. */
let aheadMs: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-budgets-'));
  await writeFile(join(folder, 'rules.yml'), rules);
  aheadMs = 0;
  log = [];
  const write = (line: string): void => void log.push(line);
  harness = await startHarness({
    server: {
      rules: folder,
      ...(!isThorough && { budgets }),
      clock: { ...systemClock, now: () => new Date(Date.now() + aheadMs) },
      log: createLog({ destination: { write } }),
    },
  });
});
afterEach(async () => {
  await harness.close();
  await rm(folder, { recursive: true, force: true });
});

/** Opens all issues, twenty at a time. */
async function openIssues(): Promise<readonly number[]> {
  const opened: number[] = [];
  for (let from = 0; from < issueCount; from += 20) {
    const length = Math.min(20, issueCount - from);
    const titles = Array.from({ length }, (_, place) => `docs ${from + place}`);
    const issues = await Promise.all(
      titles.map((title) => harness.ada.call(operations.createIssue, { params: at, body: { title } })),
    );
    opened.push(...issues.map(({ number }) => number));
  }
  return opened;
}

const readMetrics = () => scrapeMetrics({ url: harness.server.url, data: harness.data });

const appliedOf = (): number =>
  harness.runs.flatMap(({ outcomes }) => outcomes).filter(({ status }) => status === 'applied').length;

it(`${issueCount} issues opened at once are all processed, hour by hour, and no change is refused`, {
  timeout: 40 * timeoutMs,
}, async (context) => {
  const issues = await openIssues();
  await harness.idle();

  const { deferred } = await harness.server.store.counts();
  expect([appliedOf(), deferred]).toEqual([unreserved, deferredCount]);
  const password = (await readFile(join(harness.data, 'dashboard.password'), 'utf8')).trim();
  const overview = await (await signInWithPassword(harness.server.url, password)).get('/');
  expect(overview.text).toContain(`Deferred deliveries and jobs: ${deferredCount}`);
  const metrics = await readMetrics();
  expect(metrics).toContain(`reeve_deliveries{state="deferred"} ${deferredCount}`);
  const deferrals = () =>
    log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'a run is deferred');
  const lines = deferrals();
  // A delivery may be deferred twice, or use budget that another delivery returned. Which deliveries, and how many,
  // depends on the machine.
  expect(new Set(lines.map(({ delivery }) => delivery)).size).toBeGreaterThanOrEqual(deferredCount);
  // A run may be deferred a second time between the two reads.
  await expect
    .poll(async () => {
      const text = await readMetrics();
      return text.includes(`reeve_runs_deferred_total{door="webhook"} ${deferrals().length}\n`);
    })
    .toBe(true);
  expect(lines[0]).toMatchObject({
    repository: `${at.owner}/${at.repo}`,
    why: expect.stringContaining(`${hourly} changes per hour`),
  });

  aheadMs += hourMs + 60_000;
  await expect
    .poll(async () => (await harness.server.store.counts()).deferred, { timeout: 10 * timeoutMs })
    .toBe(0);
  await harness.idle();

  expect(appliedOf()).toBe(2 * issueCount);
  for (const index of issues) expect(await harness.labelsOf(index)).toEqual(['area/docs']);
  const refused = harness.runs.flatMap((run) => run.refused).filter(({ until }) => until === undefined);
  expect(refused).toEqual([]);
  expect(await harness.server.store.counts()).toMatchObject({ dead: 0, retry: 0, deferred: 0 });
  recordFigure(
    context,
    `${issueCount} issues at once: ${unreserved} changes, ${deferredCount} runs an hour later, 0 refused`,
  );
});

it('a deferred run is planned again from live state', { timeout: 10 * timeoutMs }, async () => {
  await harness.close();
  harness = await startHarness({
    server: {
      rules: folder,
      budgets: { delivery: { all: 50, repository: 20 }, hour: { all: 2, repository: 2 } },
      clock: { ...systemClock, now: () => new Date(Date.now() + aheadMs) },
    },
  });
  for (const title of ['docs one', 'docs two', 'docs three']) {
    await harness.ada.call(operations.createIssue, { params: at, body: { title } });
    await harness.idle();
  }
  expect((await harness.server.store.counts()).deferred).toBe(2);
  const body = { title: 'another title' };
  await harness.ada.call(operations.editIssue, { params: { ...at, index: 2 }, body });

  // Deferred runs survive a restart as well.
  await harness.restart();
  aheadMs += hourMs;
  const leftLater = async (): Promise<number> => {
    aheadMs += hourMs / 6;
    await harness.idle();
    return (await harness.server.store.counts()).deferred;
  };
  await expect.poll(leftLater, { interval: 500 }).toBe(0);
  await harness.idle();
  expect([await harness.labelsOf(1), await harness.labelsOf(2), await harness.labelsOf(3)]).toEqual([
    ['area/docs'],
    [],
    ['area/docs'],
  ]);
});
