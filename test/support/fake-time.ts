import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A wall clock that a test sets in another process while that runs; its monotonic clock goes on undisturbed. */
export type FakeTime = {
  /** What the process has to be started with. */
  readonly environment: Readonly<Record<string, string>>;
  /** Sets the wall clock of the process to this many seconds ahead of the real one. */
  setAhead(seconds: number): void;
};

const library = ['/usr/lib', '/usr/local/lib', '/usr/lib64']
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => [folder, ...readdirSync(folder).map((name) => join(folder, name))])
  .map((folder) => join(folder, 'faketime/libfaketime.so.1'))
  .find((path) => existsSync(path));

/** Says why clocks of other processes cannot be set here; undefined where they can. */
export const fakeTimeIsMissing = library === undefined ? 'skipped: libfaketime is not installed' : undefined;

/** Prepares a clock whose offset stands in a file of the folder. */
export function makeFakeTime(folder: string): FakeTime {
  const file = join(folder, 'clock-offset');
  const setAhead = (seconds: number): void =>
    writeFileSync(file, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`);
  setAhead(0);
  return {
    environment: {
      LD_PRELOAD: library ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      // The name of the variable differs between releases.
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    setAhead,
  };
}
