import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { createRandom, type Random } from '../../harness/random.ts';
import { withWorkspace } from '../../harness/workspace.ts';
import type { Drill } from '../promise.ts';

/** Large enough that the log is copied into the database and restarts several times. */
const bodyBytes = 48_000;

/**
 * Records with strace what a store under load writes and syncs, and when it acknowledges. Then it simulates power cuts
 * at random times of that record: the disk holds any part of what no sync had covered. The store is opened in that
 * state and read.
 */
export const drill: Drill = async ({ isQuick, signal }) => {
  if (spawnSync('strace', ['-V']).status !== 0) return { skipped: 'strace is not installed' };
  const [deliveries, cuts] = isQuick ? [500, 40] : [1_200, 400];
  return withWorkspace('power', async ({ folder }) => {
    const paths = pathsIn(folder);
    const { before, steps } = await record(paths, deliveries, signal);
    const seed = Math.floor(Math.random() * 2 ** 31);
    const result = replay(paths, { before, steps, cuts, seed, signal });
    const [writes = 0, syncs = 0] = (['write', 'sync'] as const).map(
      (each) => steps.filter(({ kind }) => kind === each).length,
    );
    const { checked, lost, damaged, unsynced } = result;
    return {
      figure:
        `${cuts} power cuts in a record of ${writes.toLocaleString('en')} writes and ${syncs.toLocaleString('en')} syncs (seed ${seed}): ` +
        `${checked.toLocaleString('en')} acknowledged deliveries looked for, ${lost} lost, ${damaged} stores damaged; ${unsynced} cuts with writes that no sync had covered`,
      // A disk that loses nothing would prove nothing.
      isKept: lost === 0 && damaged === 0 && checked > cuts && unsynced > 0,
    };
  });
};

type Paths = {
  readonly folder: string;
  readonly database: string;
  readonly log: string;
  readonly notes: string;
};

function pathsIn(folder: string): Paths {
  const database = join(folder, 'reeve.db');
  return { folder, database, log: `${database}-wal`, notes: join(folder, 'acknowledged') };
}

/**
 * Accepts eight deliveries at a time, and records each acknowledgement. It keeps the store open until its files are
 * read.
 */
const program = `
  import { openSync, writeSync } from 'node:fs';
  import { openSqliteStore } from ${JSON.stringify(new URL('../../../src/store/sqlite/sqlite-store.ts', import.meta.url).href)};
  const [path, notes, count, bytes] = process.argv.slice(1);
  const store = await openSqliteStore({ path, role: 'worker' });
  const file = openSync(notes, 'a');
  let begun = 0;
  const line = async () => {
    while (begun < Number(count)) {
      const n = begun++;
      const body = Buffer.from(JSON.stringify({ n, pad: 'x'.repeat(Number(bytes)) }));
      await store.accept({ uuid: 'uuid-' + n, eventType: 'push', entry: 'e', contentType: 'application/json', receivedAt: new Date(), body });
      writeSync(file, 'uuid-' + n + '\\n');
    }
  };
  await Promise.all(Array.from({ length: 8 }, line));
  process.kill(process.pid, 'SIGKILL');`;

async function record(paths: Paths, deliveries: number, signal: AbortSignal) {
  // The database already exists, so that its writes under load are recorded, not its migrations.
  await (await openSqliteStore({ path: paths.database, role: 'worker' })).close();
  writeFileSync(paths.notes, '');
  const before = new Map([[paths.database, readFileSync(paths.database)]]);
  const output = join(paths.folder, 'trace');
  const node = [process.execPath, '--input-type=module', '-e', program];
  const given = [paths.database, paths.notes, String(deliveries), String(bodyBytes)];
  const files = [paths.database, paths.log, paths.notes];
  const child = spawn('strace', [...traceArguments(output, files), ...node, ...given], {
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  });
  let problems = '';
  child.stderr.on('data', (part) => {
    problems += part;
  });
  await once(child, 'exit');
  // Bytes are printed in hexadecimal: a record of 1,200 deliveries exceeds the maximum length of a string.
  const lines = createInterface({ input: createReadStream(output, 'latin1') });
  const steps = await parseTrace(lines, paths.notes);
  const noted = steps.filter(({ kind }) => kind === 'note').length;
  if (noted !== deliveries)
    throw new Error(`${noted} of ${deliveries} deliveries are in the record: ${problems.slice(-500)}`);
  return { before, steps };
}

