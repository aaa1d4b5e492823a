import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunProgram } from './run-program.ts';

/** The file that npm publishes. */
export type Tarball = { readonly path: string; readonly sha256: string; readonly sha512: string };

/**
 * Builds and packs the package twice and puts the file into a folder. Throws where the two differ: then no one could check by a
 * build of their own that the file comes from the sources.
 */
export async function packTwice(folder: string, run: RunProgram): Promise<Tarball> {
  await mkdir(folder, { recursive: true });
  const scratch = await mkdtemp(join(folder, '.pack-'));
  try {
    const [first, second] = [
      await packInto(join(scratch, '1'), run),
      await packInto(join(scratch, '2'), run),
    ];
    if (first.sha256 !== second.sha256)
      throw new Error(`two builds differ: ${first.sha256} and ${second.sha256}`);
    const path = join(folder, first.name);
    await rename(first.path, path);
    return { path, sha256: first.sha256, sha512: first.sha512 };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function packInto(folder: string, run: RunProgram): Promise<Tarball & { readonly name: string }> {
  await mkdir(folder);
  const printed = await run('npm', ['pack', '--json', '--pack-destination', folder]);
  // What the build prints comes before the JSON.
  const [{ filename }] = JSON.parse(printed.slice(printed.indexOf('['))) as [{ filename: string }];
  const path = join(folder, filename);
  const bytes = await readFile(path);
  const digest = (algorithm: string): string => createHash(algorithm).update(bytes).digest('hex');
  return { name: filename, path, sha256: digest('sha256'), sha512: digest('sha512') };
}
