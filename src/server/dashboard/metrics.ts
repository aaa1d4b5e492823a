import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Incident, incidentKinds } from '../../engine/incidents/incident.ts';
import type { Run } from '../../engine/record.ts';
import { packageVersion } from '../../platform/package.ts';
import type { QueueEvent, QueueRow } from '../../store/queue-rows.ts';
import { type Store, serverRoles } from '../../store/store.ts';
import { leaveReasons, type QueuePhase, queueStateOf } from '../../work/merge-queue/state.ts';

/** Type, labels and help text of a metric. Each label has few values, which never name a repository or a user. */
type MetricRow = {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /**
   * Set for metrics of the whole installation. Only the leader exports them, so that sums over processes are correct.
   */
  readonly ofInstallation?: true;
  readonly labels: readonly string[];
  readonly help: string;
};

/** All metrics of Reeve, in the units of Prometheus: seconds, bytes, totals. */
export const metricTable = {
  reeve_build_info: { type: 'gauge', labels: ['version'], help: 'Always 1; the label contains the version.' },
  reeve_leader: {
    type: 'gauge',
    labels: [],
    help: '1 in the process that enqueues due jobs (the leader), 0 in all others.',
  },
  reeve_processes: {
    type: 'gauge',
    ofInstallation: true,
    labels: ['role'],
    help: 'Live processes of the installation by role: all, web, worker.',
  },
  reeve_takeovers_total: {
    type: 'counter',
    labels: [],
    help: 'Deliveries that this process took over from processes that died.',
  },
  reeve_webhook_requests_total: {
    type: 'counter',
    labels: ['code', 'result'],
    help: 'Requests to /webhook by status and result: stored, copy, known, or the guard that refused.',
  },
  reeve_webhook_seconds: {
    type: 'histogram',
    labels: [],
    help: 'Response time of /webhook; forges give up after 5 s.',
  },
  reeve_deliveries_refused_total: {
    type: 'counter',
    labels: ['reason'],
    help: 'Stored deliveries that were refused before any rule: their secret entry is no longer configured (entry) or does not cover the repository (scope), or id and name belong to different repositories (identity).',
  },
  reeve_deliveries: {
    type: 'gauge',
    ofInstallation: true,
    labels: ['state'],
    help: 'Deliveries and jobs in the store: accepted and retry wait for an attempt, deferred wait for an hourly budget, the end of a pause or their next look, dead wait for `reeve redrive`.',
  },
  reeve_queue_oldest_seconds: {
    type: 'gauge',
    ofInstallation: true,
    labels: [],
    help: 'Age of the oldest delivery that waits for an attempt; 0 if none waits.',
  },
  reeve_run_seconds: {
    type: 'histogram',
    labels: ['door'],
    help: 'Duration of a run for one event or item, by its trigger: webhook, cron, cli.',
  },
  reeve_rule_verdicts_total: {
    type: 'counter',
    labels: ['verdict'],
    help: 'Verdicts of rules: matched, unmatched, skipped, or failed if a rule could not be evaluated.',
  },
  reeve_changes_total: {
    type: 'counter',
    labels: ['action', 'status'],
    help: 'Changes by outcome: applied, skipped, failed, planned (rule in observe mode), refused, deferred (planned again when its run is repeated).',
  },
  reeve_runs_deferred_total: {
    type: 'counter',
    labels: ['door'],
    help: 'Runs that an hourly budget stopped: their triggers run again from live state when the budget allows.',
  },
  reeve_forge_requests_total: {
    type: 'counter',
    labels: ['method', 'code'],
    help: 'Requests to the forge; the code is none if there was no response.',
  },
  reeve_forge_request_seconds: {
    type: 'histogram',
    labels: ['method'],
    help: 'Response time of the forge.',
  },
  reeve_forge_state: {
    type: 'gauge',
    labels: ['state'],
    help: '1 for the current state of the forge: ok, failing (no responses, 5xx), refused (it does not accept the credential: renew the token).',
  },
  reeve_runners: {
    type: 'gauge',
    ofInstallation: true,
    labels: ['level', 'status'],
    help: 'Runners by level (organization, repository, user, instance) and status, as of the latest sweep.',
  },
  reeve_drift: {
    type: 'gauge',
    ofInstallation: true,
    labels: [],
    help: 'Remaining differences between live state and the operator’s rules, as of the latest sweep; `reeve drift` lists them.',
  },
  reeve_incidents: {
    type: 'gauge',
    ofInstallation: true,
    labels: ['kind'],
    help: 'Open incidents: rules that failed in the last seven days and have not passed since (rule-failed), merges into another branch than planned (merged-elsewhere), sweeps with a refused list (sweep-failed), logins that now belong to another account (account-changed), rules of the operator that cannot see what they need (rule-blind) or cannot act (rule-hindered), named secrets that cannot be used (secret-unusable), webhooks that do not deliver (hook-silent), unusable rule files (file-broken).',
  },
  reeve_rule_failures: {
    type: 'gauge',
    ofInstallation: true,
    labels: ['rule'],
    help: 'Number of failures of an operator’s rule since its incident began; absent if it does not fail.',
  },
  reeve_rule_last_failure_timestamp_seconds: {
    type: 'gauge',
    ofInstallation: true,
    labels: ['rule'],
    help: 'Time of the latest failure of an operator’s rule, in seconds since 1970; absent if it does not fail.',
  },
  reeve_sweep_last_end_timestamp_seconds: {
    type: 'gauge',
    ofInstallation: true,
    labels: ['rule'],
    help: 'End time of the latest sweep of an operator’s rule, in seconds since 1970.',
  },
  reeve_sweep_items: {
    type: 'gauge',
    ofInstallation: true,
    labels: ['rule'],
    help: 'Items that the latest sweep of an operator’s rule evaluated.',
  },
  reeve_sweep_failed_items: {
    type: 'gauge',
    ofInstallation: true,
    labels: ['rule'],
    help: 'Items that failed in the latest sweep of an operator’s rule.',
  },
  reeve_merge_queue_length: {
    type: 'gauge',
    ofInstallation: true,
    labels: ['phase'],
    help: 'Pull requests in merge queues by phase: waiting for its turn, updating (brought up to date with its base), testing (waits for its checks), ready (merged next).',
  },
  reeve_merge_queues_paused: {
    type: 'gauge',
    ofInstallation: true,
    labels: [],
    help: 'Manually paused merge queues.',
  },
  reeve_merge_queue_merged_total: {
    type: 'counter',
    labels: [],
    help: 'Pull requests that merge queues have merged.',
  },
  reeve_merge_queue_removed_total: {
    type: 'counter',
    labels: ['reason'],
    help: 'Pull requests that left a merge queue without being merged by it, by reason; docs/merge-queue.md lists the reasons.',
  },
  reeve_merge_queue_wait_seconds: {
    type: 'histogram',
    labels: ['outcome'],
    help: 'Time from entering a merge queue to leaving it, by outcome: merged, removed.',
  },
  reeve_merge_queue_bypassed_total: {
    type: 'counter',
    labels: [],
    help: 'Merges onto another base than the tested one, because someone wrote to the base in between.',
  },
} as const satisfies Record<string, MetricRow>;

