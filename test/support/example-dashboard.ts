import type { Incident } from '../../src/engine/incidents/incident.ts';
import type { RecordedChange, Run } from '../../src/engine/record.ts';
import type { Verdict } from '../../src/rules/verdict.ts';
import type { AppParts } from '../../src/server/app.ts';
import type { RuleRow, ScheduleRow } from '../../src/server/dashboard/data.ts';
import type { EventSummary, Store } from '../../src/store/store.ts';
import { makeDelivery } from '../store/make.ts';
import { dashboardData } from './dashboard-app.ts';
import { exampleSamples } from './example-samples.ts';
import { makeQueueEntry, saveQueueState } from './stored-queue.ts';

/** Time at which the example pages are displayed. */
export const exampleNow = new Date('2026-03-02T09:30:00.000Z');
const ago = (minutes: number): Date => new Date(exampleNow.getTime() - minutes * 60_000);

const shop = { repositoryId: 7, repository: 'acme/shop' };
const long = {
  repositoryId: 8,
  repository: 'platform-engineering/continuous-integration-templates-and-tools',
};

const verdict = (name: string, result: Verdict['verdict'], more: Partial<Verdict> = {}): Verdict => ({
  rule: `/srv/rules/${name}.yml#${name}`,
  source: `/srv/rules/${name}.yml`,
  commit: '',
  line: 3,
  verdict: result,
  findings: [
    {
      expression: 'pull_request.title.startsWith("WIP")',
      result: result === 'matched' ? 'held' : 'not',
      values: { 'pull_request.title': 'WIP: keep the cart when a session ends' },
      file: `${name}.yml`,
      line: 5,
      column: 9,
    },
  ],
  ...more,
});

const change = (number: number, id: string, label: string): RecordedChange => ({
  id,
  rules: ['/srv/rules/triage.yml#triage'],
  step: 'steps[0]',
  action: 'set-labels',
  operation: 'replaceIssueLabels',
  method: 'PUT',
  path: `/repos/acme/shop/issues/${number}/labels`,
  input: { body: { labels: [label] } },
  target: `label:${label}`,
  value: true,
  before: false,
  after: true,
  reason: 'add',
});

/** Returns a run of the example, in which two rules were evaluated and two changes were applied. */
export function makeExampleRun(n: number, given: Partial<Run> = {}): Run {
  return {
    schema: 1,
    id: `0b9a6c1e-7d52-4f3a-9c1b-${String(n).padStart(12, '0')}`,
    mode: 'enforce',
    trigger: {
      door: 'webhook',
      kind: 'pull_request',
      activity: 'opened',
      at: ago(n * 7).toISOString(),
    },
    rules: [verdict('triage', 'matched'), verdict('size', 'unmatched'), verdict('stale', 'skipped')],
    changes: [change(n, '1', 'needs review'), change(n, '2', 'area: checkout')],
    refused: [],
    outcomes: [
      { change: '1', status: 'applied' },
      { change: '2', status: 'applied' },
    ],
    requests: 4,
    ms: 52,
    ...given,
  };
}

/** Kinds of deliveries in the example, used in turn. */
const kinds = ['applied', 'unmatched', 'failed', 'ignored', 'dead', 'long', 'observed', 'waiting'] as const;

const titles = [
  'Keep the cart when a session ends',
  'WIP: move checkout to the new payment service, with a retry for every step that may fail on a slow network',
  'Fix the build',
  'Totals are wrong for orders with more than one voucher',
];

/** Returns what the example delivery with this number is about. */
function exampleSummary(n: number): EventSummary {
  const activity = ['opened', 'opened', undefined, 'approved'][n % 4];
  return {
    ...(activity === undefined ? {} : { activity }),
    title: `${activity === undefined ? 'main: ' : ''}${titles[n % titles.length]}`,
    actor: ['ada', 'grace', 'reeve-bot'][n % 3] ?? 'ada',
  };
}

