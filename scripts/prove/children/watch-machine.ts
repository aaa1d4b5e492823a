import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { MachinePauses } from '../drills/latency.ts';

/** Often enough to see each relevant pause, and rarely enough to put no load on the disk. */
const everyMs = 50;

const file = openSync(String(workerData), 'w');
let [syncMs, timerMs] = [0, 0];
let dueMs = performance.now() + everyMs;
let next = setTimeout(look, everyMs);

function look(): void {
  const startMs = performance.now();
  timerMs = Math.max(timerMs, startMs - dueMs);
  writeSync(file, 'a sector', 0);
  fsyncSync(file);
  syncMs = Math.max(syncMs, performance.now() - startMs);
  dueMs = performance.now() + everyMs;
  next = setTimeout(look, everyMs);
}

parentPort?.once('message', () => {
  clearTimeout(next);
  closeSync(file);
  parentPort?.postMessage({ syncMs, timerMs } satisfies MachinePauses);
});
