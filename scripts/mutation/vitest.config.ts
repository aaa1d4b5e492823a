import { defineConfig } from 'vitest/config';
import { keepProcess } from './kept-process.ts';
import { SmallestFirst } from './smallest-first.ts';

const globs = (name: string): string[] => (process.env[name] ?? '').split(',').filter((glob) => glob !== '');

/** The tests of one room, in one process: a mutant is active in the process of the tests. */
export default defineConfig({
  plugins: [keepProcess],
  test: {
    include: globs('MUTATION_TESTS'),
    exclude: ['**/node_modules/**', ...globs('MUTATION_WITHOUT')],
    setupFiles: ['scripts/mutation/one-mutant.ts', 'test/support/end-processes.ts'],
    // A mutant that hangs ends here.
    testTimeout: 20_000,
    hookTimeout: 20_000,
    expect: { poll: { timeout: 10_000 } },
    isolate: false,
    sequence: { sequencer: SmallestFirst },
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
});
