import { writeSync } from 'node:fs';
import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ReeveError } from '../../platform/errors.ts';

/** Signals that request a stop. SIGHUP is sent when a terminal closes, and by some service managers. */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Maximum time from the first signal to the exit. Service managers kill a process after 10 s or more. */
const deadlineMs = 9_500;

/** A request to stop this process. */
export type StopRequest = {
  /** Aborted by the first signal; the reason is a `stopped` error. */
  readonly signal: AbortSignal;
  /** Resolves with the name of the first signal. */
  readonly received: Promise<NodeJS.Signals>;
  /** Exits with status 1 after 9.5 s, unless the process has ended before. */
  expire(): void;
  /** Returns whether an error was caused by the stop request: work in progress ends with `stopped`. */
  explains(error: unknown): boolean;
};

/**
 * Handles SIGINT, SIGTERM and SIGHUP, on which Node would exit immediately by default. The first signal requests a
 * stop; if the process has not ended 9.5 s later, it exits with status 1. A second signal exits immediately, with 128 +
 * the number of the signal. Call this function once, before any resource is opened.
 */
export function watchSignals(): StopRequest {
  const controller = new AbortController();
  const received = new Promise<NodeJS.Signals>((resolve) => {
    const stop = (name: NodeJS.Signals): void => {
      if (controller.signal.aborted) process.exit(128 + constants.signals[name]);
      expire();
      resolve(name);
      controller.abort(new ReeveError('stopped', `stopped by ${name}`));
    };
    for (const name of stopSignals) process.on(name, stop);
  });
  return {
    signal: controller.signal,
    received,
    expire,
    explains: (error) => controller.signal.aborted && error instanceof ReeveError && error.code === 'stopped',
  };
}

function expire(): void {
  // The timer is unreferenced, so a process that has closed everything ends earlier.
  setTimeout(exitLate, deadlineMs).unref();
}

function exitLate(): void {
  writeSync(
    2,
    `reeve: not everything could be closed within ${deadlineMs / 1_000} s; the process ends now\n`,
  );
  process.exit(1);
}

/**
 * Makes files of this process and its child processes accessible only to their owner. Databases contain secrets, and
 * git, which has no mode setting of its own, writes the code of private repositories.
 */
export function keepFilesPrivate(): void {
  process.umask(0o077);
}

const idleCheckMs = 1_000;
const collectEveryMs = 60_000;
/** A process is idle if it was busy for less than this part of the time between two checks. */
const idleShare = 0.05;
/** The young generation is worth returning from this size on; it has up to 16 MiB after a burst of work. */
const largeYoungBytes = 6 * 2 ** 20;

/**
 * Returns memory to the system while the process is idle, until it ends. V8 returns the free pages of its heap some
 * seconds after a collection that finds little allocation, but an idle process never makes such a collection: after a
 * start or a burst of work, about 14 MB stay. One collection of the young generation (some milliseconds) in a context
 * of its own, whose end V8 takes as a sign of garbage, makes V8 do the rest in small steps.
 */
export function returnIdleMemory(): void {
  let last = performance.eventLoopUtilization();
  // At most one collection a minute: with other flags of Node, the heap may stay large.
  let collectedMs = -Infinity;
  const check = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    if (utilization > idleShare || performance.now() - collectedMs < collectEveryMs) return;
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    if ((young?.space_size ?? 0) < largeYoungBytes) return;
    collectedMs = performance.now();
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('gc');
    if (typeof collect === 'function') collect({ type: 'minor' });
  };
  setInterval(check, idleCheckMs).unref();
}