function runOfKind(kind: (typeof kinds)[number], n: number): Run | undefined {
  if (kind === 'applied' || kind === 'long') return makeExampleRun(n);
  if (kind === 'unmatched')
    return makeExampleRun(n, {
      rules: [verdict('triage', 'unmatched'), verdict('size', 'unmatched')],
      changes: [],
      outcomes: [],
      ms: 9,
    });
  if (kind === 'failed')
    return makeExampleRun(n, {
      rules: [
        verdict('triage', 'matched'),
        verdict('reviewers', 'failed', { reason: 'team `checkout` does not exist in acme' }),
      ],
      outcomes: [
        { change: '1', status: 'applied' },
        { change: '2', status: 'failed', error: '422: label does not exist' },
      ],
      ms: 1_284,
    });
  if (kind === 'observed')
    return makeExampleRun(n, {
      changes: [{ ...change(n, '1', 'stale'), observed: true }],
      outcomes: [{ change: '1', status: 'planned' }],
    });
  return undefined;
}

/** Fills a store with deliveries and jobs of every outcome, and returns the paths of the pages that show them. */
export async function fillExample(
  store: Store,
  count = 24,
): Promise<{ readonly paths: readonly string[]; readonly pages: Readonly<Record<string, string>> }> {
  const ids: string[] = [];
  const runs: string[] = [];
  const at: { [key: string]: number } = {};
  for (let n = count; n > 0; n -= 1) {
    const kind = kinds[n % kinds.length] ?? 'applied';
    const { repository, repositoryId } = kind === 'long' ? long : shop;
    const { id } = await store.accept(
      makeDelivery({
        eventType: ['pull_request', 'issues', 'push', 'pull_request_review_approved'][n % 4] ?? 'push',
        uuid: `5f0c2a9e-34b1-4c7e-8d1f-${String(n).padStart(12, '0')}`,
        receivedAt: ago(n * 7),
        body: Buffer.from(
          JSON.stringify({ action: 'opened', number: n, repository: { full_name: repository } }),
        ),
      }),
    );
    if (kind === 'ignored') {
      await store.route([
        {
          id,
          to: 'settled',
          reason: 'no rule matches this event type',
          lane: repository,
          repository,
          repositoryId,
          summary: exampleSummary(n),
        },
      ]);
      continue;
    }
    const lane = `${repositoryId}#${n}`;
    await store.route([{ id, to: 'lane', lane, repository, repositoryId, summary: exampleSummary(n) }]);
    if (kind === 'waiting') continue;
    const [claim] = await store.claim({ limit: 1, leaseMs: 60_000, only: [lane] });
    if (claim === undefined) throw new Error('nothing to claim');
    if (at[kind] === undefined || kind === 'dead') ids.push(id);
    at[kind] = n;
    if (kind === 'dead') {
      await store.bury(claim, 'forge-unavailable: the forge answered 502 to 8 attempts in 2 hours');
      continue;
    }
    const run = runOfKind(kind, n);
    if (run) runs.push(run.id);
    await store.settle(claim, run ? [{ ...run, trigger: { ...run.trigger, delivery: id } }] : []);
  }
  for (let n = 3; n > 0; n -= 1)
    await store.enqueue({
      door: 'cron',
      uuid: `sweep /srv/rules/stale.yml#stale 2026-03-0${n}T03:00:00.000Z`,
      kind: 'sweep',
      lane: 'sweep',
      receivedAt: ago(n * 60),
      payload: { rule: '/srv/rules/stale.yml#stale' },
    });
  await store.pause({ kind: 'repository', name: 'acme/legacy' }, '@ada (12) by the dashboard');
  await store.noteAudit({ by: '@ada (12) by the dashboard', action: 'revert', object: `run ${runs[0]}` });
  await store.noteAudit({ by: 'root by reeve redrive', action: 'redrive', object: `delivery ${ids[0]}` });
  await fillExampleSweep(store);
  await fillExampleWait(store);
  await fillExampleQueue(store);
  await store.addSamples(exampleSamples(exampleNow));
  return { paths: pathsOf(ids, runs), pages: examplePages(ids[0], runs[0]) };
}

