import type { ReliabilityPromise } from '../promise.ts';

/** What the receiver promises: P1 to P14. */
export const receiving: readonly ReliabilityPromise[] = [
  {
    id: 'P1',
    promise: 'No acknowledged delivery is lost when the process dies.',
    target: { quick: '0 lost with 30 kills', full: '0 lost of 150,000 acknowledged with 1,000 kills' },
    proofs: [{ file: 'test/store/crash.test.ts' }, { drill: () => import('../drills/kills.ts') }],
    twins: ['answer-before-sync'],
  },
  {
    id: 'P2',
    promise: 'No acknowledged delivery is lost when the machine loses power.',
    target: {
      quick: 'a sync before each acknowledgement',
      full: 'a sync before each acknowledgement; 0 lost in 200 power cuts',
    },
    proofs: [{ file: 'test/store/sqlite/faults.test.ts' }],
    twins: ['answer-before-sync', 'no-checkpoint-after-failed-sync'],
  },
  {
    id: 'P3',
    promise: 'A disk error never looks like success.',
    target: { quick: '0 acknowledged without a row', full: '0 acknowledged without a row' },
    proofs: [{ file: 'test/store/sqlite/faults.test.ts' }],
    twins: ['no-checkpoint-after-failed-sync', 'health-by-small-writes'],
  },
  {
    id: 'P4',
    promise:
      'A full disk is answered with 503, damages nothing, and deliveries are accepted again when there is space.',
    target: { quick: '0 lost, accepted again', full: '0 lost, accepted again' },
    proofs: [
      { file: 'test/store/sqlite/sqlite-store.test.ts', titled: /full/ },
      { file: 'test/commands/lost-store.test.ts' },
    ],
    twins: ['full-disk-is-another-reeve'],
  },
  {
    id: 'P8',
    promise: 'Only signed deliveries are accepted.',
    target: { quick: '0 of 100,000 near misses accepted', full: '0 of 1,000,000 near misses accepted' },
    proofs: [
      { file: 'test/receiver/route.test.ts', titled: /near a signature/ },
      { file: 'test/receiver/verify.test.ts' },
    ],
    twins: ['first-secret-match-returns-early', 'password-compared-by-equality'],
  },
];
