import { writeSync } from 'node:fs';
import { constants } from 'node:os';
import { ReeveError } from '../../platform/errors.ts';

/** Signals that ask a process to stop. A terminal that is closed, and some service managers, send SIGHUP. */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Time from the first signal to the end of the process, whatever hangs. Service managers kill after 10 s and more. */
const deadlineMs = 9_500;

/** A request to stop this process. */
export type StopRequest = {
  /** Aborted by the first signal; the reason is a `stopped` error. */
  readonly signal: AbortSignal;
  /** Resolves with the name of that signal. */
  readonly received: Promise<NodeJS.Signals>;
  /** Exits with status 1 in 9.5 s, unless the process has ended by then. */
  expire(): void;
  /** Returns whether an error comes from the request: what was under way when it came ends with `stopped`. */
  explains(error: unknown): boolean;
};

/**
 * Takes over SIGINT, SIGTERM and SIGHUP from Node, whose default is to end the process at once. The first one asks the
 * command to stop; if the process is still there 9.5 s later, it exits with status 1. A second one ends it immediately,
 * with 128 + the number of the signal. Call it once, before anything is opened that has to be closed.
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
  // Not a reason to stay alive: a process that has closed everything ends before.
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
 * Lets only the owner of this process read the files that it and its child processes create: databases keep secrets, and
 * git, which knows no mode of its own, writes the code of private repositories.
 */
export function keepFilesPrivate(): void {
  process.umask(0o077);
}
