import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Two cores are the common small runner; more workers than cores only make git and SQLite wait for each other.
    maxWorkers: 2,
  },
});
