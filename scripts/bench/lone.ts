import { readFileSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { createSender } from '../harness/sender.ts';
import { startReeve } from './events.ts';
import { LabelForge } from './label-forge.ts';
import { benchRow, type Measure, median, onStage, round } from './runner.ts';

/** Number of events that are not counted: for the first event of a repository, Reeve remembers additional data. */
const warmUp = 5;
const bodyBytes = 4_096;

/**
 * Measures what Reeve writes for a single event with one label, while nothing else happens. With 64 connections, many
 * deliveries share a page and a transaction, but small forges send one event at a time.
 */
export const measure: Measure = ({ quick }) =>
  onStage(async (stage) => {
    const count = quick ? 20 : 60;
    const forge = await LabelForge.start(stage, { repositories: 1, issues: warmUp + count });
    const rules = join(stage.folder, 'rules');
    await mkdir(rules);
    const { url, pid, database } = await startReeve(stage, forge, rules);
    stage.defer(holdLog(database));
    const sender = createSender(1);
    stage.defer(sender.close);
    const found: Written[] = [];
    let before = await writtenAtRest(database, pid);
    for (const place of forge.take(warmUp + count)) {
      await forge.labelBy(sender, url, place, forge.deliveryOf(place, bodyBytes));
      const after = await writtenAtRest(database, pid);
      found.push({ log: after.log - before.log, calls: after.calls - before.calls });
      before = after;
    }
    const middle = (read: (written: Written) => number): number => median(found.slice(warmUp).map(read));
    const calls = middle((written) => written.calls);
    return [
      benchRow({
        name: `bytes written to the log of the store for a lone event of ${bodyBytes / 1_024} KB with one label`,
        value: middle(({ log }) => log) / 1_000,
        unit: 'KB',
        against: Number.isNaN(calls)
          ? ''
          : `write calls of the process, also to sockets and threads: ${round(calls)}`,
        target: '<= 100 KB',
      }),
    ];
  });

/**
 * Holds a read transaction, so that the log only grows: frames after the one that the transaction reads are not
 * overwritten. Checkpoints still copy from the log, but add nothing to it. Without the transaction, the log would
 * restart at its beginning after a checkpoint, and its file would keep its size.
 */
function holdLog(path: string): () => void {
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('BEGIN; SELECT count(*) FROM memory');
  return () => reader.close();
}

/** Bytes in the write-ahead log, and write calls of the process (NaN if the system does not count them). */
type Written = { readonly log: number; readonly calls: number };

/** Returns what has been written so far, after a while without writes: a label is set before its delivery has ended. */
async function writtenAtRest(database: string, pid: number): Promise<Written> {
  for (let last = -1; ; ) {
    const written = { log: statSync(`${database}-wal`).size, calls: writeCallsOf(pid) };
    if (written.log === last) return written;
    last = written.log;
    await pause(150);
  }
}

function writeCallsOf(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  return Number(/^syscw: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}
