/** How a metric is counted; `labels` have few values each, never the name of a repository or a person. */
type MetricRow = {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
};

/** What Reeve tells of itself, in the units of Prometheus: seconds, bytes, totals. */
export const metricTable = {
  reeve_build_info: { type: 'gauge', labels: ['version'], help: 'Always 1; the version is what counts.' },
  reeve_webhook_requests_total: {
    type: 'counter',
    labels: ['code', 'result'],
    help: 'Requests to /webhook by status and what became of them: stored, copy, known, or the guard that refused.',
  },
  reeve_webhook_seconds: {
    type: 'histogram',
    labels: [],
    help: 'Time from the request to the answer of /webhook; forges give up after 5 s.',
  },
  reeve_deliveries_refused_total: {
    type: 'counter',
    labels: ['reason'],
    help: 'Stored deliveries that no rule saw: their secret entry is no longer configured (entry) or does not cover the repository (scope), or the repository is not the one they name (identity).',
  },
  reeve_deliveries: {
    type: 'gauge',
    labels: ['state'],
    help: 'Deliveries and jobs in the store: accepted and retry wait, deferred ones wait for room in an hourly budget, dead ones wait for `reeve redrive`.',
  },
  reeve_queue_oldest_seconds: {
    type: 'gauge',
    labels: [],
    help: 'Age of the oldest delivery that waits for an attempt; 0 where none waits.',
  },
  reeve_run_seconds: {
    type: 'histogram',
    labels: ['door'],
    help: 'Time of a run over one event or item, by how it came in: webhook, cron, cli.',
  },
  reeve_rule_verdicts_total: {
    type: 'counter',
    labels: ['verdict'],
    help: 'What rules said: matched, unmatched, skipped, or failed where one could not be judged.',
  },
  reeve_changes_total: {
    type: 'counter',
    labels: ['action', 'status'],
    help: 'Changes by what became of them: applied, skipped, failed, planned (a rule that observes), refused, deferred (planned anew when its run is repeated).',
  },
  reeve_runs_deferred_total: {
    type: 'counter',
    labels: ['door'],
    help: 'Runs that an hourly budget stopped: their triggers run again from live state when there is room.',
  },
  reeve_forge_requests_total: {
    type: 'counter',
    labels: ['method', 'code'],
    help: 'Requests to the forge; the code is none where no answer came.',
  },
  reeve_forge_request_seconds: {
    type: 'histogram',
    labels: ['method'],
    help: 'Time that the forge took to answer.',
  },
  reeve_forge_state: {
    type: 'gauge',
    labels: ['state'],
    help: '1 for the state the forge is in: ok, failing (no answers, 5xx), refused (it does not accept our credential: renew the token).',
  },
  reeve_runners: {
    type: 'gauge',
    labels: ['level', 'status'],
    help: 'Runners by the level they are of (organization, repository, user, instance) and their status, as sweeps saw them last.',
  },
  reeve_drift: {
    type: 'gauge',
    labels: [],
    help: 'Things that were not as the operator’s rules want them, and stayed so, when they were swept last; `reeve drift` lists them.',
  },
  reeve_incidents: {
    type: 'gauge',
    labels: ['kind'],
    help: 'What needs attention: rules that failed in the last seven days and have not passed since (rule-failed), sweeps that the forge refused a list (sweep-failed), rule files that cannot be used (file-broken).',
  },
  reeve_rule_failures: {
    type: 'gauge',
    labels: ['rule'],
    help: 'How often an operator’s rule has failed since it last began to; absent where it does not fail.',
  },
  reeve_rule_last_failure_timestamp_seconds: {
    type: 'gauge',
    labels: ['rule'],
    help: 'When an operator’s rule failed last, in seconds since 1970; absent where it does not fail.',
  },
  reeve_sweep_last_end_timestamp_seconds: {
    type: 'gauge',
    labels: ['rule'],
    help: 'When the latest sweep of an operator’s rule ended, in seconds since 1970.',
  },
  reeve_sweep_items: {
    type: 'gauge',
    labels: ['rule'],
    help: 'Items that the latest sweep of an operator’s rule held against it.',
  },
  reeve_sweep_failed_items: {
    type: 'gauge',
    labels: ['rule'],
    help: 'Items that the latest sweep of an operator’s rule could not finish.',
  },
} as const satisfies Record<string, MetricRow>;

export type MetricName = keyof typeof metricTable;
