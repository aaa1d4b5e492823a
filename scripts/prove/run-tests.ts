import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProcess } from '../twins/run-process.ts';
import type { TestRun } from './reporter.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Runs test files in one run of vitest: with the iterations of `npm test` for a quick one, of `npm run test:long` otherwise.
 * Throws when vitest reports nothing.
 */
export async function runTests(
  files: readonly string[],
  { isQuick, signal }: { readonly isQuick: boolean; readonly signal: AbortSignal },
): Promise<TestRun> {
  if (files.length === 0) return { tests: [], errors: [] };
  const results = join(tmpdir(), `reeve-prove-${randomUUID()}.json`);
  const { LONG: _, CHECK: __, ...env } = process.env;
  try {
    const { status, isTimedOut, tail } = await runProcess(
      process.execPath,
      ['node_modules/vitest/vitest.mjs', 'run', ...files, '--reporter=./scripts/prove/reporter.ts'],
      {
        cwd: root,
        env: { ...env, PROVE_RESULTS: results, ...(isQuick ? {} : { LONG: '1' }) },
        signal,
        timeoutMs: isQuick ? 1_800_000 : 6 * 3_600_000,
      },
    );
    if (isTimedOut) throw new Error('the tests did not end in time');
    const text = await readFile(results, 'utf8').catch(() => undefined);
    if (text === undefined) throw new Error(`vitest exited with ${status} and no results: ${tail.trim()}`);
    return JSON.parse(text) as TestRun;
  } finally {
    await rm(results, { force: true });
  }
}
