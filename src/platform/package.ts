import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of this package: the checkout, or the installation. Sources and bundle are at different depths below it. */
export const packageRoot: string = findRoot(dirname(fileURLToPath(import.meta.url)));

function findRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) || dirname(folder) === folder
    ? folder
    : findRoot(dirname(folder));
}

export function packageVersion(): string {
  const about: unknown = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  return typeof about === 'object' && about !== null && 'version' in about
    ? String(about.version)
    : 'unknown';
}
