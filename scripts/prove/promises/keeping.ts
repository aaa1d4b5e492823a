import type { ReliabilityPromise } from '../promise.ts';

/** What the store promises over months and versions: P38 to P40. */
export const keeping: readonly ReliabilityPromise[] = [
  {
    id: 'P39',
    promise: 'An upgrade keeps the data.',
    target: { quick: 'every recorded installation opens', full: 'every recorded installation opens' },
    proofs: [{ file: 'test/upgrade.test.ts' }],
    twins: [],
  },
];
