import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { startSending } from './sender.ts';

type CrashOptions = {
  readonly kills: number;
  /** `ack-first`: the broken twin that the harness must catch. */
  readonly twin?: string;
  readonly onKill?: (done: number, acked: number, lost: number) => void;
};

type CrashReport = { readonly acked: number; readonly lost: number; readonly isIntact: boolean };

/**
 * Kills a receiving server with SIGKILL at random moments and counts the deliveries that were acknowledged and are not
 * in the store. It shows what survives the death of the process, not the loss of power.
 */
export async function crash({ kills, twin = '', onKill = () => {} }: CrashOptions): Promise<CrashReport> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-crash-'));
  const path = join(folder, 'reeve.db');
  const acked: string[] = [];
  let lost = 0;
  let isIntact = true;
  try {
    for (let kill = 1; kill <= kills; kill += 1) {
      const uuids = await runUntilKilled(path, twin, kill % 10 === 5 ? large : usual);
      acked.push(...uuids);
      // Each kill against what it acknowledged; the last against all: a later restart must not undo an earlier one.
      const seen = look(
        path,
        kill === kills ? acked : uuids,
        kill === kills ? 0 : Math.max(acked.length - uuids.length - lost, 0),
      );
      lost = kill === kills ? seen.missing : lost + seen.missing;
      isIntact &&= seen.isIntact;
      onKill(kill, acked.length, lost);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return { acked: acked.length, lost, isIntact };
}

/** A kill comes after up to so many acknowledgements. */
type Load = { readonly padBytes: number; readonly maxAcked: number };
const usual: Load = { padBytes: 1_000, maxAcked: 250 };
/** Large enough to be killed during a checkpoint and after a restart of the log. */
const large: Load = { padBytes: 64_000, maxAcked: 600 };
/** …or after this long: a busy machine gets there late. */
const maxWaitMs = 3_000;

async function runUntilKilled(path: string, twin: string, load: Load): Promise<readonly string[]> {
  const child = fork(new URL('./child.ts', import.meta.url), [path, twin], {
    execPath: process.execPath,
    execArgv: [],
  });
  const exited = once(child, 'exit');
  try {
    const port = await portOf(child);
    const sender = startSending(port, { connections: 8, padBytes: load.padBytes });
    const enough = Math.random() * load.maxAcked;
    const endMs = performance.now() + maxWaitMs;
    while (sender.acked.length < enough && performance.now() < endMs) await pause(1);
    await pause(Math.random() * 5);
    child.kill('SIGKILL');
    await exited;
    await sender.stop();
    return sender.acked;
  } finally {
    child.kill('SIGKILL');
  }
}

async function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('message', (message: { port: number }) => resolve(message.port));
    child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it was ready`)));
  });
}

/**
 * Looks with SQLite alone: the store's own code must not be what vouches for it. `earlier` is how many rows
 * were there before at least: they need not be read again.
 */
function look(
  path: string,
  uuids: readonly string[],
  earlier: number,
): { missing: number; isIntact: boolean } {
  const database = new DatabaseSync(path);
  try {
    const rows = database.prepare('SELECT uuid FROM deliveries JOIN bodies USING (id) LIMIT -1 OFFSET ?');
    const stored = new Set<unknown>();
    for (const row of rows.iterate(earlier)) stored.add(row.uuid);
    const check = database.prepare('PRAGMA integrity_check').get();
    return {
      missing: uuids.filter((uuid) => !stored.has(uuid)).length,
      isIntact: check?.integrity_check === 'ok',
    };
  } finally {
    database.close();
  }
}
