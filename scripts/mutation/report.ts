import { readFile } from 'node:fs/promises';

type Position = { readonly line: number; readonly column: number };
/** A mutant in Stryker's report. */
type Mutant = {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Position; readonly end: Position };
};
/** Stryker's report: https://github.com/stryker-mutator/mutation-testing-elements, schema 2. */
export type MutationReport = {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
};

const noticed = ['Killed', 'Timeout'];
const unnoticed = ['Survived', 'NoCoverage'];

/** Returns the share of mutants that a test noticed in percent, of all that some test could notice. */
function scoreOf(mutants: readonly Mutant[]): number {
  const judged = count(mutants, [...noticed, ...unnoticed]);
  return judged === 0 ? 100 : (100 * count(mutants, noticed)) / judged;
}

const count = (mutants: readonly Mutant[], statuses: readonly string[]): number =>
  mutants.filter(({ status }) => statuses.includes(status)).length;

/** Returns text without line breaks, cut off. */
const short = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 90 ? `${line.slice(0, 89)}…` : line;
};

/** Returns the source between two positions, which count from 1. */
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

/** Returns a table of the files and a line for each mutant that no test notices, in Markdown. */
export function describeReport(report: MutationReport): string {
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
export async function readReport(path: string): Promise<MutationReport> {
  return JSON.parse(await readFile(path, 'utf8')) as MutationReport;
}