/** Stores the runs of a sweep over four issues. */
async function fillExampleSweep(store: Store): Promise<void> {
  const runs = [4, 6, 8, 9].map((n, index) =>
    makeExampleRun(100 + n, {
      trigger: {
        door: 'cron',
        kind: 'schedule',
        activity: '',
        delivery: '1',
        item: `acme/shop#${n}`,
        slot: ago(20).toISOString(),
        at: ago(20 - index).toISOString(),
      },
      rules: [verdict('stale', index === 0 ? 'matched' : 'unmatched')],
      changes: [],
      outcomes: [],
    }),
  );
  await store.appendRuns(runs, { repositoryId: shop.repositoryId });
}

/** Stores a job that looks at `acme/shop#8` again in a minute. */
async function fillExampleWait(store: Store): Promise<void> {
  const lane = `${shop.repositoryId}#8`;
  const { id } = await store.enqueue({
    door: 'cron',
    uuid: 'waiting 8',
    kind: 'waiting',
    lane,
    receivedAt: ago(3),
    payload: {},
  });
  await store.route([{ id, to: 'lane', lane, repositoryId: shop.repositoryId }]);
  const [claim] = await store.claim({ limit: 1, leaseMs: 60_000, only: [lane] });
  if (claim === undefined) throw new Error('nothing to claim');
  await store.defer(claim, [], { afterMs: 60_000, why: 'its merge waits for the checks ci/build, ci/test' });
}

async function fillExampleQueue(store: Store): Promise<void> {
  const entries = [41, 8, 57].map((number) =>
    makeQueueEntry(number, { enteredAt: ago(number).toISOString(), rule: '/srv/rules/queue.yml#queue' }),
  );
  const events = (['merged', 'left', 'foreign-write', 'moved'] as const).map((kind, index) => ({
    at: ago(index * 20),
    kind,
    number: 30 + index,
    text: 'its checks passed: ci/build, ci/test, security/scan',
    by: '@ada (12)',
  }));
  await saveQueueState(store, { entries }, { ...shop, base: 'main', events });
  await saveQueueState(
    store,
    {
      entries: [makeQueueEntry(9, { enteredAt: ago(3).toISOString() })],
      blocked: { commit: '9fceb02d0ae598e95dc970b74767f19372d61af8', since: ago(2).toISOString() },
    },
    { ...long, base: 'release/2026-03-with-a-long-name', events },
  );
}

/** Returns a path for each kind of page, by name. Without ids, the delivery and the run do not exist. */
export function examplePages(delivery = '999999', run = 'none'): Readonly<Record<string, string>> {
  return {
    overview: '/',
    activity: '/activity',
    'activity of a month': '/activity?over=month',
    deliveries: '/deliveries',
    'dead deliveries': '/deliveries?state=dead',
    'internal jobs': '/deliveries?show=jobs',
    'a delivery': `/deliveries/${delivery}`,
    runs: '/runs',
    'a run': `/runs/${run}`,
    'merge queues': '/queues',
    'a pull request': '/subjects/acme/shop/pulls/8',
    'an issue without runs': '/subjects/acme/shop/issues/4711',
    rules: '/rules',
    'a rule': '/rules/show?rule=triage.yml%23triage',
    sweeps: '/sweeps',
    drift: '/drift',
    simulate: '/simulate',
    runners: '/runners',
    processes: '/processes',
    audit: '/audit',
    search: '/search',
    'search without a result': '/search?q=999999',
    'an unknown path': '/no/such/page',
  };
}

function pathsOf(ids: readonly string[], runs: readonly string[]): readonly string[] {
  const lists = 'activity deliveries runs sweeps runners drift rules queues processes audit simulate';
  return [
    '/',
    ...lists.split(' ').map((name) => `/${name}`),
    '/activity?over=month',
    '/deliveries?state=dead',
    '/deliveries?show=jobs',
    '/rules/show?rule=triage.yml%23triage',
    '/subjects/acme/shop/pulls/8',
    '/subjects/acme/shop/issues/4711',
    '/search',
    ...ids.map((id) => `/deliveries/${id}`),
    ...runs.slice(0, 3).map((id) => `/runs/${id}`),
  ];
}

