import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { createRandom } from '../fuzz/random.ts';
import { Disk } from '../power/disk.ts';
import { parseTrace, type TracedStep, traceArguments } from '../power/trace.ts';
import type { Drill } from '../promise.ts';

/** Large enough that the log is copied into the database and begins anew several times. */
const bodyBytes = 48_000;

/**
 * Records with strace what a store under load writes and syncs, and when it acknowledges. Then it cuts the power at random moments
 * of that record: of what no sync had covered, the disk holds any part. The store is opened as it was left, and read.
 */
export const drill: Drill = async ({ isQuick, signal }) => {
  if (spawnSync('strace', ['-V']).status !== 0) return { skipped: 'strace is not installed' };
  const [deliveries, cuts] = isQuick ? [500, 40] : [1_200, 400];
  const folder = await mkdtemp(join(tmpdir(), 'reeve-power-'));
  try {
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
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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

/** Accepts deliveries, eight at once, and notes each when it is acknowledged. It holds the store open until its files are read. */
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
  // The database exists before: what is recorded are its writes under load, not its migrations.
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
  // Bytes are printed in hexadecimal: a record of 1,200 deliveries is larger than a text may be.
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

/** Opens what a cut has left, with SQLite alone: the store's own code must not confirm itself. */
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
