import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Result of one test, as `npm run prove` reads it. */
export type TestResult = {
  /** Path relative to the checkout. */
  readonly file: string;
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending';
  /** Measurement of the test: see `test/support/figure.ts`. */
  readonly figure: string | undefined;
  /** First line of the error, or the reason why the test was skipped. */
  readonly note: string;
  /** Complete error of a failed test; for a property, it contains the counterexample. */
  readonly error?: string | undefined;
};

/** `errors`: errors outside of tests. */
export type TestRun = { readonly tests: readonly TestResult[]; readonly errors: readonly string[] };

/** Vitest reporter that writes the results to the file that PROVE_RESULTS names. */
export default class ProveReporter implements Reporter {
  readonly #tests: TestResult[] = [];

  onTestCaseResult(test: TestCase): void {
    const result = test.result();
    this.#tests.push({
      file: test.module.relativeModuleId,
      name: test.fullName,
      state: result.state,
      figure: test.meta().figure,
      note: result.state === 'skipped' ? (result.note ?? '') : firstLine(result.errors?.[0]?.message),
      error: result.errors?.[0]?.message.slice(0, 8_000),
    });
    process.stderr.write(result.state === 'failed' ? `failed: ${test.fullName}\n` : '');
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { readonly message: string }[]): void {
    const errors = [...modules.flatMap((module) => module.errors()), ...unhandled];
    const run: TestRun = { tests: this.#tests, errors: errors.map(({ message }) => firstLine(message)) };
    writeFileSync(process.env.PROVE_RESULTS ?? 'prove-results.json', JSON.stringify(run));
  }
}

function firstLine(text = ''): string {
  return (text.split('\n')[0] ?? '').slice(0, 300);
}
