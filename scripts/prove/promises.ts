import type { ReliabilityPromise } from './promise.ts';

/** All promises, in the order of their numbers. */
export const promises: readonly ReliabilityPromise[] = [
  // Promises of the receiver: P1 to P14.
  {
    id: 'P1',
    promise: 'No acknowledged delivery is lost when the process dies.',
    target: { quick: '0 lost with 30 kills', full: '0 lost of 150,000 acknowledged with 1,000 kills' },
    proofs: [{ file: 'test/store/crash.test.ts' }, { drill: () => import('./drills/kills.ts') }],
    twins: ['answer-before-sync', 'leases-outlive-their-process'],
  },
  {
    id: 'P2',
    promise: 'No acknowledged delivery is lost when the machine loses power.',
    target: {
      quick: '0 lost, 0 damaged in 40 simulated power cuts',
      full: '0 lost, 0 damaged in 400 simulated power cuts',
    },
    proofs: [
      { file: 'test/store/sqlite/faults.test.ts', titled: /a sync that fails/ },
      { file: 'test/store/sqlite/commits.test.ts' },
      { drill: () => import('./drills/power-cuts.ts') },
    ],
    twins: ['answer-before-sync', 'no-checkpoint-after-failed-sync'],
  },
  {
    id: 'P3',
    promise: 'A disk error never looks like success, and the store recovers by itself.',
    target: { quick: '0 acknowledged without a row', full: '0 acknowledged without a row' },
    proofs: [{ file: 'test/store/sqlite/faults.test.ts', titled: /a disk that fails/ }],
    twins: ['answer-before-sync', 'no-checkpoint-after-failed-sync', 'health-by-small-writes'],
  },
  {
    id: 'P4',
    promise:
      'A full disk is answered with 503, damages nothing, and deliveries are accepted again when there is space.',
    target: { quick: '0 lost, accepted again', full: '0 lost, accepted again' },
    proofs: [
      { file: 'test/store/sqlite/sqlite-store.test.ts', titled: /that is full/ },
      { file: 'test/server/receiver/route.test.ts', titled: /503 with Retry-After/ },
      { file: 'test/cli/commands/lost-store.test.ts' },
    ],
    twins: ['full-disk-is-another-reeve', 'lost-files-not-noticed'],
  },
  {
    id: 'P5',
    promise: 'A delivery is acknowledged well within the time-out of the forge, also while rules run.',
    target: {
      quick: 'p99 <= 50 ms, max <= 500 ms at 200 deliveries/s of 10 KB for 10 s',
      full: 'p99 <= 50 ms, max <= 500 ms at 200 deliveries/s of 10 KB for 5 min',
    },
    proofs: [
      { file: 'test/server/receiver/attack.test.ts' },
      { file: 'test/flows/hostile-rules.test.ts' },
      { drill: () => import('./drills/latency.ts') },
    ],
    twins: ['one-budget-for-all-bodies', 'one-address-takes-all-memory'],
  },
  {
    id: 'P6',
    promise: 'A delivery that arrives twice has its effect once.',
    target: { quick: '1 row, 1 effect', full: '1 row, 1 effect' },
    proofs: [
      {
        file: 'test/store/sqlite/sqlite-store.test.ts',
        titled: /uuid that is known|concurrent copies|as a copy that does not run|recognises a copy/,
      },
      { file: 'test/server/receiver/route.test.ts', titled: /uuid is known|as a copy/ },
      { file: 'test/engine/repeated.test.ts' },
      {
        file: 'test/flows/every-action.test.ts',
        titled: /every action has a row|changes nothing the second time/,
      },
    ],
    twins: ['stateless-steps-repeated', 'repeat-taken-for-new', 'command-executed-twice'],
  },
  {
    id: 'P7',
    promise: 'A recorded delivery that is sent again causes nothing that the current state does not justify.',
    target: { quick: '0 effects without a reason', full: '0 effects without a reason' },
    proofs: [
      { file: 'test/flows/replayed-deliveries.test.ts' },
      { file: 'test/flows/forged-identity.test.ts' },
      { file: 'test/engine/announced.test.ts' },
      { file: 'test/contract-payload-members.test.ts' },
    ],
    twins: [
      'deleted-comment-triggers',
      'old-comment-triggers',
      'repeat-of-dead-delivery',
      'identity-not-compared',
      'scope-of-claimed-name',
    ],
  },
  {
    id: 'P8',
    promise: 'Only signed deliveries are accepted.',
    target: { quick: '0 near misses accepted', full: '0 of 1,000,000 near misses accepted' },
    proofs: [
      { file: 'test/server/receiver/route.test.ts', titled: /near a credential/ },
      { file: 'test/server/receiver/socket.test.ts', titled: /without a valid authorization header/ },
      { file: 'test/server/receiver/secrets.test.ts' },
    ],
    twins: ['signature-of-any-length', 'authorization-after-the-body'],
  },
  {
    id: 'P9',
    promise: 'The time of a refusal does not reveal which part of a secret was right.',
    target: { quick: '|t| < 5 in 20,000 samples', full: '|t| < 5 in 200,000 samples' },
    proofs: [
      { file: 'test/server/receiver/verify.test.ts' },
      { file: 'test/security/one-comparison.test.ts' },
      { drill: () => import('./drills/timing.ts') },
    ],
    twins: ['first-secret-match-returns-early', 'password-compared-by-equality'],
  },
  {
    id: 'P10',
    promise: 'An oversized body is answered with 413 and not kept in memory.',
    target: {
      quick: 'memory + < 50 MB under 30 streams at once',
      full: 'memory + < 50 MB under 100 streams of 1 GB at once',
    },
    proofs: [
      { file: 'test/server/receiver/socket.test.ts', titled: /over the limit/ },
      { file: 'test/server/receiver/body-budget.test.ts' },
      { drill: () => import('./drills/oversized.ts') },
    ],
    twins: ['chunked-413-reset', 'one-address-takes-all-memory', 'largest-body-is-fixed'],
  },
  {
    id: 'P11',
    promise: 'Slow senders do not stop the intake.',
    target: {
      quick: 'p99 <= 200 ms beside 200 slow connections, each closed within 12 s',
      full: 'p99 <= 200 ms beside 1,000 slow connections, each closed within 12 s',
    },
    proofs: [
      { file: 'test/server/receiver/socket.test.ts', titled: /a slow sender/ },
      { drill: () => import('./drills/slow-senders.ts') },
    ],
    twins: ['slow-bodies-not-dropped', 'one-budget-for-all-bodies'],
  },
  {
    id: 'P12',
    promise: 'No body crashes the receiver or the worker.',
    target: {
      quick: '0 crashes of 10,000 fuzzed deliveries',
      full: '0 crashes of 1,000,000 fuzzed deliveries, or of as many as 14 min allow',
    },
    proofs: [
      { file: 'test/server/receiver/route.test.ts', titled: /^garbage|do not fit its event type/ },
      { drill: () => import('./drills/fuzz.ts') },
    ],
    twins: ['shape-not-checked', 'stored-shape-not-checked'],
  },
  {
    id: 'P13',
    promise: 'No body reaches a prototype.',
    target: { quick: '0 changed prototypes', full: '0 changed prototypes' },
    proofs: [{ file: 'test/server/receiver/route.test.ts', titled: /prototype/ }],
    twins: ['prototype-key-accepted'],
  },
  {
    id: 'P14',
    promise: 'Unknown event types, activities and members are harmless.',
    target: {
      quick: 'every known event type and 50 invented ones: 0 effects',
      full: 'every known event type and 1,000 invented ones: 0 effects',
    },
    proofs: [{ file: 'test/flows/every-kind.test.ts' }, { file: 'test/recorded/receiver.test.ts' }],
    twins: ['unknown-event-type-dead'],
  },
  // Promises of the worker, the sweeps and the process: P15 to P25.
  {
    id: 'P15',
    promise:
      'A delivery whose handling a crash interrupts is handled again, without a second visible effect.',
    target: {
      quick: '0 lost, 0 effects twice with 9 kills',
      full: '0 lost, 0 effects twice with 603 kills, or as many as 14 min allow',
    },
    proofs: [
      { file: 'test/store/sqlite/sqlite-store.test.ts', titled: /after a crash|void after a restart/ },
      { file: 'test/flows/notify.test.ts', titled: /killed/ },
      { drill: () => import('./drills/crash-points.ts') },
    ],
    twins: ['crash-spends-attempts', 'no-suspects', 'leases-outlive-their-process'],
  },
  {
    id: 'P16',
    promise: 'A worker that lost its lease writes nothing.',
    target: {
      quick: '0 writes under a lost lease in 20 interleavings',
      full: '0 writes under a lost lease in 10,000 interleavings',
    },
    proofs: [
      { file: 'test/work/deliveries/leases.test.ts' },
      { file: 'test/store/sqlite/sqlite-store.test.ts', titled: /leases/ },
      { file: 'test/store/postgres/fences.test.ts' },
    ],
    twins: [
      'lease-not-compared',
      'postgres-unfenced-zombie',
      'postgres-end-without-lease',
      'postgres-lane-claimed-twice',
    ],
  },
  {
    id: 'P17',
    promise: 'Retries come later each time, not together, as late as the forge asks, and end with a reason.',
    target: {
      quick: 'every wait within 20 % of its share, never beyond the cap; dead with the reason',
      full: 'every wait within 20 % of its share, never beyond the cap; dead with the reason',
    },
    proofs: [
      { file: 'test/work/deliveries/backoff.test.ts' },
      { file: 'test/work/deliveries/failures.test.ts' },
      { file: 'test/client/client.test.ts', titled: /^retries/ },
    ],
    twins: ['no-jitter', 'no-jitter-at-the-cap', 'lifetime-is-a-count', 'pause-beyond-lifetime-cut'],
  },
  {
    id: 'P18',
    promise:
      'Dead deliveries can be handled again, one or all, by command and dashboard, once, with an entry in the audit.',
    target: { quick: 'redriven once, with who and when', full: 'redriven once, with who and when' },
    proofs: [
      { file: 'test/store/sqlite/sqlite-store.test.ts', titled: /redriv/ },
      { file: 'test/cli/commands/targets.test.ts', titled: /redriv/ },
      { file: 'test/server/dashboard/pages.test.ts', titled: /a dead delivery|press of a button/ },
    ],
    twins: ['redriven-while-waiting'],
  },
  {
    id: 'P19',
    promise: 'After an outage of the forge, every effect is there, and the outage spends no attempt.',
    target: {
      quick: 'all effects of 100 events within 2 min',
      full: '12,000 of 12,000 effects after an outage of 10 min',
    },
    proofs: [
      { file: 'test/flows/outages.test.ts' },
      { file: 'test/work/deliveries/outages.test.ts' },
      { file: 'test/work/deliveries/breaker.test.ts' },
      { drill: () => import('./drills/outage.ts') },
    ],
    twins: ['breaker-only-on-refused-connections', 'poison-stops-all', 'unauthorized-not-kept'],
  },
  {
    id: 'P20',
    promise: 'No broken connection to the forge causes an effect twice.',
    target: {
      quick: '0 lost, 0 twice: 2 faults × 6 kinds of actions',
      full: '0 lost, 0 twice: 9 faults × each kind of action that an event triggers',
    },
    proofs: [
      { file: 'test/flows/faults.test.ts', titled: /a forge that fails/ },
      { file: 'test/actions/run-workflow.test.ts', titled: /lost answer/ },
      { file: 'test/client/client.test.ts', titled: /retries|stopped/ },
      { drill: () => import('./drills/action-faults.ts') },
    ],
    twins: ['workflow-repeated-blindly', 'message-key-of-its-time', 'body-outlives-its-signal'],
  },
  {
    id: 'P21',
    promise:
      'The order of deliveries about one issue or pull request is kept, and one that fails stops no other lane.',
    target: { quick: '0 out of order', full: '0 of 10,000 random schedules out of order' },
    proofs: [
      { file: 'test/work/deliveries/order.test.ts' },
      { file: 'test/work/deliveries/outages.test.ts', titled: /no other lane/ },
      { file: 'test/work/deliveries/breaker.test.ts' },
    ],
    twins: ['lane-out-of-order', 'poison-stops-all', 'postgres-lane-claimed-twice'],
  },
  {
    id: 'P22',
    promise: 'What happened while Reeve was down is found when it starts.',
    target: {
      quick: 'the final state equals that of 60 delivered events',
      full: 'the final state equals that of 500 delivered events',
    },
    proofs: [
      { file: 'test/flows/missed-deliveries.test.ts' },
      { file: 'test/flows/catch-up.test.ts' },
      { file: 'test/flows/server-faults.test.ts', titled: /had no target/ },
    ],
    twins: ['catch-up-knows-only-new-refs', 'notes-per-process'],
  },
  {
    id: 'P23',
    promise: 'SIGTERM ends the process within 10 s with status 0, and loses nothing.',
    target: {
      quick: '20 SIGTERMs: each within 10 s with status 0; 0 lost',
      full: '1,000 SIGTERMs, or as many as 14 min allow: each within 10 s with status 0; 0 lost',
    },
    proofs: [{ drill: () => import('./drills/sigterms.ts') }, { file: 'test/cli/commands/shutdown.test.ts' }],
    twins: ['calls-survive-the-stop', 'second-signal-ignored', 'sighup-not-taken-over'],
  },
  {
    id: 'P24',
    promise: 'A clock that jumps stops no schedule, repeats no slot and gives up no delivery.',
    target: {
      quick: '0 slots twice, none skipped by more than a period',
      full: '0 slots twice, none skipped by more than a period',
    },
    proofs: [
      { file: 'test/work/sweeps/schedule/schedule.test.ts', titled: /set back|ahead and back/ },
      { file: 'test/platform/clock.test.ts' },
      { file: 'test/flows/clock-changes.test.ts' },
    ],
    twins: ['schedule-waits-for-the-clock', 'retry-not-clamped', 'age-by-the-wall-clock'],
  },
  {
    id: 'P25',
    promise:
      'A slot runs once: in the hour that comes twice, after downtime, and while the one before is still running.',
    target: { quick: '0 slots twice, 0 lost', full: '0 slots twice, 0 lost' },
    proofs: [
      { file: 'test/work/sweeps/schedule/cron.test.ts' },
      { file: 'test/work/sweeps/schedule/schedule.test.ts' },
      { file: 'test/work/sweeps/schedule/two-schedulers.test.ts' },
    ],
    twins: ['slot-overlaps-itself', 'deferred-slot-blocks-the-next'],
  },
  // Promises about rules, secrets and pages: P26 to P37.
  {
    id: 'P26',
    promise: 'A broken rule file harms only its own repository, and the reason has path, line and column.',
    target: { quick: '0 crashes with 500 mutated files', full: '0 crashes with 100,000 mutated files' },
    proofs: [
      { file: 'test/rules/files/bounds.test.ts', titled: /mutated/ },
      { file: 'test/rules/files/load.test.ts' },
      { file: 'test/rules/files/mistakes.test.ts' },
      { file: 'test/flows/faults.test.ts', titled: /rule file that is broken/ },
      { file: 'test/flows/sources.test.ts', titled: /broken/ },
    ],
    twins: ['broken-file-used-in-part', 'argument-key-inherited'],
  },
  {
    id: 'P27',
    promise: 'A rule file from the head of a pull request is never used.',
    target: { quick: '0 effects from 20 attacks', full: '0 effects from 20 attacks' },
    proofs: [
      { file: 'test/flows/attacks-rule-files.test.ts' },
      { file: 'test/flows/attacks-default-branch.test.ts' },
    ],
    twins: ['rules-from-pull-head'],
  },
  {
    id: 'P28',
    promise: 'Rules of a repository write to that repository alone, unless the operator grants more.',
    target: {
      quick: '0 requests elsewhere',
      full: '0 requests elsewhere in 100,000 pairs of rules and events',
    },
    proofs: [{ file: 'test/engine/random-pairs.test.ts' }, { file: 'test/engine/escape.test.ts' }],
    twins: ['granted-file-of-others', 'pack-has-the-grants-of-the-operator', 'unscoped-grant'],
  },
  {
    id: 'P29',
    promise: 'A hostile expression or pattern is bounded.',
    target: {
      quick: '300 hostile expressions: none above its budget',
      full: '20,000 hostile expressions: none above its budget, none slow',
    },
    proofs: [
      { file: 'test/rules/expressions/hostile.test.ts' },
      { file: 'test/patterns/automaton.test.ts' },
      { file: 'test/engine/hostile-run.test.ts' },
      { file: 'test/engine/run-budget.test.ts' },
      { file: 'test/flows/hostile-rules.test.ts' },
    ],
    twins: [
      'budget-charged-after-match',
      'budget-per-evaluation',
      'inserted-text-not-charged',
      'paths-not-charged',
      'wide-objects-judged',
    ],
  },
  {
    id: 'P30',
    promise: 'A hostile YAML file is refused or read in bounded time.',
    target: {
      quick: '64 KiB within 500 ms of processor time',
      full: '64 KiB within 500 ms of processor time',
    },
    proofs: [{ file: 'test/rules/files/bounds.test.ts' }, { file: 'test/flows/attacks-bombs.test.ts' }],
    twins: ['rule-file-of-any-size', 'yaml-aliases-followed'],
  },
  {
    id: 'P31',
    promise: 'Rules that contradict each other do not loop.',
    target: { quick: 'stopped after five returns', full: 'stopped after five returns' },
    proofs: [
      { file: 'test/engine/limits.test.ts', titled: /back and forth/ },
      { file: 'test/engine/consequences.test.ts' },
      { file: 'test/flows/attacks-behaviour.test.ts', titled: /two bots/ },
    ],
    twins: ['consequence-that-loops', 'consequence-not-awaited'],
  },
  {
    id: 'P32',
    promise: 'One event writes no more than its budget, and an hour no more than its own.',
    target: {
      quick: '0 writes above a budget in 100 random hours',
      full: '0 writes above a budget in 2,000 random hours',
    },
    proofs: [
      { file: 'test/engine/limits.test.ts' },
      { file: 'test/engine/budget/deferral.test.ts' },
      { file: 'test/flows/attacks-behaviour.test.ts', titled: /more than its budget/ },
      { file: 'test/flows/budgets.test.ts' },
    ],
    twins: ['budget-per-process'],
  },
  {
    id: 'P33',
    promise: 'No token and no secret appears in anything that Reeve writes.',
    target: {
      quick: '0 hits in all bytes written, in any encoding',
      full: '0 hits in all bytes written, in any encoding, with 10 kills and stops',
    },
    proofs: [
      { drill: () => import('./drills/canary.ts') },
      { file: 'test/platform/redactor.test.ts' },
      { file: 'test/client/client.test.ts', titled: /credential|password/ },
      { file: 'test/server/dashboard/pages.test.ts', titled: /never hold the token/ },
      { file: 'test/flows/attacks-behaviour.test.ts', titled: /in no byte/ },
      { file: 'test/platform/http/message-sender.test.ts', titled: /no error contains/ },
    ],
    twins: ['redactor-without-base64', 'error-redacted-before-parsing', 'message-error-names-the-host'],
  },
  {
    id: 'P34',
    promise: 'A redirect never carries the token to another place.',
    target: { quick: '0 requests to another origin', full: '0 requests to another origin' },
    proofs: [
      { file: 'test/client/client.test.ts', titled: /redirects/ },
      { file: 'test/platform/http/message-sender.test.ts', titled: /redirects nowhere/ },
    ],
    twins: ['redirect-to-another-origin', 'message-follows-redirects'],
  },
  {
    id: 'P35',
    promise: 'The dashboard shows hostile texts as texts, and takes no action that another site caused.',
    target: { quick: '0 of 500 texts run', full: '0 of 500 texts run' },
    proofs: [
      { file: 'test/server/dashboard/browser.test.ts' },
      { file: 'test/server/dashboard/anonymous-access.test.ts' },
      { file: 'test/server/dashboard/sign-in/sign-in.test.ts', titled: /another site|browsers may do/ },
    ],
    twins: ['hostile-texts-as-html', 'password-compared-beyond-limit'],
  },
  {
    id: 'P36',
    promise: 'A log line cannot be forged.',
    target: { quick: '0 forged lines', full: '0 forged lines' },
    proofs: [
      { file: 'test/platform/log.test.ts' },
      { file: 'test/rules/files/load.test.ts', titled: /control characters/ },
    ],
    twins: ['log-lines-forged'],
  },
  {
    id: 'P37',
    promise: 'A plan is what the real run does, and writes nothing.',
    target: {
      quick: '0 differences, 0 writes',
      full: '0 differences, 0 writes in 100,000 pairs of rules and events',
    },
    proofs: [
      { file: 'test/engine/random-pairs.test.ts' },
      { file: 'test/engine/escape.test.ts', titled: /dry run/ },
      { file: 'test/flows/sweep-plan.test.ts' },
    ],
    twins: ['sweep-plan-writes'],
  },
  // Promises of the store over months and versions: P38 to P40.
  {
    id: 'P38',
    promise: 'Memory, descriptors and disk stay bounded.',
    target: {
      quick: 'memory flat after warm-up, 0 descriptors gained, log < 64 MiB, retention obeyed, 0 lost',
      full: 'memory < 1 MiB/h after warm-up, 0 descriptors gained, log < 64 MiB, retention obeyed, 0 lost in an hour',
    },
    proofs: [
      { drill: () => import('./drills/soak.ts') },
      { file: 'test/store/sqlite/log-size.test.ts' },
      { file: 'test/flows/retention.test.ts' },
    ],
    twins: ['unbounded-log', 'retention-never', 'dead-never-expire', 'size-once-a-day'],
  },
  {
    id: 'P39',
    promise: 'An upgrade keeps the data, also when it is killed; an older version refuses a newer store.',
    target: {
      quick: 'the same data after 10 kills during an upgrade',
      full: 'the same data after 100 kills during an upgrade',
    },
    proofs: [
      { drill: () => import('./drills/killed-upgrades.ts') },
      { file: 'test/upgrade.test.ts' },
      { file: 'test/store/sqlite/sqlite-store.test.ts', titled: /newer program/ },
    ],
    twins: ['leases-outlive-their-process'],
  },
  {
    id: 'P40',
    promise: 'Two processes never use one store file, and a backup under load is consistent.',
    target: {
      quick: 'each second start refused with the pid of the first; 0 gaps in 2 backups under load',
      full: 'each of 50 second starts refused with the pid of the first; 0 gaps in 20 backups under load',
    },
    proofs: [
      { drill: () => import('./drills/backups.ts') },
      { file: 'test/store/sqlite/sqlite-store.test.ts', titled: /second worker|taken over/ },
      { file: 'test/cli/commands/store-backup.test.ts' },
    ],
    twins: ['two-workers-of-one-file', 'copy-complete-without-comparison'],
  },
];
