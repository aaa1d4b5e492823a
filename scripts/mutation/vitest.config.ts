import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { useMemoryFolder } from '../../test/support/memory-folder.ts';
import { keepProcess } from './kept-process.ts';

/** Time that each test file took in the first run, which has no mutant. */
const firstMs = new Map<string, number>();
let files: readonly TestSpecification[] = [];

/** Runs the fast test files first: they test parts, and detect most mutants. The first failure ends a run. */
class FastestFirst extends BaseSequencer {
  override async sort(given: TestSpecification[]): Promise<TestSpecification[]> {
    if (files.length === 0) {
      files = given;
      return given;
    }
    if (firstMs.size === 0) {
      for (const file of files)
        firstMs.set(file.moduleId, this.ctx.cache.getTestSpecificationResult(file)?.duration ?? 0);
    }
    const timeOf = ({ moduleId }: TestSpecification): number => firstMs.get(moduleId) ?? 0;
    return given.toSorted((one, other) => timeOf(one) - timeOf(other));
  }
}

useMemoryFolder();
// Mutants of the store are in its SQLite part.
process.env.STORE_KINDS = 'SQLite';

const globs = (name: string): string[] => (process.env[name] ?? '').split(',').filter((glob) => glob !== '');

/** Runs the tests of one room in one process, because a mutant is active only in the test process. */
export default defineConfig({
  plugins: [keepProcess],
  test: {
    include: globs('MUTATION_TESTS'),
    exclude: ['**/node_modules/**', ...globs('MUTATION_WITHOUT')],
    setupFiles: ['scripts/mutation/one-mutant.ts', 'test/support/end-processes.ts'],
    // Ends a hanging mutant. The first run has no mutant but all tests, on a machine that may be busy.
    testTimeout: 20_000,
    hookTimeout: 20_000,
    expect: { poll: { timeout: 10_000 } },
    isolate: false,
    sequence: { sequencer: FastestFirst },
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
});
