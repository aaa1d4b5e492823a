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
];