type MetricName = keyof typeof metricTable;

type SweptRule = {
  readonly rule: string;
  readonly endedAt: Date;
  readonly items: number;
  readonly failed: number;
  readonly drift: number;
};

/** Data that is read for each scrape. */
export type MetricData = {
  readonly store: Pick<Store, 'counts' | 'oldestWaiting' | 'listQueues' | 'isLeader' | 'listProcesses'>;
  readonly now: () => Date;
  readonly forge: () => { readonly state: string };
  readonly runners: () => Promise<readonly { readonly level: string; readonly status: string }[]>;
  readonly incidents: () => Promise<readonly Incident[]>;
  /** The latest sweep of each operator rule that has been swept. */
  readonly sweeps: () => Promise<readonly SweptRule[]>;
};

/** The metrics of one process. */
export interface Metrics extends Pick<QueueMetrics, 'countQueueEvent'> {
  countRun(run: Run): void;
  countRequest(request: { method: string; status: number | undefined; ms: number }): void;
  countDelivery(code: number, result: string): void;
  countAnswer(ms: number): void;
  /** Counts a stored delivery that was refused before any rule evaluation. */
  countRefusedDelivery(reason: string): void;
  /** Counts deliveries taken over from dead processes. */
  countTakeover(deliveries: number): void;
  /** Returns the number of deliveries refused since startup, by status. */
  refusals(): ReadonlyMap<number, number>;
  /** Returns all metrics in the Prometheus text format. Rejects if the store cannot be read. */
  text(data: MetricData): Promise<string>;
  readonly contentType: string;
}

