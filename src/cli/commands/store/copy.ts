import { readFileSync } from 'node:fs';
import { messageOf, ReeveError } from '../../../platform/errors.ts';
import type { Variables } from '../../../server/settings/config.ts';
import { type CopyReport, transferStore } from '../../../store/copy/copy-store.ts';
import {
  type CopyPlace,
  isSamePlace,
  openCopySource,
  openCopyTarget,
} from '../../../store/copy/open-copy-sides.ts';
import { count, plain, type Terminal } from '../../output/terminal.ts';
import { keepFilesPrivate } from '../process.ts';

type CopyFlags = {
  readonly from: string;
  readonly to: string;
  readonly restart?: boolean;
  readonly json?: boolean;
};

/** Interval between progress lines. */
const progressMs = 5_000;

/**
 * Copies a store to an empty location and compares the copy with the source. Returns the exit status: 1 if they differ.
 */
export async function copyStoreTo(
  { from, to, restart, json }: CopyFlags,
  environment: Variables,
  terminal: Terminal,
): Promise<number> {
  keepFilesPrivate();
  const places = { from: readPlace('--from', from, environment), to: readPlace('--to', to, environment) };
  if (isSamePlace(places.from, places.to))
    throw new ReeveError(
      'usage',
      '--from and --to name the same location: a store cannot be copied to itself',
    );
  const source = await openCopySource(places.from);
  let report: CopyReport;
  try {
    const target = await openCopyTarget(places.to);
    try {
      report = await transferStore(source, target, {
        now: () => new Date(),
        ...(restart && { restart }),
        onProgress: createProgress(terminal),
      });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
  const isEqual = report.tables.every((table) => table.isEqual);
  if (json) terminal.out(JSON.stringify({ ok: isEqual, ...report }));
  else printReport(report, terminal);
  if (isEqual) return 0;
  terminal.error(
    plain(
      `${report.to} differs from ${report.from} and cannot be used. If the source was used since the copy began, run the same command with --restart`,
    ),
  );
  return 1;
}

function createProgress(terminal: Terminal): (progress: { table: string; rows: number }) => void {
  let lastMs = performance.now();
  return ({ table, rows }) => {
    if (performance.now() - lastMs < progressMs) return;
    lastMs = performance.now();
    terminal.error(`${table}: ${count(rows, 'row')} copied`);
  };
}

function printReport({ from, to, begun, tables }: CopyReport, terminal: Terminal): void {
  for (const { table, rows, digest, isEqual } of tables) {
    const verdict = isEqual ? terminal.style('green', 'equal') : terminal.style('red', 'different');
    terminal.out(`${table.padEnd(14)} ${String(rows).padStart(10)}  ${digest.slice(0, 16)}  ${verdict}`);
  }
  if (!tables.every((table) => table.isEqual)) return;
  const done = begun === 'verified' ? 'was copied before to' : 'is copied to';
  terminal.out(plain(`${from} ${done} ${to}; rows and digests are equal`));
}

/**
 * Returns the location given by a flag. Throws `usage` if the flag contains a password, which other users of the
 * machine could see.
 */
function readPlace(flag: string, given: string, environment: Variables): CopyPlace {
  if (given.startsWith('env:')) {
    const name = given.slice('env:'.length);
    return placeOf(flag, readVariable(flag, name, environment));
  }
  if (isAddress(given) && hasPassword(given)) {
    throw new ReeveError(
      'usage',
      `${flag}: other users can see a password in a command. Put the address into a variable or a file, and write ${flag} env:NAME (NAME, or the file that NAME_FILE names)`,
    );
  }
  return placeOf(flag, given);
}

function placeOf(flag: string, place: string): CopyPlace {
  if (isAddress(place)) return { databaseUrl: place };
  if (/^[a-z]+:/i.test(place))
    throw new ReeveError(
      'usage',
      `${flag} must be a path, an address that begins with postgres://, or env:NAME`,
    );
  if (place === '') throw new ReeveError('usage', `${flag} is empty`);
  return { path: place };
}

function readVariable(flag: string, name: string, environment: Variables): string {
  const value = environment[name] ?? '';
  const file = environment[`${name}_FILE`] ?? '';
  if (value !== '' && file !== '')
    throw new ReeveError('usage', `${flag}: ${name} and ${name}_FILE are both set; keep one`);
  if (value !== '') return value;
  if (file === '') throw new ReeveError('usage', `${flag}: neither ${name} nor ${name}_FILE is set`);
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new ReeveError('usage', `${flag}: ${name}_FILE: ${messageOf(error)}`);
  }
}

function isAddress(place: string): boolean {
  return /^postgres(ql)?:\/\//.test(place);
}

function hasPassword(address: string): boolean {
  const [base = '', query = ''] = address.split(/\?(.*)/s);
  return /^[^:]+:\/\/[^/@]*:.*@/.test(base) || new URLSearchParams(query).has('password');
}
