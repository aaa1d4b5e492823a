/** The environment variables are those that `scripts/mutation.ts` sets. */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'scripts/mutation/vitest.config.ts', related: false },
  mutate: (process.env.MUTATION_FILES ?? '').split(','),
  coverageAnalysis: 'perTest',
  // What is evaluated once, when a module is loaded, would need a new process for each mutant.
  ignoreStatic: true,
  disableTypeChecks: false,
  concurrency: Number(process.env.MUTATION_CONCURRENCY),
  // On a busy machine, a mutant that makes no difference must not count as one that hangs.
  timeoutMS: 30_000,
  // `scripts/mutation.ts` prints the report.
  reporters: ['json', 'progress-append-only'],
  allowConsoleColors: false,
  jsonReporter: { fileName: process.env.MUTATION_REPORT },
  tempDirName: process.env.MUTATION_FOLDER,
  ignorePatterns: ['.stryker-tmp', 'docs/images', 'site', 'scripts/mutation/node_modules'],
  thresholds: { high: 90, low: 85, break: 85 },
};
