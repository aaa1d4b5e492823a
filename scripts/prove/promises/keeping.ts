import type { ReliabilityPromise } from '../promise.ts';

/** What the store promises over months and versions: P38 to P40. */
export const keeping: readonly ReliabilityPromise[] = [
  {
    id: 'P38',
    promise: 'Memory, descriptors and disk stay bounded.',
    target: {
      quick: 'write-ahead log below 64 MiB; retention obeyed',
      full: 'write-ahead log below 64 MiB; retention obeyed',
    },
    proofs: [
      { file: 'test/store/sqlite/sqlite-store.test.ts', titled: /its log/ },
      { file: 'test/flows/retention.test.ts' },
    ],
    twins: ['unbounded-log', 'retention-never', 'dead-never-expire', 'size-once-a-day'],
  },
  {
    id: 'P39',
    promise: 'An upgrade keeps the data, also when it is killed; an older version refuses a newer store.',
    target: { quick: 'every recorded installation opens', full: 'every recorded installation opens' },
    proofs: [
      { file: 'test/upgrade.test.ts' },
      { file: 'test/store/sqlite/sqlite-store.test.ts', titled: /newer program/ },
    ],
    twins: ['leases-outlive-their-process'],
  },
  {
    id: 'P40',
    promise: 'Two processes never use one store file, and a backup under load is consistent.',
    target: {
      quick: 'the second start is refused with the pid of the first',
      full: 'the second start is refused with the pid of the first',
    },
    proofs: [
      { file: 'test/store/sqlite/sqlite-store.test.ts', titled: /second worker|taken over/ },
      { file: 'test/commands/store-backup.test.ts' },
    ],
    twins: ['copy-complete-without-comparison'],
  },
];
