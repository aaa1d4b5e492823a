import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // No judgement of speed: a test that hangs ends here, on the busiest machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A real forge tells its hooks when it comes to it.
    expect: { poll: { timeout: 60_000 } },
    // Two cores are the common small runner; more workers than cores only make git and SQLite wait for each other.
    maxWorkers: 2,
  },
});
