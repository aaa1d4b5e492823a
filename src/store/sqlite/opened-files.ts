import { statSync } from 'node:fs';

type Opened = { readonly path: string; readonly device: number; readonly inode: number };

/**
 * Remembers which files are at these paths now. The returned function names the first path that leads to another file, or to
 * none: what is written to a file that was removed is gone with the process, although every write and sync succeeds.
 */
export function watchOpenedFiles(paths: readonly string[]): () => string | undefined {
  const opened: readonly Opened[] = paths.map((path) => {
    const { dev, ino } = statSync(path);
    return { path, device: dev, inode: ino };
  });
  return () => opened.find(isGone)?.path;
}

function isGone({ path, device, inode }: Opened): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined || found.ino !== inode || found.dev !== device;
}
