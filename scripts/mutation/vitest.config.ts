import { defineConfig } from 'vitest/config';
import { useMemoryFolder } from '../../test/support/memory-folder.ts';
import { FastestFirst } from './fastest-first.ts';
import { keepProcess } from './kept-process.ts';

useMemoryFolder();
// Mutants of the store are in its part for SQLite.
process.env.STORE_KINDS = 'SQLite';

const globs = (name: string): string[] => (process.env[name] ?? '').split(',').filter((glob) => glob !== '');

/** The tests of one room, in one process: a mutant is active in the process of the tests. */
export default defineConfig({
  plugins: [keepProcess],
  test: {
    include: globs('MUTATION_TESTS'),
    exclude: ['**/node_modules/**', ...globs('MUTATION_WITHOUT')],
    setupFiles: ['scripts/mutation/one-mutant.ts', 'test/support/end-processes.ts'],
    // A mutant that hangs ends here. The first run, without a mutant, has all tests, on a machine that may be busy.
    testTimeout: 20_000,
    hookTimeout: 20_000,
    expect: { poll: { timeout: 10_000 } },
    isolate: false,
    sequence: { sequencer: FastestFirst },
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
});
