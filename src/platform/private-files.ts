import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';

/**
 * Creates a folder that only its owner can access (mode 0700). Narrows the mode of an existing folder if it is empty or
 * contains the file `holds`, which identifies it as ours; any other folder (a home, a shared folder) keeps its mode.
 */
export function createPrivateFolder(path: string, options: { readonly holds?: string } = {}): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { mode } = statSync(path);
  const isShared = (mode & 0o1000) !== 0;
  if (isShared || (mode & 0o077) === 0) return;
  const names = readdirSync(path);
  const isOurs = names.length === 0 || (options.holds !== undefined && names.includes(options.holds));
  if (isOurs) narrow(path, 0o700);
}

/** Creates an empty file with mode 0600, or narrows the mode of an existing one. */
export function createPrivateFile(path: string): void {
  // Never open and close an existing database file: closing any descriptor drops this process's locks on it (POSIX).
  if (existsSync(path)) narrow(path, 0o600);
  else closeSync(openSync(path, 'a', 0o600));
}

function narrow(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    // A mounted folder may belong to another account, which decides its mode; `reeve doctor` reports it.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) throw error;
  }
}
