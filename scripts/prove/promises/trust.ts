import type { ReliabilityPromise } from '../promise.ts';

/** What rules, secrets and pages promise: P26 to P37. */
export const trust: readonly ReliabilityPromise[] = [
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
];
