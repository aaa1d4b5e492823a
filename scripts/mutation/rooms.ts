/** Part of the source that can be tested in one night, with the tests that must detect its mutants. */
export type Room = {
  /** Globs of the mutated files. */
  readonly mutate: readonly string[];
  /** Globs of tests. */
  readonly tests: readonly string[];
  /** Tests that take long and detect nothing else, or only test separate processes, which have no mutants. */
  readonly without: readonly string[];
};

/** Rooms, one for each night: `nightly.yml` takes them in turns. */
export const rooms: Readonly<Record<string, Room>> = {
  receiver: {
    mutate: ['src/server/receiver/**/*.ts'],
    tests: [
      'test/server/receiver/**/*.test.ts',
      'test/rules/sources/admission.test.ts',
      'test/server/stop.test.ts',
    ],
    without: ['test/server/receiver/attack.test.ts', 'test/server/receiver/reused-memory.test.ts'],
  },
  worker: {
    mutate: ['src/work/deliveries/**/*.ts'],
    tests: ['test/work/deliveries/**/*.test.ts', 'test/work/runs/**/*.test.ts', 'test/server/stop.test.ts'],
    without: [],
  },
  engine: {
    mutate: ['src/engine/**/*.ts'],
    tests: ['test/engine/**/*.test.ts'],
    without: ['test/engine/budget/shared-ledger.test.ts', 'test/engine/random-pairs.test.ts'],
  },
  store: {
    mutate: ['src/store/*.ts', 'src/store/sqlite/**/*.ts'],
    tests: [
      'test/store/*.test.ts',
      'test/store/sqlite/**/*.test.ts',
      'test/cli/commands/store-backup.test.ts',
      'test/work/sweeps/schedule/maintenance.test.ts',
    ],
    without: [
      'test/store/crash.test.ts',
      'test/store/sqlite/faults.test.ts',
      'test/store/sqlite/log-size.test.ts',
      'test/store/sqlite/queue-kills.test.ts',
    ],
  },
};
