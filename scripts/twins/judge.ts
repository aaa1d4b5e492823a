import { tmpdir } from 'node:os';
import { type Check, type CheckResult, nameOfCheck, runCheck } from './run-check.ts';
import { createScratchTree, type ScratchTree } from './scratch-tree.ts';
import type { Twin } from './twin.ts';

export type Judgement = {
  readonly twin: Twin;
  /** `caught`: every check that the twin names fails. `missed`: one passes. `error`: it cannot be said. */
  readonly verdict: 'caught' | 'missed' | 'error';
  readonly detail: string;
  readonly tookMs: number;
};

type JudgeOptions = {
  /** The checkout. */
  readonly root: string;
  readonly twins: readonly Twin[];
  readonly signal: AbortSignal;
  readonly onProgress?: (text: string) => void;
  readonly onJudgement?: (judgement: Judgement) => void;
  /** Longest time for one check in milliseconds; default 15 minutes. */
  readonly timeoutMs?: number;
  /** Where the scratch copy is made; default: the system's temporary folder. */
  readonly temporary?: string;
};

/**
 * Judges each twin in a scratch copy of the checkout: the checks must pass on the unbroken copy and fail on the copy with
 * the twin's patch. Checks that fail on the unbroken copy are tried a second time, since a busy machine fails some.
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
 * Returns why the patched files are no sound program. A twin whose context has moved can name what is no longer there;
 * then every test fails, and none because of the promise.
 */
async function findUndeclaredNames(tree: ScratchTree, { paths }: Twin): Promise<string | undefined> {
  const sources = paths.filter((path) => /\.[cm]?[jt]s$/.test(path));
  if (sources.length === 0) return undefined;
  const only = '--only=correctness/noUndeclaredVariables';
  const args = ['node_modules/@biomejs/biome/bin/biome', 'lint', only, '--reporter=github', ...sources];
  const { status, tail } = await tree.run(process.execPath, args);
  return status === 0 ? undefined : `the patched source is unsound: ${tail.trim().split('\n')[0]}`;
}

/** Tests run what is built, too: the built files must be those of the patched source. Returns why they cannot be built. */
async function rebuild(tree: ScratchTree): Promise<string | undefined> {
  for (const script of ['scripts/build-action.ts', 'scripts/build-package.ts']) {
    const { status, tail } = await tree.run(process.execPath, [script]);
    if (status !== 0) return `the patched source cannot be built: ${tail.trim().split('\n')[0]}`;
  }
  return undefined;
}