const forgeStates = ['ok', 'failing', 'refused'];
const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Creates the metrics of one process, in a separate registry. */
export function createMetrics(): Metrics {
  const register = new Registry();
  // Process metrics are collected from the first scrape on.
  let isAsked = false;
  const common = (name: MetricName) => {
    const { help, labels } = metricTable[name];
    return { name, help, labelNames: [...labels], registers: [register] };
  };
  const counter = (name: MetricName) => new Counter(common(name));
  const ofInstallation: Gauge[] = [];
  const gauge = (name: MetricName) => {
    const made = new Gauge(common(name));
    if ('ofInstallation' in metricTable[name]) ofInstallation.push(made);
    return made;
  };
  const histogram = (name: MetricName, buckets: readonly number[] = seconds) =>
    new Histogram({ ...common(name), buckets: [...buckets] });

  const refused = new Map<number, number>();
  const webhookRequests = counter('reeve_webhook_requests_total');
  const webhookSeconds = histogram('reeve_webhook_seconds');
  const refusedDeliveries = counter('reeve_deliveries_refused_total');
  const runSeconds = histogram('reeve_run_seconds');
  const verdicts = counter('reeve_rule_verdicts_total');
  const changes = counter('reeve_changes_total');
  const deferredRuns = counter('reeve_runs_deferred_total');
  const forgeRequests = counter('reeve_forge_requests_total');
  const forgeSeconds = histogram('reeve_forge_request_seconds');
  const takeovers = counter('reeve_takeovers_total');
  const leader = gauge('reeve_leader');
  const forge = gauge('reeve_forge_state');
  const queues = createQueueMetrics({ counter, gauge, histogram });
  const measure = createGauges(gauge);
  gauge('reeve_build_info').set({ version: packageVersion() }, 1);

  return {
    countRun({ trigger, rules, changes: made, outcomes, refused, ms }) {
      runSeconds.observe({ door: trigger.door }, ms / 1_000);
      for (const [verdict, some] of Map.groupBy(rules, (rule) => rule.verdict))
        verdicts.inc({ verdict }, some.length);
      const actions = new Map(made.map(({ id, action }) => [id, action]));
      for (const { change, status } of outcomes) changes.inc({ action: actions.get(change) ?? '', status });
      for (const { change, until } of refused) {
        changes.inc({ action: change.action, status: until === undefined ? 'refused' : 'deferred' });
      }
      if (refused.some(({ until }) => until !== undefined)) deferredRuns.inc({ door: trigger.door });
    },
    countRequest({ method, status, ms }) {
      forgeRequests.inc({ method, code: status === undefined ? 'none' : String(status) });
      forgeSeconds.observe({ method }, ms / 1_000);
    },
    countDelivery(code, result) {
      webhookRequests.inc({ code: String(code), result });
      if (code >= 400 && result !== 'probe') refused.set(code, (refused.get(code) ?? 0) + 1);
    },
    refusals: () => refused,
    countAnswer: (ms) => webhookSeconds.observe(ms / 1_000),
    countQueueEvent: (event) => queues.countQueueEvent(event),
    countRefusedDelivery: (reason) => refusedDeliveries.inc({ reason }),
    countTakeover: (deliveries) => takeovers.inc(deliveries),
    async text(data) {
      if (!isAsked) collectDefaultMetrics({ register });
      isAsked = true;
      const isLeader = data.store.isLeader();
      if (isLeader) {
        const [rows] = await Promise.all([data.store.listQueues(), measure(data)]);
        queues.measureQueues(rows);
      } else {
        for (const one of ofInstallation) leaveOut(one);
      }
      leader.set(isLeader ? 1 : 0);
      for (const state of forgeStates) forge.set({ state }, state === data.forge().state ? 1 : 0);
      return register.metrics();
    },
    contentType: register.contentType,
  };
}

/** Omits a gauge from the export until it is set again. */
function leaveOut(gauge: Gauge): void {
  gauge.reset();
  // After a reset, a gauge without labels has the value 0.
  gauge.remove({});
}

