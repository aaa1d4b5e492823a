import type { ReliabilityPromise } from '../promise.ts';

/** What the store promises over months and versions: P38 to P40. */
export const keeping: readonly ReliabilityPromise[] = [
  {
    id: 'P38',
    promise: 'Memory, descriptors and disk stay bounded.',
    target: {
      quick: 'memory flat after warm-up, 0 descriptors gained, log < 64 MiB, retention obeyed, 0 lost',
      full: 'memory < 1 MiB/h after warm-up, 0 descriptors gained, log < 64 MiB, retention obeyed, 0 lost in an hour',
    },
    proofs: [
      { drill: () => import('../drills/soak.ts') },
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
      { drill: () => import('../drills/killed-upgrades.ts') },
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
      { drill: () => import('../drills/backups.ts') },
      { file: 'test/store/sqlite/sqlite-store.test.ts', titled: /second worker|taken over/ },
      { file: 'test/cli/commands/store-backup.test.ts' },
    ],
    twins: ['two-workers-of-one-file', 'copy-complete-without-comparison'],
  },
];
