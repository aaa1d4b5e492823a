import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // A real forge tells its hooks when it comes to it.
    expect: { poll: { timeout: 15_000 } },
    // Two cores are the common small runner; more workers than cores only make git and SQLite wait for each other.
    maxWorkers: 2,
  },
});