type Replay = {
  readonly before: ReadonlyMap<string, Buffer>;
  readonly steps: readonly TracedStep[];
  readonly cuts: number;
  readonly seed: number;
  readonly signal: AbortSignal;
};

function replay(paths: Paths, { before, steps, cuts, seed, signal }: Replay) {
  const random = createRandom(seed);
  const moments = Array.from({ length: cuts }, () => random.below(steps.length + 1)).sort(
    (one, other) => one - other,
  );
  const disk = new Disk(before);
  const acknowledged: string[] = [];
  const result = { checked: 0, lost: 0, damaged: 0, unsynced: 0 };
  for (let at = 0; at <= steps.length; at += 1) {
    while (moments[0] === at) {
      signal.throwIfAborted();
      moments.shift();
      const { stored, isIntact } = lookAt(paths, disk.cut(random), result.checked);
      result.checked += acknowledged.length;
      result.lost += acknowledged.filter((uuid) => !stored.has(uuid)).length;
      result.damaged += isIntact ? 0 : 1;
      result.unsynced += disk.isBehind() ? 1 : 0;
    }
    const step = steps[at];
    if (step === undefined) break;
    disk.apply(step);
    if (step.kind === 'note') acknowledged.push(step.text.trim());
  }
  return result;
}

/** Opens the files left by a cut, directly with SQLite, so that the store's code does not verify itself. */
function lookAt({ folder, database, log }: Paths, files: ReadonlyMap<string, Buffer>, number: number) {
  const place = join(folder, `cut-${number}`);
  mkdirSync(place, { recursive: true });
  const path = join(place, 'reeve.db');
  writeFileSync(path, files.get(database) ?? '');
  writeFileSync(`${path}-wal`, files.get(log) ?? '');
  const opened = new DatabaseSync(path);
  try {
    const check = opened.prepare('PRAGMA integrity_check').get();
    const rows = opened.prepare('SELECT uuid FROM deliveries JOIN bodies USING (id)').all();
    return {
      stored: new Set(rows.map(({ uuid }) => String(uuid))),
      isIntact: check?.integrity_check === 'ok',
    };
  } catch {
    return { stored: new Set<string>(), isIntact: false };
  } finally {
    opened.close();
    rmSync(place, { recursive: true, force: true });
  }
}

type Change = Extract<TracedStep, { kind: 'write' | 'truncate' }>;

/** Size that a power cut cannot tear. */
const sectorBytes = 512;

/** Files of a process on a disk that writes unsynced data in any order, in part, or not at all. */
class Disk {
  readonly #files = new Map<string, Buffer>();
  /** Changes that no sync has covered, with their numbers. */
  #pending: { readonly at: number; readonly change: Change }[] = [];
  #steps = 0;

  constructor(files: ReadonlyMap<string, Buffer>) {
    for (const [file, bytes] of files) this.#files.set(file, Buffer.from(bytes));
  }

