import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Run } from '../../src/engine/record.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { dashboardPassword, makeDashboardApp } from '../../test/support/dashboard-app.ts';
import { exampleData, makeExampleRun } from '../../test/support/example-dashboard.ts';
import { exampleSamples } from '../../test/support/example-samples.ts';
import { benchRow, type Measure, median, onStage, round } from './runner.ts';
import { copyStored, storedCount } from './stored.ts';

/**
 * Measures how long the server takes for each page of the dashboard, requested by an operator, with a very large number
 * of stored deliveries.
 */
export const measure: Measure = ({ quick }) =>
  onStage(async ({ folder, defer }) => {
    const deliveries = storedCount(quick);
    const path = join(folder, 'reeve.db');
    await copyStored(path, deliveries);
    addRuns(path);
    const store = await openSqliteStore({ path, role: 'worker' });
    defer(store.close);
    await store.addSamples(exampleSamples(systemClock.now()));
    const data = { ...exampleData(store), now: () => systemClock.now() };
    const app = makeDashboardApp(store, { dashboardData: data }, () => systemClock.now());
    defer(() => app.close());
    const cookie = await signIn(app);
    const shown = [
      ...['/', '/activity', '/activity?over=week', '/activity?over=month'],
      ...['/deliveries', '/deliveries?show=jobs', '/deliveries?show=all', '/deliveries?state=settled'],
      ...['/deliveries?state=dead', '/deliveries?search=shop-7', '/deliveries?search=nothing-like-it'],
      ...[`/deliveries/${deliveries - 1}`, '/runs', `/runs/${runId(deliveries - 1)}`],
      ...['/rules', '/rules/show?rule=triage.yml%23triage', '/sweeps', '/runners', '/drift', '/queues'],
      ...['/processes', '/audit'],
    ];
    const times: { readonly page: string; readonly ms: number }[] = [];
    for (const page of shown) times.push({ page, ms: await timeOf(app, page, cookie, quick ? 5 : 15) });
    const slowest = times.toSorted((a, b) => b.ms - a.ms)[0] ?? { page: '', ms: Number.NaN };
    return [
      benchRow({
        name: `${shown.length} pages of the dashboard with ${deliveries.toLocaleString('en')} deliveries: the slowest`,
        value: slowest.ms,
        unit: 'ms',
        against: `${slowest.page}; the middle one ${round(median(times.map(({ ms }) => ms)))} ms`,
        target: '<= 50 ms',
      }),
    ];
  });

type App = ReturnType<typeof makeDashboardApp>;

async function signIn(app: App): Promise<string> {
  const answer = await app.inject({
    method: 'POST',
    url: '/sign-in',
    headers: { host: 'localhost', 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ password: dashboardPassword }).toString(),
  });
  return String(answer.headers['set-cookie']).split(';')[0] ?? '';
}

/** Returns the median response time, after a first request that is not measured. */
async function timeOf(app: App, url: string, cookie: string, rounds: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const start = performance.now();
    const { statusCode } = await app.inject({ url, headers: { host: 'localhost', cookie } });
    if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`);
    if (round > 0) times.push(performance.now() - start);
  }
  return median(times);
}

/** Adds a run for each of the newest 10,000 deliveries. */
function addRuns(path: string): void {
  const database = new DatabaseSync(path);
  const newest = database.prepare(
    'SELECT id, repository_id, received_at FROM deliveries ORDER BY id DESC LIMIT 10000',
  );
  const insert = database.prepare(
    'INSERT INTO runs (id, delivery, repository_id, started_at, run) VALUES (?, ?, ?, ?, ?)',
  );
  database.exec('BEGIN');
  for (const { id, repository_id: repository = null, received_at: at } of newest.all().reverse()) {
    const example = makeExampleRun(1);
    const trigger = { ...example.trigger, delivery: String(id), at: String(at) };
    const run: Run = { ...example, id: runId(Number(id)), trigger };
    insert.run(run.id, Number(id), repository, String(at), JSON.stringify(run));
  }
  database.exec('COMMIT');
  database.close();
}

function runId(number: number): string {
  return `0b9a6c1e-7d52-4f3a-9c1b-${String(number).padStart(12, '0')}`;
}
