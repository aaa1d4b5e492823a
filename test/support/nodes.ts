import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/package.ts';

const execute = promisify(execFile);

/**
 * Returns the path of a Node of that major version: this one, or the registry's build of it, fetched once into the
 * cache of this checkout. Undefined where the registry cannot be asked or has none for this machine.
 */
export async function nodeOf(major: number): Promise<string | undefined> {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(packageRoot, 'node_modules/.cache/nodes', String(major));
  const path = join(folder, 'node_modules', name, 'bin', 'node');
  if (existsSync(path)) return path;
  try {
    await execute(
      'npm',
      ['install', '--silent', '--no-save', '--ignore-scripts', '--prefix', folder, `${name}@${major}`],
      {
        timeout: 120_000,
      },
    );
  } catch {
    return undefined; // Without the registry the other versions are not tested; the test's name says which ran.
  }
  return existsSync(path) ? path : undefined;
}
