import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Incident, incidentKinds } from '../../../engine/incidents/incident.ts';
import type { Run } from '../../../engine/record.ts';
import { packageVersion } from '../../../platform/package.ts';
import { type Store, serverRoles } from '../../../store/store.ts';
import { type MetricName, metricTable } from './metric-table.ts';
import { createQueueMetrics, type QueueMetrics } from './queue-metrics.ts';

type SweptRule = {
  readonly rule: string;
  readonly endedAt: Date;
  readonly items: number;
  readonly failed: number;
  readonly drift: number;
};

/** What is read at each scrape. */
export type MetricData = {
  readonly store: Pick<Store, 'counts' | 'oldestWaiting' | 'listQueues' | 'isLeader' | 'listProcesses'>;
  readonly now: () => Date;
  readonly forge: () => { readonly state: string };
  readonly runners: () => Promise<readonly { readonly level: string; readonly status: string }[]>;
  readonly incidents: () => Promise<readonly Incident[]>;
  /** The latest sweep of each rule of the operator that has had one. */
  readonly sweeps: () => Promise<readonly SweptRule[]>;
};

/** What Reeve tells of itself. */
export interface Metrics extends Pick<QueueMetrics, 'countQueueEvent'> {
  countRun(run: Run): void;
  countRequest(request: { method: string; status: number | undefined; ms: number }): void;
  countDelivery(code: number, result: string): void;
  countAnswer(ms: number): void;
  /** Counts a stored delivery that was refused before any rule saw it. */
  countRefusedDelivery(reason: string): void;
  /** Counts deliveries that were taken over from processes that died. */
  countTakeover(deliveries: number): void;
  /** Returns how many deliveries were refused since the start, by status. */
  refusals(): ReadonlyMap<number, number>;
  /** Returns all of it, as Prometheus reads it. Rejects where the store cannot be read. */
  text(data: MetricData): Promise<string>;
  readonly contentType: string;
}

const forgeStates = ['ok', 'failing', 'refused'];
const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Creates the metrics of one process; each has its own registry. */
export function createMetrics(): Metrics {
  const register = new Registry();
  // Metrics of the process are measured from the first scrape on.
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

/** Exports no value of a gauge until it is set again. */
function leaveOut(gauge: Gauge): void {
  gauge.reset();
  // A gauge without labels is 0 after a reset.
  gauge.remove({});
}

/** Creates the gauges of the installation. The returned function sets them to what the readings say. */
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
    // From here on nothing waits: who asks at the same time sees whole numbers as well.
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
      // There may be any number of rules in repositories.
      if (kind !== 'rule-failed' || level !== 'operator') continue;
      ruleFailures.set({ rule: key }, count);
      ruleFailureTimes.set({ rule: key }, lastAt.getTime() / 1_000);
    }
    for (const { level, status } of levels) {
      // `organization acme`: the name is left out, there may be any number of them.
      runners.inc({ level: level.split(' ', 1)[0] ?? level, status });
    }
    for (const { rule, endedAt, items, failed } of swept) {
      sweepEnds.set({ rule }, endedAt.getTime() / 1_000);
      sweepItems.set({ rule }, items);
      sweepFailures.set({ rule }, failed);
    }
  };
}
