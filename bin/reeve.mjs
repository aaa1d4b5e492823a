#!/usr/bin/env node
// Starts the command line on a Node that runs it: 22.18 or later. In a checkout the `node` package, a development
// dependency, brings one wherever npm does.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const [major, minor] = process.versions.node.split('.').map(Number);
const isRecent = major > 22 || (major === 22 && minor >= 18);
const pinned = here('../node_modules/node/bin/node');

// What runs for long holds little memory: a small heap, and a C library that gives back what is freed and keeps no pool for
// every thread (glibc; others do not read it). Both can only be given to a process when it starts; what a person set stays.
const isLong = ['serve', 'sweep'].includes(process.argv[2]);
const memory = JSON.parse(readFileSync(here('./memory.json'), 'utf8'));
const flags = isLong ? memory.nodeFlags : [];
const environment = isLong ? { ...memory.environment, ...process.env } : process.env;
const isSet =
  flags.every((flag) => process.execArgv.includes(flag)) &&
  Object.keys(environment).every((name) => name in process.env);

if (isRecent && isSet) {
  // A checkout runs its sources; the installed package its bundle, since Node strips no types below node_modules.
  const isInstalled = here('.').includes('/node_modules/');
  const { main } = await import(isInstalled ? '../dist/cli/cli.mjs' : '../src/cli.ts');
  await main();
} else if (isRecent || existsSync(pinned)) {
  start(isRecent ? process.execPath : pinned, [...flags, here('./reeve.mjs'), ...process.argv.slice(2)]);
} else {
  process.stderr.write(`reeve needs Node 22.18 or later; this is ${process.versions.node}.\n`);
  process.exit(2);
}

function start(node, args) {
  // In the place of this process where that can be: no second one stays beside it.
  if (process.execve && process.platform !== 'win32') {
    process.execve(node, [node, ...args], environment);
  }
  const child = spawn(node, args, { stdio: 'inherit', env: environment });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 130)));
}
