import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import type { Incident } from '../../../../src/engine/incidents/incident.ts';
import type { Run } from '../../../../src/engine/record.ts';
import type { AppParts } from '../../../../src/server/app.ts';
import { makeDelivery, makeRun } from '../../../store/make.ts';
import { dashboardData, dashboardPassword, makeDashboardApp } from '../../../support/dashboard-app.ts';
import { type DashboardClient, signInWithPassword } from '../../../support/dashboard-client.ts';
import { makeStore } from '../../../support/make-store.ts';
import { tableCells } from '../../../support/serve-dashboard.ts';

const now = new Date('2030-01-01T12:00:00Z');
let close = async (): Promise<void> => {};
afterEach(() => close());

/** Serves the overview of a new store with this data. */
async function serve(data: Partial<AppParts['dashboardData']> = {}) {
  const made = await makeStore({ clock: { now: () => now, monotonicMs: () => now.getTime() } });
  const app = makeDashboardApp(
    made.store,
    { dashboardData: { ...dashboardData(made.store, () => now), ...data } },
    () => now,
  );
  await app.listen({ port: 0, host: '127.0.0.1' });
  close = async () => {
    await app.close();
    await made.close();
  };
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const operator: DashboardClient = await signInWithPassword(url, dashboardPassword);
  const overview = async (): Promise<string> => (await operator.get('/')).text;
  return { store: made.store, operator, overview };
}

const incident = (kind: Incident['kind'], key: string, more: Partial<Incident> = {}): Incident => ({
  kind,
  key,
  count: 3,
  firstAt: now,
  lastAt: now,
  level: 'operator',
  reason: `${key} has a reason`,
  ...more,
});

/** Returns the severity and the first text of each notice. */
const notices = (text: string): readonly string[] =>
  [...text.matchAll(/<li class="(\w+)"><div class="what"><div>(.*?)<\/div>/gs)].map(
    ([, severity, what = '']) => `${severity}: ${/^(?:<[^>]*>)*([^<:,]*)/.exec(what)?.[1]}`,
  );

it('lists what needs attention by severity, each with its action', async () => {
  const { store, overview } = await serve({
    forge: () => ({ state: 'refused', since: now, reason: '401' }),
    incidents: async () => [
      incident('account-changed', 'grace'),
      incident('file-broken', 'acme/shop/.reeve.yml'),
      incident('sweep-failed', 'stale.yml#stale'),
      incident('rule-failed', 'triage.yml#triage', { run: 'a-run', subject: 'acme/shop#7' }),
    ],
    runners: async () => [
      {
        name: 'r1',
        level: 'instance',
        status: 'offline',
        busy: false,
        disabled: false,
        labels: [],
        since: now,
        flaps: 0,
      },
    ],
    drift: async () => [
      {
        rule: 'stale.yml#stale',
        item: 'acme/shop#1',
        target: 'label:x',
        live: 1,
        wanted: 2,
        since: now,
        why: 'observed',
      },
    ],
    refusals: () => new Map([[401, 2]]),
  });
  const { id } = await store.accept(makeDelivery());
  await store.route([{ id, to: 'dead', reason: 'malformed' }]);
  await store.pause({ kind: 'rule', name: 'triage' }, 'root');

  const text = await overview();

  expect(notices(text)).toEqual([
    'critical: The forge refuses our credential',
    'failed: Rules that failed',
    'failed: Sweeps that did not reach every item',
    'failed: Invalid rule files',
    'failed: Dead deliveries',
    'warning: Logins that another account has now',
    'warning: Runners that are offline',
    'warning: Differences from the rules',
    'warning: Deliveries refused by the receiver',
    'note: Paused',
  ]);
  expect(text).toContain('Renew the token');
  expect(text).toContain('href="./rules/show?rule=triage.yml%23triage">Show rule</a>');
  expect(text).toContain('href="./runs/a-run">Show run</a>');
  expect(text).toContain('href="./sweeps">Show sweeps</a>');
  expect(text).toContain('href="./rules">Show file</a>');
  expect(text).toContain('<code>reeve adopt grace</code>');
  expect(text).toContain('<code>reeve explain RUN</code> shows the condition or step');
  expect(text).toMatch(/<button>Try all again<\/button>/);
  expect(text).toMatch(new RegExp(`action="./deliveries/${id}/run">.*?<button>Try again</button>`, 's'));
  expect(text).toContain('<button>Resume rule triage</button>');
});

it('names at most five objects of a kind, and says how many more there are', async () => {
  const incidents = Array.from({ length: 40 }, (_one, n) => incident('rule-failed', `rule-${n}.yml#rule`));
  const { overview } = await serve({ incidents: async () => incidents });

  const text = await overview();

  expect(text.match(/>Show rule</g)).toHaveLength(5);
  expect(text).toContain('Rules that failed: 40');
  expect(text).toContain('And 35 more.');
});

it('says why a delivery is deferred', async () => {
  const { store, overview } = await serve();
  const { id } = await store.accept(makeDelivery());
  await store.route([{ id, to: 'lane', lane: 'acme/shop#7' }]);
  const [claim] = await store.claim({ limit: 1, leaseMs: 60_000 });
  if (claim) await store.defer(claim, [], { afterMs: 60_000, why: 'its merge waits for checks' });

  const text = await overview();

  expect(notices(text)).toEqual(['note: Deferred deliveries and jobs']);
  expect(text).toContain('deferred: its merge waits for checks');
  expect(text).not.toContain('hourly budget');
});

