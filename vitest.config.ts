import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';
import { useMemoryFolder } from './test/support/memory-folder.ts';

// Processes that tests start, and the workers, compile each module once: half of the processor time of a start.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/compile', import.meta.url));
useMemoryFolder();

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/end-processes.ts', 'test/support/property-seed.ts'],
    globalSetup: ['test/support/postgres-server.ts'],
    // No judgement of speed: a test that hangs ends here, on the busiest machine.
    testTimeout: process.env.LONG ? 7_200_000 : 600_000,
    hookTimeout: 600_000,
    // A real forge tells its hooks when it comes to it.
    expect: { poll: { timeout: 240_000 } },
    // Two cores are the common small runner. Tests of processes wait for much of their time: four more workers use it.
    maxWorkers: 6,
    // No source file has state of its own: files of tests share their worker's modules, which saves a fifth of the time.
    isolate: false,
    // Node loads the sources itself, with its compile cache: a tenth of the processor time of a run. Modules are never mocked.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongestFirst },
  },
});
