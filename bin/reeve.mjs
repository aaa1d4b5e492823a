#!/usr/bin/env node
// Starts the command line on Node 22.18 or later. A checkout falls back to the Node of the `node` package, a development
// dependency.
import { existsSync, readFileSync } from 'node:fs';
import nodeModule from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const [major, minor] = process.versions.node.split('.').map(Number);
const isRecent = major > 22 || (major === 22 && minor >= 18);
const pinned = here('../node_modules/node/bin/node');

// What runs for long holds little memory: a small heap, and a C library that gives back what is freed and keeps no pool for
// every thread (glibc; others do not read it). Both can only be given to a process when it starts; what a person set stays.
const words = process.argv.slice(2);
const isForge = words.includes('forge');
const isLong = isForge || words.some((word) => word === 'serve' || word === 'sweep');
const isStarted = process.env.REEVE_STARTED === '1';
delete process.env.REEVE_STARTED;

if (isRecent && (isStarted || !isLong)) {
  // A checkout runs its sources without a build, and never an old one: if they are missing, the import fails. The package has
  // none, since Node strips no types below node_modules; its build has no tsconfig.json.
  const isCheckout = existsSync(here('../tsconfig.json'));
  keepCompiledCode();
  const { main } = await import(isCheckout ? '../src/cli/cli.ts' : '../dist/package/cli.js');
  await main();
} else if (!isStarted && (isRecent || existsSync(pinned))) {
  await start(isRecent ? process.execPath : pinned);
} else {
  process.stderr.write(
    `reeve needs Node 22.18 or later; this is ${process.versions.node}. https://nodejs.org/en/download has newer ones, and docs/deploy.md a container.\n`,
  );
  process.exit(2);
}

/**
 * Keeps compiled code from one start to the next: `reeve serve` accepts deliveries in five sixths of the time (medians of seven starts
 * each on a busy machine, in turn: 2.34 s instead of 2.84 s; 0.70 s of processor time instead of 0.80 s). Not in the folder for temporary
 * files, which is Node's default: another user could put code there. Where nothing can be written, nothing is kept.
 */
function keepCompiledCode() {
  if (process.env.NODE_COMPILE_CACHE || process.env.NODE_DISABLE_COMPILE_CACHE) return;
  nodeModule.enableCompileCache?.(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'reeve'));
}

async function start(node) {
  const memory = isLong ? JSON.parse(readFileSync(here('./memory.json'), 'utf8')) : { nodeFlags: [] };
  const nameOf = (flag) => flag.split('=')[0].replaceAll('_', '-');
  const said = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)].map(nameOf);
  // A forge answers with whole files and differences, of which many may be asked for at once.
  const wanted = memory.nodeFlags.filter((flag) => !isForge || nameOf(flag) !== '--max-old-space-size');
  const flags = wanted.filter((flag) => !said.includes(nameOf(flag)));
  const args = [...process.execArgv, ...flags, here('./reeve.mjs'), ...words];
  const env = { ...memory.environment, ...process.env, REEVE_STARTED: '1' };
  // In the place of this process where that can be: no second one stays beside it.
  if (process.execve && process.platform !== 'win32') process.execve(node, [node, ...args], env);
  const { spawn } = await import('node:child_process');
  const child = spawn(node, args, { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 130)));
}