it('tries a dead delivery again', async () => {
  const { store, operator } = await serve();
  const { id } = await store.accept(makeDelivery());
  await store.route([{ id, to: 'dead', reason: 'malformed' }]);

  const answer = await operator.submit('/', `deliveries/${id}/run`);

  expect(answer.status).toBe(303);
  expect((await store.describeDelivery(id))?.state).toBe('accepted');
});

it('says what would appear if nothing needs attention and nothing has run', async () => {
  const { overview } = await serve();

  const text = await overview();

  expect(text).toContain('<strong>Nothing needs attention.</strong>');
  expect(text).toContain('No run is recorded. A run appears when');
  expect(text).toContain('No delivery is stored.');
});

it('shows 24 hours in numbers, each with a chart drawn by the server', async () => {
  const { store, overview } = await serve();
  const at = new Date(now.getTime() - 3_600_000);
  await store.addSamples([
    { minutes: 5, at, name: 'received', amount: 1_200, merge: 'sum' },
    { minutes: 5, at: now, name: 'received', amount: 34, merge: 'sum' },
    { minutes: 5, at, name: 'waiting', amount: 7, merge: 'max' },
    { minutes: 5, at, name: 'failed in sweeps', amount: 3, merge: 'sum' },
    {
      minutes: 5,
      at: new Date(now.getTime() - 25 * 3_600_000),
      name: 'received',
      amount: 9_999,
      merge: 'sum',
    },
  ]);

  const text = await overview();

  expect(text).toMatch(
    /<strong>1,234<\/strong>deliveries received<svg class="spark"[^>]*><path class="busy" d="M\d+/,
  );
  expect(text).toMatch(/<strong>7<\/strong>waiting at most/);
  expect(text).toMatch(/<strong>0<\/strong>given up<svg class="spark"[^>]*><path class="bad" d=""/);
  expect(text).toMatch(/<strong>3<\/strong>sweep items with a failed rule or change/);
  expect(text.match(/<svg class="spark"/g)).toHaveLength(7);
});

it('shows the runs of a sweep as one row', async () => {
  const { store, overview } = await serve();
  const { id: job } = await store.enqueue({
    door: 'cron',
    uuid: 'sweep@1',
    kind: 'sweep',
    lane: 'sweep',
    receivedAt: now,
    payload: {},
  });
  const sweepRun = (n: number): Run => {
    const run = makeRun({});
    return {
      ...run,
      trigger: {
        door: 'cron',
        kind: 'schedule',
        activity: '',
        delivery: job,
        item: `acme/shop#${n}`,
        at: run.trigger.at,
      },
      rules: [
        {
          rule: 'a.yml#stale',
          source: 'a.yml',
          commit: '',
          line: 1,
          verdict: n === 3 ? 'failed' : 'matched',
          findings: [],
        },
      ],
    };
  };
  await store.appendRuns([1, 2, 3].map(sweepRun));
  await store.appendRuns([makeRun({})]);

  const text = await overview();

  const rows = tableCells(text);
  expect(rows).toHaveLength(2);
  expect(rows[1]?.slice(0, 4)).toEqual([
    'failed 3 runs · 1 failed · 2 matched',
    'schedule',
    '3 items',
    'stale',
  ]);
  expect(text).toContain(`href="./deliveries/${job}"`);
});

it('keeps the forms that pause in a menu that opens without a script', async () => {
  const { overview } = await serve();

  expect(await overview()).toMatch(
    /<details class="menu"><summary class="button">Pause<\/summary>.*<button>Pause all writes<\/button>.*<\/details>/s,
  );
});

it('runners that are not seen any more have no current state, on the overview and on their page', async () => {
  const runner = { level: 'organization acme', busy: true, disabled: false, labels: ['linux'], flaps: 0 };
  const at = new Date(now.getTime() - 3 * 3_600_000);
  const id = '/srv/rules/runners.yml#watch';
  const { operator, overview } = await serve({
    runners: async () => [
      { ...runner, name: 'anvil', status: 'online', since: at, notSeenSince: at },
      { ...runner, name: 'bellows', status: 'offline', since: at, notSeenSince: at },
      { ...runner, name: 'crane', status: 'online', since: at },
    ],
    rules: () => [
      {
        id,
        name: 'watch',
        file: 'runners.yml',
        line: 3,
        mode: 'enforce',
        each: ['runner'],
        listensTo: [],
        description: undefined,
      },
    ],
    sight: async () => [
      {
        id,
        name: 'watch',
        lastRunAt: undefined,
        lastFailureAt: undefined,
        isBlind: true,
        limits: [{ text: 'sees no runner (acme: 403)', since: at }],
      },
    ],
  });

  const text = await overview();
  const page = (await operator.get('/runners')).text;

  expect(text).toContain('Runners that are not seen any more: 2');
  expect(text).not.toContain('Runners that are offline');
  expect(tableCells(page)).toEqual([
    ['watch', 'sees no runner (acme: 403)', '3 h ago'],
    ['bellows', 'organization acme', 'not seen since 3 h ago, was offline', '', '', '0', 'linux'],
    ['anvil', 'organization acme', 'not seen since 3 h ago, was online', '', '', '0', 'linux'],
    ['crane', 'organization acme', 'online', '3 h ago', 'works', '0', 'linux'],
  ]);
});
