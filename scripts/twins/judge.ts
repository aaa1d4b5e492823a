import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createScratchTree, type ScratchTree } from './scratch-tree.ts';
import type { Twin } from './twin.ts';

export type Judgement = {
  readonly twin: Twin;
  /** `caught`: every check that the twin names fails. `missed`: one passes. `error`: the twin cannot be judged. */
  readonly verdict: 'caught' | 'missed' | 'error';
  readonly detail: string;
  readonly tookMs: number;
};

type JudgeOptions = {
  /** Folder of the checkout. */
  readonly root: string;
  readonly twins: readonly Twin[];
  readonly signal: AbortSignal;
  readonly onProgress?: (text: string) => void;
  readonly onJudgement?: (judgement: Judgement) => void;
  /** Maximum time for one check in milliseconds; default 15 minutes. */
  readonly timeoutMs?: number;
  /** Folder for the scratch copy; default: the system's temporary folder. */
  readonly temporary?: string;
};

/**
 * Judges each twin in a scratch copy of the checkout: the checks must pass on the unbroken copy and fail on the copy
 * with the twin's patch. Checks that fail on the unbroken copy are repeated once, because some fail on a busy machine.
 */
export async function judgeTwins(options: JudgeOptions): Promise<readonly Judgement[]> {
  const { root, twins, signal, onProgress = () => {}, onJudgement = () => {} } = options;
  const { timeoutMs = 900_000, temporary = tmpdir() } = options;
  const tree = await createScratchTree(root, { temporary, signal, timeoutMs });
  try {
    const unbroken = new Map<string, string | undefined>();
    const judgements: Judgement[] = [];
    for (const twin of twins) {
      for (const check of checksOf(twin)) {
        const name = nameOfCheck(check);
        if (unbroken.has(name)) continue;
        onProgress(`unbroken: ${name}`);
        unbroken.set(name, await findUnbrokenProblem(tree, check));
      }
      onProgress(`twin: ${twin.name}`);
      const startedMs = performance.now();
      const judged = await judge(tree, twin, unbroken);
      signal.throwIfAborted();
      const judgement = { twin, ...judged, tookMs: performance.now() - startedMs };
      judgements.push(judgement);
      onJudgement(judgement);
    }
    return judgements;
  } finally {
    await tree.remove();
  }
}

function checksOf({ testFiles, commands }: Twin): readonly Check[] {
  return [...testFiles, ...commands];
}

async function findUnbrokenProblem(tree: ScratchTree, check: Check): Promise<string | undefined> {
  let last: CheckResult = { result: 'unusable', detail: '' };
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    last = await runCheck(tree, check);
    await tree.restore();
    if (last.result === 'passes') return undefined;
  }
  return `${nameOfCheck(check)} ${last.result === 'fails' ? 'fails' : 'is unusable'} without the patch: ${last.detail}`;
}

async function judge(
  tree: ScratchTree,
  twin: Twin,
  unbroken: ReadonlyMap<string, string | undefined>,
): Promise<Pick<Judgement, 'verdict' | 'detail'>> {
  const checks = checksOf(twin);
  const problem = checks.map((check) => unbroken.get(nameOfCheck(check))).find((each) => each !== undefined);
  if (problem !== undefined) return { verdict: 'error', detail: problem };
  const refused = await tree.apply(twin.diff);
  if (refused !== undefined) return { verdict: 'error', detail: `the patch does not apply: ${refused}` };
  try {
    const unsound = (await findUndeclaredNames(tree, twin)) ?? (await rebuild(tree));
    if (unsound !== undefined) return { verdict: 'error', detail: unsound };
    for (const check of checks) {
      const { result, detail } = await runCheck(tree, check);
      if (result === 'passes') return { verdict: 'missed', detail: `${nameOfCheck(check)} passes` };
      if (result === 'unusable') return { verdict: 'error', detail: `${nameOfCheck(check)}: ${detail}` };
      if (check === checks.at(-1)) return { verdict: 'caught', detail };
    }
    return { verdict: 'error', detail: 'it names no check' };
  } finally {
    await tree.restore();
  }
}

/**
 * Returns why the patched files are not a valid program. A twin whose context has moved can refer to names that no
 * longer exist; then every test fails, but not because of the promise.
 */
