import { afterEach, beforeEach } from 'vitest';

/** What Stryker keeps in the process of the tests. */
type Stryker = {
  activeMutant?: string | undefined;
  /** Only in the first run, which finds out the mutants that each test reaches. */
  currentTestId?: string | undefined;
  mutantCoverage?: { readonly perTest: Record<string, unknown> };
};

/** A test that takes longer is used for no mutant: hundreds of mutants would wait for it. What it alone reaches counts as not covered. */
const longestTestMs = 2_000;

const stryker: Stryker = (globalThis as { __stryker__?: Stryker }).__stryker__ ?? {};
// Stryker activates the mutant before the first test of a file. Until then, the file is read without the mutant of the last run.
stryker.activeMutant = undefined;

// Stryker was interrupted: a test with a server would keep this process for ever.
if (process.listenerCount('disconnect') === 0)
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

let start = 0;
beforeEach(() => {
  start = performance.now();
});
afterEach(() => {
  const { currentTestId: id, mutantCoverage } = stryker;
  if (id !== undefined && performance.now() - start > longestTestMs) delete mutantCoverage?.perTest[id];
});
