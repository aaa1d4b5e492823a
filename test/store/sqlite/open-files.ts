import { existsSync, readdirSync, readlinkSync } from 'node:fs';

/**
 * Returns the paths in a folder that this process has open, sorted, or undefined if the system does not reveal them.
 */
export function openFilesIn(folder: string): readonly string[] | undefined {
  if (!existsSync('/proc/self/fd')) return undefined;
  return readdirSync('/proc/self/fd')
    .map(pathOf)
    .filter((path) => path.startsWith(folder))
    .toSorted();
}

function pathOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    // This is the descriptor that read the folder; it is closed by now.
    return '';
  }
}