const exampleSource = `version: 1
rules:
  triage:
    description: Labels pull requests by the files that they change. # for reviewers
    on: { pull_request: [opened, edited, synchronized] }
    if: pull_request.title.startsWith("WIP") && !pull_request.draft
    steps:
      - uses: set-labels
        with: { add: ["needs review"] }
      - uses: comment
        with: { key: hello, text: "Thanks, {{ pull_request.user.login }}!" }
`;

const exampleRule = (name: string, more: Partial<RuleRow> = {}): RuleRow => ({
  id: `/srv/rules/${name}.yml#${name}`,
  name,
  file: `${name}.yml`,
  line: 3,
  mode: 'enforce',
  listensTo: ['pull_request.opened', 'pull_request.edited', 'pull_request.synchronized'],
  description: 'Labels pull requests by the files that they change.',
  ...more,
});

const exampleIncident = (kind: Incident['kind'], key: string, reason: string): Incident => ({
  kind,
  key,
  count: 12,
  firstAt: ago(3_000),
  lastAt: ago(14),
  level: 'operator',
  reason,
  subject: 'acme/shop#17',
  ...(kind === 'rule-failed' ? { run: makeExampleRun(2).id } : {}),
});

const exampleSchedule = (rule: string, more: Partial<ScheduleRow> = {}): ScheduleRow => ({
  rule: `${rule}.yml#${rule}`,
  clock: '0 3 * * * UTC',
  next: ago(-1_050),
  lastSlot: ago(390),
  missed: 0,
  overlaps: 0,
  job: undefined,
  underWay: undefined,
  result: {
    endedAt: ago(388),
    sentence: '312 of 312 items, 4 changes',
    isComplete: true,
    drift: 0,
    failures: [],
  },
  ...more,
});

/** Returns the data of the example pages: a store filled by `fillExample`, and the state of sweeps and rule files. */
export function exampleData(store: Store, forgeUrl = 'https://forge.example.org'): AppParts['dashboardData'] {
  return {
    ...dashboardData(store, () => exampleNow),
    forgeUrl,
    rules: () => [
      exampleRule('triage'),
      exampleRule('reviewers', { description: undefined }),
      exampleRule('stale', {
        mode: 'observe',
        listensTo: ['at 03:00 every day, UTC over issue'],
        clocks: ['0 3 * * * UTC'],
      }),
      exampleRule('continuous-integration-templates-are-up-to-date', { listensTo: ['push'] }),
    ],
    ruleSource: async () => exampleSource,
    reach: async () => ({ repositories: [shop.repository, long.repository], served: 5, isWhole: true }),
    incidents: async () => [
      exampleIncident('rule-failed', 'reviewers.yml#reviewers', 'team `checkout` does not exist in acme'),
      exampleIncident(
        'sweep-failed',
        'stale.yml#stale',
        '403: listing the issues of acme/secret was refused',
      ),
      exampleIncident(
        'account-changed',
        'grace',
        '"grace" now belongs to account 81, but belonged to account 12 on 2026-01-08',
      ),
      exampleIncident(
        'file-broken',
        'acme/shop/.reeve.yml',
        '.reeve.yml:4:9: unknown-kind: no event "pulls"',
      ),
    ],
    schedules: async () => [
      exampleSchedule('stale', { underWay: '120 of 312 items, 2 changes', missed: 1 }),
      exampleSchedule('continuous-integration-templates-are-up-to-date'),
    ],
    runners: async () =>
      (['online', 'offline', 'online', 'gone'] as const).map((status, n) => ({
        name: `runner-${n}.build.internal.example.org`,
        level: n === 0 ? 'instance' : 'organization acme',
        status,
        busy: n === 0,
        disabled: n === 3,
        flaps: n,
        since: ago(n * 300 + 12),
        labels: ['ubuntu-24.04:docker://node:24', 'self-hosted', 'arm64'],
      })),
    drift: async () =>
      [1, 2].map((n) => ({
        rule: 'stale.yml#stale',
        item: `acme/shop#${n}`,
        target: 'label-definition:needs review',
        live: { color: 'ff0000', description: 'an old description' },
        wanted: { color: '00ff00', description: 'Waits for a reviewer' },
        since: ago(n * 2_000),
        why: 'observed, not sent',
      })),
  };
}
