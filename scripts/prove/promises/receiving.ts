import type { ReliabilityPromise } from '../promise.ts';

/** What the receiver promises: P1 to P14. */
export const receiving: readonly ReliabilityPromise[] = [
  {
    id: 'P1',
    promise: 'No acknowledged delivery is lost when the process dies.',
    target: { quick: '0 lost with 30 kills', full: '0 lost of 150,000 acknowledged with 1,000 kills' },
    proofs: [{ file: 'test/store/crash.test.ts' }, { drill: () => import('../drills/kills.ts') }],
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
      { drill: () => import('../drills/power-cuts.ts') },
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
      { drill: () => import('../drills/latency.ts') },
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
      { drill: () => import('../drills/timing.ts') },
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
      { drill: () => import('../drills/oversized.ts') },
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
      { drill: () => import('../drills/slow-senders.ts') },
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
      { drill: () => import('../drills/fuzz.ts') },
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
];
