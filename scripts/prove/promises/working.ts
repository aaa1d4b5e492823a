import type { ReliabilityPromise } from '../promise.ts';

/** What the worker, the sweeps and the process promise: P15 to P25. */
export const working: readonly ReliabilityPromise[] = [
  {
    id: 'P16',
    promise: 'A worker that lost its lease writes nothing.',
    target: { quick: '0 writes after the lease', full: '0 writes after the lease in 10,000 interleavings' },
    proofs: [{ file: 'test/worker/worker.test.ts', titled: /lease/ }],
    twins: ['postgres-unfenced-zombie', 'postgres-end-without-lease'],
  },
  {
    id: 'P21',
    promise:
      'The order of deliveries about one issue or pull request is kept, and one that fails stops no other lane.',
    target: { quick: '0 out of order', full: '0 of 10,000 random schedules out of order' },
    proofs: [
      { file: 'test/worker/worker.test.ts', titled: /^order/ },
      { file: 'test/worker/worker.test.ts', titled: /no other lane/ },
      { file: 'test/worker/breaker.test.ts' },
    ],
    twins: ['poison-stops-all', 'postgres-lane-claimed-twice'],
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
    twins: ['notes-per-process'],
  },
  {
    id: 'P23',
    promise: 'SIGTERM ends the process within 10 s with status 0, and loses nothing.',
    target: {
      quick: '20 SIGTERMs: each within 10 s with status 0; 0 lost',
      full: '1,000 SIGTERMs: each within 10 s with status 0; 0 lost',
    },
    proofs: [{ file: 'test/commands/shutdown.test.ts' }],
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
      { file: 'test/sweeps/schedule/schedule.test.ts', titled: /set back|ahead and back/ },
      { file: 'test/clock.test.ts' },
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
      { file: 'test/sweeps/schedule/cron.test.ts' },
      { file: 'test/sweeps/schedule/schedule.test.ts' },
      { file: 'test/sweeps/schedule/two-schedulers.test.ts' },
    ],
    twins: ['deferred-slot-blocks-the-next'],
  },
];
