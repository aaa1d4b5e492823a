import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { buildSync } from 'esbuild';
import { bundling, requireBanner, root } from '../../scripts/build/bundling.ts';

const builds = join(root, 'node_modules/.cache/reeve-tests');

let built: string | undefined;

/**
 * Returns the path of the command line, built from the sources as they are now, as the package is: a process of it starts in
 * half of the time that a process of the sources takes. A build has the name of what is in it, so that no test runs an older one.
 */
export function builtProgram(): string {
  built ??= join(build(), 'cli.js');
  return built;
}

function build(): string {
  const { plugins: _plugins, ...options } = bundling;
  const { outputFiles } = buildSync({
    ...options,
    entryPoints: ['src/cli.ts'],
    splitting: true,
    chunkNames: 'chunks/[hash]',
    outdir: builds,
    target: 'node22',
    legalComments: 'none',
    banner: { js: requireBanner },
    write: false,
  });
  const hash = createHash('sha256');
  for (const { path, hash: content } of outputFiles) hash.update(`${path} ${content}\n`);
  const folder = join(builds, hash.digest('hex').slice(0, 16));
  if (existsSync(folder)) return folder;
  // Complete, or not there: another worker may build the same.
  const unfinished = `${folder}-${process.pid}`;
  for (const { path, contents } of outputFiles) {
    const file = join(unfinished, relative(builds, path));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, contents);
  }
  try {
    renameSync(unfinished, folder);
  } catch {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}
