import { accessSync, constants, rmSync, statfsSync, writeFileSync } from 'node:fs';

/**
 * Uses a folder in memory for temporary files, unless TMPDIR names another folder. On a disk, every commit of a
 * database or of git takes some milliseconds, and tests make thousands of commits.
 */
export function useMemoryFolder(): void {
  process.env.TMPDIR ??= memoryFolder() ?? '';
  if (process.env.TMPDIR === '') delete process.env.TMPDIR;
}

/** Returns a folder in memory that has enough room and permits running programs, or undefined if there is none. */
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
