import { defineConfig } from 'vitest/config';

const globs = (name: string): string[] => (process.env[name] ?? '').split(',').filter((glob) => glob !== '');

/** The tests of one room, in one process: a mutant is active in the process of the tests. */
export default defineConfig({
  test: {
    include: globs('MUTATION_TESTS'),
    exclude: ['**/node_modules/**', ...globs('MUTATION_WITHOUT')],
    setupFiles: ['test/support/end-processes.ts'],
    // A mutant that hangs ends here.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    isolate: false,
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
});
