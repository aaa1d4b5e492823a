import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf, ReeveError } from '../../../platform/errors.ts';

/**
 * Returns what a file of this installation holds, and makes it (mode 0600) where there is none. Of two processes that start
 * at once the second takes what the first made. Throws `settings` where the file cannot be read or written.
 */
export async function loadGenerated(path: string, make: () => Uint8Array | string): Promise<Buffer> {
  const made = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    // What is there is read, and nothing written: the disk may be full.
    const held = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    if (held) return held;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(made, make(), { mode: 0o600, flag: 'wx' });
    await link(made, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    return await readFile(path);
  } catch (cause) {
    throw new ReeveError('settings', `REEVE_DATA: ${path} cannot be used: ${messageOf(cause)}`, { cause });
  } finally {
    await rm(made, { force: true });
  }
}

/** Replaces such a file in one step, and returns what it holds now. Throws `settings` if it cannot be written. */
export async function replaceGenerated(path: string, make: () => Uint8Array | string): Promise<Buffer> {
  const made = `${path}.${randomBytes(6).toString('hex')}`;
  const value = Buffer.from(make());
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(made, value, { mode: 0o600, flag: 'wx' });
    await rename(made, path);
    return value;
  } catch (cause) {
    throw new ReeveError('settings', `REEVE_DATA: ${path} cannot be used: ${messageOf(cause)}`, { cause });
  } finally {
    await rm(made, { force: true });
  }
}
