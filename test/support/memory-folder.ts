import { accessSync, constants, rmSync, statfsSync, writeFileSync } from 'node:fs';

/**
 * Makes a folder in memory the one for temporary files, unless TMPDIR names another one. Every commit of a database and of git
 * waits for the disk: some milliseconds each, thousands of times.
 */
export function useMemoryFolder(): void {
  process.env.TMPDIR ??= memoryFolder() ?? '';
  if (process.env.TMPDIR === '') delete process.env.TMPDIR;
}

/** Returns a folder in memory, where there is one with room whose programs may run. */
function memoryFolder(): string | undefined {
  const folder = '/dev/shm';
  const program = `${folder}/reeve-test-${process.pid}`;
  try {
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < 2 * 2 ** 30) return undefined;
    writeFileSync(program, '', { mode: 0o700 });
    accessSync(program, constants.X_OK);
    return folder;
  } catch {
    return undefined;
  } finally {
    rmSync(program, { force: true });
  }
}