  apply(step: TracedStep): void {
    const at = this.#steps;
    this.#steps += 1;
    if (step.kind === 'write' || step.kind === 'truncate') this.#pending.push({ at, change: step });
    if (step.kind !== 'sync') return;
    const isCovered = ({ at: when, change }: { at: number; change: Change }): boolean =>
      change.file === step.file && when < step.from;
    for (const one of this.#pending) if (isCovered(one)) write(this.#files, one.change);
    this.#pending = this.#pending.filter((one) => !isCovered(one));
  }

  /** Returns whether there are changes that a power cut may lose. */
  isBehind(): boolean {
    return this.#pending.length > 0;
  }

  /** Returns the contents of the files after a power cut at this time. */
  cut(random: Random): ReadonlyMap<string, Buffer> {
    const files = new Map([...this.#files].map(([file, bytes]) => [file, Buffer.from(bytes)]));
    const share = random.pick([0, 0.1, 0.5, 0.9]);
    for (const { change } of this.#pending) {
      if (!random.chance(share)) continue;
      write(files, change.kind === 'write' && random.chance(0.3) ? tear(change, random) : change);
    }
    return files;
  }
}

function write(files: Map<string, Buffer>, change: Change): void {
  const before = files.get(change.file) ?? Buffer.alloc(0);
  if (change.kind === 'truncate') {
    const after = Buffer.alloc(change.length);
    before.copy(after);
    files.set(change.file, after);
    return;
  }
  const end = change.offset + change.bytes.length;
  const after = end > before.length ? Buffer.concat([before, Buffer.alloc(end - before.length)]) : before;
  change.bytes.copy(after, change.offset);
  files.set(change.file, after);
}

/** Returns the first or the last sectors of a write. */
function tear(change: Extract<Change, { kind: 'write' }>, random: Random): Change {
  const at = Math.min(
    sectorBytes * random.below(Math.ceil(change.bytes.length / sectorBytes)),
    change.bytes.length,
  );
  return random.chance(0.5)
    ? { ...change, bytes: change.bytes.subarray(0, at) }
    : { ...change, offset: change.offset + at, bytes: change.bytes.subarray(at) };
}

/** Operation of a traced process on a file, in order of completion. */
type TracedStep =
  | { readonly kind: 'write'; readonly file: string; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly file: string; readonly length: number }
  /** `from`: number of steps before the sync started. The sync does not cover later steps. */
  | { readonly kind: 'sync'; readonly file: string; readonly from: number }
  /** Text that the process wrote to the file of its acknowledgements. */
  | { readonly kind: 'note'; readonly text: string };

/** Returns the strace arguments whose output `parseTrace` needs. */
function traceArguments(output: string, files: readonly string[]): readonly string[] {
  const calls = 'trace=pwrite64,write,fdatasync,fsync,ftruncate';
  return [
    '-f',
    '-y',
    '-xx',
    '-s',
    '100000',
    '-o',
    output,
    '-e',
    calls,
    ...files.flatMap((file) => ['-P', file]),
  ];
}

type Call = { readonly name: string; readonly args: string };

/** Returns the steps in strace's output lines; `notes` is the file whose writes are notes. */
async function parseTrace(lines: AsyncIterable<string>, notes: string): Promise<readonly TracedStep[]> {
  const steps: TracedStep[] = [];
  const begun = new Map<string, Call & { readonly from: number }>();
  for await (const line of lines) {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const resumed = /^<\.\.\. (\w+) resumed>(.*)= (-?\d+)/.exec(rest);
    if (resumed !== null) {
      const call = begun.get(thread);
      begun.delete(thread);
      if (call !== undefined && Number(resumed[3]) >= 0) add(steps, call, call.from, notes);
      continue;
    }
    const unfinished = /^(\w+)\((.*) <unfinished \.\.\.>$/.exec(rest);
    if (unfinished !== null) {
      begun.set(thread, { name: unfinished[1] ?? '', args: unfinished[2] ?? '', from: steps.length });
      continue;
    }
    const whole = /^(\w+)\((.*)\)\s+= (-?\d+)/.exec(rest);
    if (whole !== null && Number(whole[3]) >= 0)
      add(steps, { name: whole[1] ?? '', args: whole[2] ?? '' }, steps.length, notes);
  }
  return steps;
}

function add(steps: TracedStep[], { name, args }: Call, from: number, notes: string): void {
  const file = decode(/^\d+<([^>]*)>/.exec(args)?.[1] ?? '').toString();
  if (name === 'fdatasync' || name === 'fsync') return void steps.push({ kind: 'sync', file, from });
  if (name === 'ftruncate') return void steps.push({ kind: 'truncate', file, length: lastNumber(args) });
  const bytes = decode(/"((?:\\x[0-9a-f]{2})*)"/.exec(args)?.[1] ?? '');
  if (file === notes) return void steps.push({ kind: 'note', text: bytes.toString() });
  if (name === 'pwrite64') steps.push({ kind: 'write', file, offset: lastNumber(args), bytes });
  else throw new Error(`the trace has a ${name} to ${file}, whose place is not known`);
}

function lastNumber(args: string): number {
  return Number(/(\d+)$/.exec(args)?.[1]);
}

/** Decodes hexadecimal bytes, as printed by `-xx`; other texts are returned unchanged. */
function decode(text: string): Buffer {
  return text.startsWith('\\x') ? Buffer.from(text.replaceAll('\\x', ''), 'hex') : Buffer.from(text);
}
