import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rooms } from './mutation/rooms.ts';

/**
 * `npm run mutation -- --room receiver [--only 'src/server/receiver/guards.ts']`: makes small changes to the source
 * with Stryker, one at a time, and reports which changes no test detects. A room takes up to an hour. Exit 0 if the
 * tests detect at least 85 %, 1 if they do not, 2 for wrong usage. Without `--room`, a different room runs each day.
 * Stryker is installed in `scripts/mutation` at the first run.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}scripts/mutation`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { room: { type: 'string' }, only: { type: 'string' }, concurrency: { type: 'string' } },
  });
  const name = values.room ?? roomOfDay(new Date());
  const room = rooms[name];
  if (room === undefined)
    throw new Error(`usage: mutation [--room ${Object.keys(rooms).join('|')}] [--only FILES]`);
  console.log(`room ${name}`);
  const concurrency = Number(values.concurrency ?? availableParallelism());
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    throw new Error('--concurrency wants a number from 1');
  if (!existsSync(`${folder}/node_modules`)) await install();
  const report = `${root}mutation-${name}.json`;
  await rm(report, { force: true });
  const status = await run(
    process.execPath,
    [`${folder}/node_modules/@stryker-mutator/core/bin/stryker.js`, 'run', `${folder}/stryker.config.mjs`],
    {
      MUTATION_FILES: values.only ?? room.mutate.join(','),
      MUTATION_TESTS: room.tests.join(','),
      MUTATION_WITHOUT: room.without.join(','),
      MUTATION_CONCURRENCY: `${concurrency}`,
      MUTATION_REPORT: report,
      MUTATION_FOLDER: `${root}.stryker-tmp`,
    },
  );
  if (existsSync(report)) console.log(describeReport(await readReport(report)));
  return status === 0 ? 0 : 1;
}

async function install(): Promise<void> {
  const status = await run('npm', ['ci', '--prefix', folder]);
  if (status !== 0) throw new Error(`npm ci ended with ${status}: Stryker is not installed`);
}

function roomOfDay(day: Date): string {
  const names = Object.keys(rooms);
  return names[Math.floor(day.getTime() / 86_400_000) % names.length] ?? '';
}

async function run(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<number | null> {
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: 'inherit',
    // Uses a separate process group: a mutant in an endless loop does not react to signals, and would continue after an
    // interruption.
    detached: true,
  });
  const stop = (): boolean => child.kill('SIGINT');
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop);
  const [status] = (await once(child, 'exit')) as [number | null];
  endGroup(child.pid);
  return status;
}

/** Ends the remaining processes that a program has started. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No process is left.
  }
}

type Position = { readonly line: number; readonly column: number };
/** Mutant in Stryker's report. */
type Mutant = {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Position; readonly end: Position };
};
/** Stryker's report: https://github.com/stryker-mutator/mutation-testing-elements, schema 2. */
type MutationReport = {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
};

const noticed = ['Killed', 'Timeout'];
const unnoticed = ['Survived', 'NoCoverage'];

/** Returns the percentage of detectable mutants that a test detected. */
function scoreOf(mutants: readonly Mutant[]): number {
  const judged = count(mutants, [...noticed, ...unnoticed]);
  return judged === 0 ? 100 : (100 * count(mutants, noticed)) / judged;
}

const count = (mutants: readonly Mutant[], statuses: readonly string[]): number =>
  mutants.filter(({ status }) => statuses.includes(status)).length;

/** Returns text without line breaks, truncated. */
const short = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 90 ? `${line.slice(0, 89)}…` : line;
};

/** Returns the source between two positions, which start at 1. */
function sourceAt(source: string, { start, end }: Mutant['location']): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const last = lines.at(-1)?.slice(0, end.column - 1) ?? '';
  const whole = [...lines.slice(0, -1), last].join('\n');
  return whole.slice(start.column - 1);
}

const row = (name: string, mutants: readonly Mutant[]): string =>
  `| ${[
    name,
    count(mutants, [...noticed, ...unnoticed]),
    count(mutants, noticed),
    count(mutants, ['Timeout']),
    count(mutants, ['Survived']),
    count(mutants, ['NoCoverage']),
    scoreOf(mutants).toFixed(1),
  ].join(' | ')} |`;

/** Returns a Markdown table of the files, with a line for each undetected mutant. */
function describeReport(report: MutationReport): string {
  const files = Object.entries(report.files).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const all = files.flatMap(([, { mutants }]) => mutants);
  const survivors = files.flatMap(([name, { source, mutants }]) =>
    mutants
      .filter(({ status }) => unnoticed.includes(status))
      .toSorted((one, other) => one.location.start.line - other.location.start.line)
      .map((mutant) => {
        const { start } = mutant.location;
        const place = `${name}:${start.line}:${start.column}`;
        const reached = mutant.status === 'NoCoverage' ? ' (not covered)' : '';
        return `- ${place} ${short(sourceAt(source, mutant.location))} → ${short(mutant.replacement ?? '')}${reached}`;
      }),
  );
  return [
    '| file | mutants | noticed | of these by a time-out | survived | not covered | score % |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...files.map(([name, { mutants }]) => row(name, mutants)),
    row('all', all),
    '',
    `Mutants that no test notices: ${survivors.length}. Left out, as they are evaluated when a module is loaded: ${count(all, ['Ignored'])}.`,
    ...survivors,
  ].join('\n');
}

/** Reads the report that Stryker wrote. */
async function readReport(path: string): Promise<MutationReport> {
  return JSON.parse(await readFile(path, 'utf8')) as MutationReport;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
