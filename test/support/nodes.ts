import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/platform/package.ts';

const execute = promisify(execFile);

/**
 * Returns the path of the Node program of a version, such as `22` or `22.18.0`. This is the program of this process if
 * its version matches; otherwise, it is the registry's build, downloaded once into the cache of this checkout. Returns
 * undefined if the registry cannot be reached or has no build for this machine.
 */
export async function nodeOf(version: number | string): Promise<string | undefined> {
  if (`${process.versions.node}.`.startsWith(`${version}.`)) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(packageRoot, 'node_modules/.cache/nodes', String(version));
  const path = join(folder, 'node_modules', name, 'bin', 'node');
  if (existsSync(path)) return path;
  const args = ['install', '--silent', '--no-save', '--ignore-scripts', '--prefix', folder];
  try {
    await execute('npm', [...args, `${name}@${version}`], { timeout: 600_000 });
  } catch {
    return undefined; // The test that asked is skipped with the reason.
  }
  return existsSync(path) ? path : undefined;
}
