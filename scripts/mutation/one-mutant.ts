import { afterEach, beforeEach } from 'vitest';

/** State of Stryker in the test process. */
type Stryker = {
  activeMutant?: string | undefined;
  /** Set only in the first run, which determines the mutants that each test reaches. */
  currentTestId?: string | undefined;
  mutantCoverage?: { readonly perTest: Record<string, unknown> };
};

/**
 * A slower test is used for no mutant, because hundreds of mutants would wait for it. Code that only such a test
 * reaches counts as not covered.
 */
const longestTestMs = 2_000;

const stryker: Stryker = (globalThis as { __stryker__?: Stryker }).__stryker__ ?? {};
// Stryker activates the mutant before the first test of a file. Until then, the file must be loaded without the mutant
// of the last run.
stryker.activeMutant = undefined;

// If Stryker is interrupted, a test with a server would keep this process alive forever.
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
