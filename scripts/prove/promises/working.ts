import type { ReliabilityPromise } from '../promise.ts';

/** What the worker, the sweeps and the process promise: P15 to P25. */
export const working: readonly ReliabilityPromise[] = [
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
      { drill: () => import('../drills/crash-points.ts') },
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
      { file: 'test/server/dashboard/pages.test.ts', titled: /what is dead|press of a button/ },
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
      { drill: () => import('../drills/outage.ts') },
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
      { drill: () => import('../drills/action-faults.ts') },
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
    proofs: [
      { drill: () => import('../drills/sigterms.ts') },
      { file: 'test/cli/commands/shutdown.test.ts' },
    ],
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
];
