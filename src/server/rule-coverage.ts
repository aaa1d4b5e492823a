import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { LoadedRule } from '../rules/rule.ts';
import type { TestCoverage } from './dashboard/data.ts';

/**
 * Runs the rule tests beside the given rule files. `beforeCase` is awaited before each case; if it rejects, the run is
 * aborted.
 */
export type TestRules = (
  paths: readonly string[],
  options: { readonly beforeCase: () => Promise<void> },
) => Promise<{
  readonly results: readonly unknown[];
  readonly failed: readonly unknown[];
  readonly problems: readonly unknown[];
  /** Steps as `rule identity / step name`. */
  readonly unreached: { readonly steps: readonly string[] };
}>;

/** Coverage of the operator's rules by rule tests, computed in the background. */
export interface RuleCoverage {
  of(rule: LoadedRule): TestCoverage;
  /** Computes the coverage of new and changed files, then checks for changes at an interval. */
  start(): void;
  /** Checks for changes now; resolves when everything is computed. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

/** Interval of the check for changed rules and test files. */
const lookMs = 10_000;
/** Maximum size of a test file; larger files are not read. */
const maxTestBytes = 1_048_576;
/** Time limit for the tests of one file. */
const timeoutMs = 10_000;
/** Maximum number of rule files whose tests are run. */
const maxFiles = 500;

type Computed = { readonly key: string; readonly result: (rule: LoadedRule) => TestCoverage };

/** Creates the coverage. The tests of a file run again only if its rules or its test file have changed. */
export function createRuleCoverage(options: {
  readonly rules: () => readonly LoadedRule[];
  readonly test: TestRules;
  readonly log: Log;
}): RuleCoverage {
  const { rules, test, log } = options;
  let computed = new Map<string, Computed>();
  const ending = new AbortController();
  let looking: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const lookOnce = async (): Promise<void> => {
    const files = [...Map.groupBy(rules(), ({ source }) => source)].slice(0, maxFiles);
    const known = new Map<string, Computed>();
    for (const [path, [first]] of files) {
      if (ending.signal.aborted) return;
      const about = await stat(testPathOf(path)).catch(() => undefined);
      const key = `${first?.revision} ${about?.size} ${about?.mtimeMs}`;
      const before = computed.get(path);
      known.set(
        path,
        before?.key === key ? before : { key, result: await readCoverage(path, about?.size, parts) },
      );
      // Stored file by file, so that pages show each result as soon as it is known.
      const now = known.get(path);
      if (now) computed.set(path, now);
    }
    computed = known;
  };
  const parts = { test, log, signal: ending.signal };
  const look = (): Promise<void> => {
    looking = looking.then(lookOnce);
    return looking;
  };
  /** Checks now. The next check is scheduled when this one ends. */
  const lookOn = async (): Promise<void> => {
    await look();
    if (!ending.signal.aborted) timer = setTimeout(lookOn, lookMs).unref();
  };

  return {
    of: (rule) => computed.get(rule.source)?.result(rule) ?? { state: 'unknown', why: notYet },
    start: () => void lookOn(),
    look,
    async stop() {
      ending.abort();
      clearTimeout(timer);
      await looking;
    },
  };
}

const notYet = `its tests have not run yet, or it is beyond the first ${maxFiles} files`;

function testPathOf(path: string): string {
  return path.replace(/(\.ya?ml)$/, '.test$1');
}

/** Runs the tests of a file with a time limit, and returns the coverage of its rules. Never rejects. */
async function readCoverage(
  path: string,
  bytes: number | undefined,
  { test, log, signal }: { readonly test: TestRules; readonly log: Log; readonly signal: AbortSignal },
): Promise<Computed['result']> {
  const testFile = basename(testPathOf(path));
  if (bytes === undefined)
    return () => ({ state: 'no-tests', why: `there is no ${testFile} beside its file` });
  const unknown = (why: string) => (): TestCoverage => ({ state: 'unknown', why });
  if (bytes > maxTestBytes) return unknown(`${testFile} is larger than 1 MiB`);
  const timeout = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const over = Promise.withResolvers<never>();
  timeout.addEventListener('abort', () => over.reject(new Error('its tests took longer than 10 s')));
  // Yields to the server between two cases.
  const beforeCase = async (): Promise<void> => {
    await nextTurn();
    timeout.throwIfAborted();
  };
  try {
    // A recorded payload whose read never completes must not block the other files.
    const report = await Promise.race([test([path], { beforeCase }), over.promise]);
    if (report.problems.length > 0) return unknown(`${testFile} cannot be used: reeve test shows why`);
    const unreached = new Set(report.unreached.steps);
    const cases = report.results.length;
    const failed = report.failed.length;
    return ({ id, steps }) => ({
      state: 'known',
      cases,
      failed,
      steps: steps.map(({ name }) => ({ name, isReached: !unreached.has(`${id} / ${name}`) })),
    });
  } catch (error) {
    const why = messageOf(error);
    if (!signal.aborted) log.warn({ file: path, error: why }, 'the coverage by rule tests is unknown');
    return unknown(why);
  }
}
