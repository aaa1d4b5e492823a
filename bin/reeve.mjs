#!/usr/bin/env node
// Starts the command line on a Node that runs it: 22.18 or later. In a checkout the `node` package, a development
// dependency, brings one wherever npm does.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const [major, minor] = process.versions.node.split('.').map(Number);
const isRecent = major > 22 || (major === 22 && minor >= 18);
const pinned = here('../node_modules/node/bin/node');

// What runs for weeks gets a small heap; the flags can only be given to a process of its own.
const flags = process.argv[2] === 'serve' ? ['--max-semi-space-size=4', '--max-old-space-size=256'] : [];
const hasFlags = flags.every((flag) => process.execArgv.includes(flag));

if (isRecent && hasFlags) {
  // A checkout runs its sources; the installed package its bundle, since Node strips no types below node_modules.
  const isInstalled = here('.').includes('/node_modules/');
  const { main } = await import(isInstalled ? '../dist/cli/cli.mjs' : '../src/cli.ts');
  await main();
} else if (isRecent || existsSync(pinned)) {
  const node = isRecent ? process.execPath : pinned;
  const child = spawn(node, [...flags, here('./reeve.mjs'), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 130)));
} else {
  process.stderr.write(`reeve needs Node 22.18 or later; this is ${process.versions.node}.\n`);
  process.exit(2);
}