/** Creates the gauges of the installation, and returns the function that sets them from the readings. */
function createGauges(gauge: (name: MetricName) => Gauge): (readings: MetricData) => Promise<void> {
  const deliveries = gauge('reeve_deliveries');
  const oldest = gauge('reeve_queue_oldest_seconds');
  const processes = gauge('reeve_processes');
  const runners = gauge('reeve_runners');
  const drift = gauge('reeve_drift');
  const incidentCounts = gauge('reeve_incidents');
  const ruleFailures = gauge('reeve_rule_failures');
  const ruleFailureTimes = gauge('reeve_rule_last_failure_timestamp_seconds');
  const sweepEnds = gauge('reeve_sweep_last_end_timestamp_seconds');
  const sweepItems = gauge('reeve_sweep_items');
  const sweepFailures = gauge('reeve_sweep_failed_items');

  return async ({ store, now, ...data }) => {
    const [counts, waiting, alive, levels, swept, incidents] = await Promise.all([
      store.counts(),
      store.oldestWaiting(),
      store.listProcesses(),
      data.runners(),
      data.sweeps(),
      data.incidents(),
    ]);
    // No awaits from here on, so that concurrent scrapes see consistent numbers.
    for (const [state, count] of Object.entries(counts)) deliveries.set({ state }, count);
    oldest.set(waiting === undefined ? 0 : Math.max((now().getTime() - waiting.getTime()) / 1_000, 0));
    for (const role of serverRoles) processes.set({ role }, alive.filter((one) => one.role === role).length);
    drift.set(swept.reduce((sum, one) => sum + one.drift, 0));
    for (const one of [runners, ruleFailures, ruleFailureTimes, sweepEnds, sweepItems, sweepFailures]) {
      one.reset();
    }
    for (const kind of Object.keys(incidentKinds)) {
      incidentCounts.set({ kind }, incidents.filter((incident) => incident.kind === kind).length);
    }
    for (const { kind, level, key, count, lastAt } of incidents) {
      // The number of rules in repositories is unbounded.
      if (kind !== 'rule-failed' || level !== 'operator') continue;
      ruleFailures.set({ rule: key }, count);
      ruleFailureTimes.set({ rule: key }, lastAt.getTime() / 1_000);
    }
    for (const { level, status } of levels) {
      // The name in `organization acme` is omitted, because the number of names is unbounded.
      runners.inc({ level: level.split(' ', 1)[0] ?? level, status });
    }
    for (const { rule, endedAt, items, failed } of swept) {
      sweepEnds.set({ rule }, endedAt.getTime() / 1_000);
      sweepItems.set({ rule }, items);
      sweepFailures.set({ rule }, failed);
    }
  };
}

/** Buckets for the time in a queue, in seconds: from a minute to a day. */
const waitSeconds = [60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400];
const phases: readonly QueuePhase[] = ['waiting', 'updating', 'testing', 'ready'];
/** Reasons to leave a queue other than a merge; a reason from a later version counts as `other`. */
const removals: readonly string[] = [
  ...Object.keys(leaveReasons).filter((reason) => reason !== 'merged'),
  'other',
];

/** The metrics of merge queues. */
interface QueueMetrics {
  /** Counts an event of a queue, once it is stored. */
  countQueueEvent(event: Pick<QueueEvent, 'kind' | 'reason' | 'at' | 'enteredAt'>): void;
  /** Sets the queue lengths from the rows of the store. */
  measureQueues(rows: readonly QueueRow[]): void;
}

/** Creates the metrics of merge queues; each counter begins at 0. */
function createQueueMetrics(make: {
  readonly counter: (name: MetricName) => Counter;
  readonly gauge: (name: MetricName) => Gauge;
  readonly histogram: (name: MetricName, buckets: readonly number[]) => Histogram;
}): QueueMetrics {
  const length = make.gauge('reeve_merge_queue_length');
  const paused = make.gauge('reeve_merge_queues_paused');
  const merged = make.counter('reeve_merge_queue_merged_total');
  const removed = make.counter('reeve_merge_queue_removed_total');
  const wait = make.histogram('reeve_merge_queue_wait_seconds', waitSeconds);
  const bypassed = make.counter('reeve_merge_queue_bypassed_total');
  for (const reason of removals) removed.inc({ reason }, 0);

  return {
    countQueueEvent({ kind, reason = 'other', at, enteredAt }) {
      if (kind === 'foreign-write') bypassed.inc();
      if (kind !== 'merged' && kind !== 'left') return;
      if (kind === 'merged') merged.inc();
      else removed.inc({ reason: removals.includes(reason) ? reason : 'other' });
      if (enteredAt === undefined) return;
      const seconds = Math.max(at.getTime() - enteredAt.getTime(), 0) / 1_000;
      wait.observe({ outcome: kind === 'merged' ? 'merged' : 'removed' }, seconds);
    },
    measureQueues(rows) {
      const states = rows.map(queueStateOf);
      const entries = states.flatMap((state) => state.entries);
      for (const phase of phases)
        length.set({ phase }, entries.filter((entry) => entry.phase === phase).length);
      paused.set(states.filter((state) => state.paused !== undefined).length);
    },
  };
}