async function findUndeclaredNames(tree: ScratchTree, { paths }: Twin): Promise<string | undefined> {
  const sources = paths.filter((path) => /\.[cm]?[jt]s$/.test(path));
  if (sources.length === 0) return undefined;
  const only = '--only=correctness/noUndeclaredVariables';
  const args = ['node_modules/@biomejs/biome/bin/biome', 'lint', only, '--reporter=github', ...sources];
  const { status, tail } = await tree.run(process.execPath, args);
  return status === 0 ? undefined : `the patched source is unsound: ${tail.trim().split('\n')[0]}`;
}

/**
 * Rebuilds the files: tests also run built files, which must match the patched source. Returns why they cannot be
 * built.
 */
async function rebuild(tree: ScratchTree): Promise<string | undefined> {
  for (const script of ['scripts/build-action.ts', 'scripts/build-package.ts']) {
    const { status, tail } = await tree.run(process.execPath, [script]);
    if (status !== 0) return `the patched source cannot be built: ${tail.trim().split('\n')[0]}`;
  }
  return undefined;
}

/** Check that must detect a twin: a test file, or the arguments of a node command. */
type Check = string | readonly string[];

/** Result of a check. `unusable`: it proves nothing about the promise, for example because a file cannot be loaded. */
type CheckResult = {
  readonly result: 'passes' | 'fails' | 'unusable';
  readonly detail: string;
};

function nameOfCheck(check: Check): string {
  return typeof check === 'string' ? check : `node ${check.join(' ')}`;
}

/** Runs one check in the tree. A test file stops at its first failing test. */
async function runCheck(tree: ScratchTree, check: Check): Promise<CheckResult> {
  return typeof check === 'string' ? runTestFile(tree, check) : runCommand(tree, check);
}

async function runCommand(tree: ScratchTree, args: readonly string[]): Promise<CheckResult> {
  const { status, isTimedOut, tail } = await tree.run(process.execPath, args);
  if (isTimedOut || status === null) return { result: 'unusable', detail: 'it did not end in time' };
  const detail = lastLines(tail);
  return status === 0
    ? { result: 'passes', detail }
    : { result: 'fails', detail: detail || `exit ${status}` };
}

type VitestReport = {
  readonly testResults: readonly {
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
};

/**
 * Shorter than those of `npm test`, because a twin often causes a wait that never ends. The unbroken check must pass
 * within them, too.
 */
const timeouts = ['--expect.poll.timeout=60000', '--testTimeout=180000'];

async function runTestFile(tree: ScratchTree, file: string): Promise<CheckResult> {
  // Outside the tree, whose files belong to the twin.
  const path = join(tree.folder, '..', `${randomUUID()}.json`);
  const args = ['node_modules/vitest/vitest.mjs', 'run', file, '--bail=1', '--reporter=json', ...timeouts];
  const { isTimedOut, tail } = await tree.run(process.execPath, [...args, `--outputFile=${path}`]);
  if (isTimedOut) return { result: 'unusable', detail: 'it did not end in time' };
  if (!existsSync(path)) return { result: 'unusable', detail: lastLines(tail) };
  const report: VitestReport = JSON.parse(await readFile(path, 'utf8'));
  return readReport(report);
}

/**
 * Reads a report. A test must fail by itself: a file that cannot be loaded, or a failing hook, proves nothing about a
 * promise.
 */
function readReport({ testResults }: VitestReport): CheckResult {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = tests.find(({ status }) => status === 'failed');
  if (failed !== undefined) {
    const [message = ''] = failed.failureMessages ?? [];
    return { result: 'fails', detail: `${failed.fullName}: ${firstLine(message)}` };
  }
  if (tests.some(({ status }) => status === 'passed')) {
    const hook = testResults.map(({ message = '' }) => message).find((message) => message !== '');
    return hook === undefined
      ? { result: 'passes', detail: '' }
      : { result: 'unusable', detail: firstLine(hook) };
  }
  const reason = testResults.map(({ message = '' }) => firstLine(message)).find((message) => message !== '');
  return { result: 'unusable', detail: reason ?? 'it runs no test on this machine' };
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 200);
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join('; ').slice(-300);
}
