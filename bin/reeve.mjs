#!/usr/bin/env node
// Starts the command line on Node 22.18 or later. A checkout falls back to the Node of the `node` package, a development
// dependency. Node 12 has to be able to read this file, so that it can print what to do: no `node:` imports, no `await` outside of
// functions, no `?.` and no `??`.
// biome-ignore lint/style/useNodejsImportProtocol: Node 12 has no such protocol.
import { existsSync, readFileSync } from 'fs';
// biome-ignore lint/style/useNodejsImportProtocol: Node 12 has no such protocol.
import nodeModule from 'module';
// biome-ignore lint/style/useNodejsImportProtocol: Node 12 has no such protocol.
import { homedir } from 'os';
// biome-ignore lint/style/useNodejsImportProtocol: Node 12 has no such protocol.
import { join } from 'path';
// biome-ignore lint/style/useNodejsImportProtocol: Node 12 has no such protocol.
import { fileURLToPath } from 'url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
// A checkout has sources, and the package only their build, because Node strips no types below node_modules.
const isCheckout = existsSync(here('../tsconfig.json'));
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

if (isRecent && (isStarted || !isLong)) run();
else if (!isStarted && (isRecent || existsSync(pinned))) start(isRecent ? process.execPath : pinned);
else {
  // Printed to be copied: words that a shell would change are left out.
  const same = words.every((word) => /^[\w@%+=:,./#-]+$/.test(word)) ? words.join(' ') : '…';
  const remedy = isCheckout
    ? 'run npm ci in this checkout, which installs a newer one beside it'
    : `to run this with a newer one: npx -p node@24 -p @reeve-forge/reeve reeve ${same}`.trim();
  process.stderr.write(`reeve needs Node 22.18 or later; this is ${process.versions.node}: ${remedy}\n`);
  process.exitCode = 2;
}

async function run() {
  keepCompiledCode();
  // A checkout runs its sources without a build, and never an old one: if they are missing, the import fails.
  const { main } = await import(isCheckout ? '../src/cli/cli.ts' : '../dist/package/cli.js');
  await main();
}

/**
 * Keeps compiled code from one start to the next: `reeve serve` accepts deliveries in five sixths of the time (medians of seven starts
 * each on a busy machine, in turn: 2.34 s instead of 2.84 s; 0.70 s of processor time instead of 0.80 s). Not in the folder for temporary
 * files, which is Node's default: another user could put code there. Where nothing can be written, nothing is kept.
 */
function keepCompiledCode() {
  if (process.env.NODE_COMPILE_CACHE || process.env.NODE_DISABLE_COMPILE_CACHE) return;
  if (nodeModule.enableCompileCache)
    nodeModule.enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'reeve'));
}

async function start(node) {
  const memory = isLong ? JSON.parse(readFileSync(here('./memory.json'), 'utf8')) : { nodeFlags: [] };
  const nameOf = (flag) => flag.split('=')[0].replace(/_/g, '-');
  const said = [...process.execArgv, ...(process.env.NODE_OPTIONS || '').split(/\s+/)].map(nameOf);
  // A forge answers with whole files and differences, of which many may be asked for at once.
  const wanted = memory.nodeFlags.filter((flag) => !isForge || nameOf(flag) !== '--max-old-space-size');
  const flags = wanted.filter((flag) => !said.includes(nameOf(flag)));
  const args = [...process.execArgv, ...flags, here('./reeve.mjs'), ...words];
  const env = { ...memory.environment, ...process.env, REEVE_STARTED: '1' };
  // In the place of this process where that can be: no second one stays beside it.
  if (process.execve && process.platform !== 'win32') process.execve(node, [node, ...args], env);
  // biome-ignore lint/style/useNodejsImportProtocol: Node 12 has no such protocol.
  const { spawn } = await import('child_process');
  const child = spawn(node, args, { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code === null ? (signal === null ? 1 : 130) : code));
}
