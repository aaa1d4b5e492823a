/** Type, labels and help text of a metric. Labels have few values each, never the name of a repository or a user. */
type MetricRow = {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Set if it is about the whole installation: then the leader alone exports it, so that a sum over processes is right. */
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
    help: '1 in the process that enqueues what is due (the leader), 0 in every other one.',
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
    help: 'Deliveries and jobs in the store: accepted and retry wait for an attempt, deferred wait for an hourly budget, dead wait for `reeve redrive`.',
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
    help: 'Requests to the forge; the code is none if there was no answer.',
  },
  reeve_forge_request_seconds: {
    type: 'histogram',
    labels: ['method'],
    help: 'Response time of the forge.',
  },
  reeve_forge_state: {
    type: 'gauge',
    labels: ['state'],
    help: '1 for the current state of the forge: ok, failing (no answers, 5xx), refused (it does not accept the credential: renew the token).',
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
    help: 'Open incidents: rules that failed in the last seven days and have not passed since (rule-failed), merges into another branch than planned (merged-elsewhere), sweeps with a refused list (sweep-failed), logins that another account has now (account-changed), unusable rule files (file-broken).',
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
    help: 'Merge queues that a person has paused.',
  },
  reeve_merge_queue_merged_total: {
    type: 'counter',
    labels: [],
    help: 'Pull requests that merge queues have merged.',
  },
  reeve_merge_queue_removed_total: {
    type: 'counter',
    labels: ['reason'],
    help: 'Pull requests that left a merge queue without a merge by it, by reason: docs/merge-queue.md lists the reasons.',
  },
  reeve_merge_queue_wait_seconds: {
    type: 'histogram',
    labels: ['outcome'],
    help: 'Time from entering a merge queue to leaving it, by outcome: merged, removed.',
  },
  reeve_merge_queue_bypassed_total: {
    type: 'counter',
    labels: [],
    help: 'Merges of a queue after which the base was another than the tested one, because someone wrote to it in between.',
  },
} as const satisfies Record<string, MetricRow>;

export type MetricName = keyof typeof metricTable;
