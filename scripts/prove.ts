import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  isDrillProof,
  isTestProof,
  judgeDrill,
  judgeTests,
  rowOf,
  tableOf,
  writeTable,
} from './prove/judge.ts';
import type { ReliabilityPromise, Row } from './prove/promise.ts';
import { promises } from './prove/promises.ts';
import type { TestRun } from './prove/reporter.ts';
import { judgeTwins } from './twins/judge.ts';
import { runProcess } from './twins/run-process.ts';
import { loadTwins, selectTwins } from './twins/twin.ts';

/**
 * `npm run prove`: measures each promise of docs/reliability.md, and prints the result and whether the promise is kept.
 * It takes hours; `-- --quick` takes at most ten minutes. `-- --only P23` tests one promise, `-- --write` stores each
 * row in docs/reliability.md as soon as it is measured, `-- --json` prints an array of rows. `-- --twins` instead
 * breaks each promise with the patches that its row names, and prints `caught N of N`. Exit 0 when no promise is
 * broken, 1 when one is, 2 for wrong usage.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const abort = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => abort.abort());

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      twins: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
    },
  });
  const chosen = choose(values.only);
  if (values.write && (values.quick || values.twins)) throw new Error('--write stores rows of a full run');
  if (values.twins) return proveTwins(chosen);
  const startedMs = performance.now();
  const rows = await prove(chosen, values.quick, values.write ? write : undefined);
  const minutes = Math.ceil((performance.now() - startedMs) / 60_000);
  console.log(values.json ? JSON.stringify(rows) : tableOf(rows));
  const counts = (['ok', 'skipped', 'broken'] as const).map(
    (verdict) => `${rows.filter((row) => row.verdict === verdict).length} ${verdict}`,
  );
  console.error(`${rows.length} promises: ${counts.join(', ')}; ${minutes} min`);
  return rows.some(({ verdict }) => verdict === 'broken') ? 1 : 0;
}

function choose(only: readonly string[]): readonly ReliabilityPromise[] {
  const unknown = only.filter((id) => !promises.some((each) => each.id === id));
  if (unknown.length > 0) throw new Error(`there is no promise ${unknown.join(', ')}; there are P1 to P40`);
  return only.length === 0 ? promises : promises.filter(({ id }) => only.includes(id));
}

/**
 * Runs all tests in one run first, then the drills one at a time, because nothing else may run during their
 * measurements.
 */
async function prove(
  chosen: readonly ReliabilityPromise[],
  isQuick: boolean,
  onRow: ((row: Row) => Promise<void>) | undefined,
): Promise<readonly Row[]> {
  const files = new Set(chosen.flatMap(({ proofs }) => proofs.filter(isTestProof).map(({ file }) => file)));
  console.error(`running ${files.size} test files …`);
  const run = await runTests([...files], isQuick);
  if (run.errors.length > 0)
    throw new Error(`errors happened outside of tests, nothing is proved: ${run.errors.join('; ')}`);
  for (const { name, state, error = '' } of run.tests) {
    if (state === 'failed') console.error(`failed: ${name}\n${error}`);
  }
  const rows: Row[] = [];
  for (const each of chosen) {
    const row = await proveOne(each, run, isQuick);
    console.error(`${row.id} ${row.verdict}: ${row.figure}`);
    rows.push(row);
    await onRow?.(row);
  }
  return rows;
}

/**
 * Runs test files in one run of vitest: with the iterations of `npm test` for a quick run, otherwise with those of `npm
 * run test:long`. Throws if vitest reports nothing.
 */
async function runTests(files: readonly string[], isQuick: boolean): Promise<TestRun> {
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
        signal: abort.signal,
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

async function proveOne(each: ReliabilityPromise, run: TestRun, isQuick: boolean): Promise<Row> {
  const findings = each.proofs.filter(isTestProof).map((proof) => judgeTests(proof, run.tests));
  for (const proof of each.proofs.filter(isDrillProof)) {
    abort.signal.throwIfAborted();
    const { drill } = await proof.drill();
    findings.push(judgeDrill(await drill({ isQuick, signal: abort.signal }).catch(toFailure)));
  }
  return rowOf(each, findings, isQuick);
}

function toFailure(error: unknown): { readonly figure: string; readonly isKept: false } {
  abort.signal.throwIfAborted();
  return { figure: error instanceof Error ? error.message : String(error), isKept: false };
}

async function proveTwins(chosen: readonly ReliabilityPromise[]): Promise<number> {
  const only = [...new Set(chosen.flatMap(({ twins }) => twins))];
  const twins = selectTwins(await loadTwins(`${root}test/twins`), { only, shard: '1/1' });
  const judgements = await judgeTwins({
    root,
    twins,
    signal: abort.signal,
    onProgress: (text) => console.error(text),
    onJudgement: ({ twin, verdict, detail }) => console.log(`${verdict} ${twin.name}: ${detail}`),
  });
  const caught = new Set(
    judgements.filter(({ verdict }) => verdict === 'caught').map(({ twin }) => twin.name),
  );
  for (const { id, twins: own } of chosen) {
    console.log(`${id}: caught ${own.filter((name) => caught.has(name)).length} of ${own.length}`);
  }
  console.log(`caught ${caught.size} of ${twins.length}`);
  return caught.size === twins.length ? 0 : 1;
}

async function write(row: Row): Promise<void> {
  const page = `${root}docs/reliability.md`;
  const day = new Date().toISOString().slice(0, 10);
  const measured = `${day}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}`;
  await writeFile(page, writeTable(await readFile(page, 'utf8'), [row], measured));
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = abort.signal.aborted ? 130 : 2;
}
