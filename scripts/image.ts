import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../src/platform/clock.ts';
import { packageRoot } from '../src/platform/package.ts';
import { type BuildStage, parseDockerfile, readAllowed, wordsOf } from './image/dockerfile.ts';
import { StageRoot } from './image/stage-root.ts';

/**
 * `npm run image`: follows the lines of the Dockerfile without a container engine, and runs the result as one would: as its user,
 * with a read-only root file system and a network of its own. Needs Linux, root, `unshare` and `ip`; this machine, which should
 * run Debian, takes the place of the base image. Exit 0: the health check passed, all exposed ports are reachable from outside
 * the container, and the process ended when it was asked to.
 */
const isInside = process.argv[2] === 'inside';
const healthyWithinMs = 120_000;
const print = (line: string): void => console.log(line);

if (isInside) process.exitCode = await build(process.argv[3] ?? '');
else process.exitCode = enter();

/** Starts this program again in a mount namespace, so that nothing stays mounted whatever becomes of it. */
function enter(): number {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    print('skipped: building without a container engine needs Linux and root');
    return 0;
  }
  const folder = mkdtempSync(join(tmpdir(), 'reeve-image-'));
  try {
    const again = [process.execPath, fileURLToPath(import.meta.url), 'inside', folder];
    const { status } = spawnSync('unshare', ['--mount', '--propagation', 'private', ...again], {
      stdio: 'inherit',
    });
    return status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function build(folder: string): Promise<number> {
  const read = (name: string): string => readFileSync(join(packageRoot, name), 'utf8');
  const stages = parseDockerfile(read('Dockerfile'));
  const allowed = readAllowed(read('.dockerignore'));
  const made = new Map<string, StageRoot>();
  let root: StageRoot | undefined;
  for (const [at, stage] of stages.entries()) {
    print(`FROM ${stage.base}: this machine with Node ${process.version}`);
    root = new StageRoot(join(folder, String(at)), stage, print);
    for (const instruction of stage.instructions) {
      print(`${instruction.keyword} ${instruction.text}`);
      root.follow(instruction, { stages: made, allowed });
    }
    if (stage.name !== undefined) made.set(stage.name, root);
  }
  const last = stages.at(-1);
  if (root === undefined || last === undefined) throw new Error('the Dockerfile has no stage');
  print(`built: ${(root.addedBytes() / 2 ** 20).toFixed(1)} MiB beside the base image`);
  return run(root, last);
}

/** Runs the image until its health check has passed, and stops it. */
async function run(root: StageRoot, { instructions }: BuildStage): Promise<number> {
  const find = (keyword: string) => instructions.filter((one) => one.keyword === keyword);
  const [command, health, stop] = ['CMD', 'HEALTHCHECK', 'STOPSIGNAL'].map((keyword) => find(keyword).at(-1));
  if (command === undefined || health === undefined || stop === undefined)
    throw new Error('the Dockerfile needs CMD, HEALTHCHECK and STOPSIGNAL');
  root.seal(find('VOLUME').flatMap(({ text }) => text.split(/\s+/)));
  const { words, env } = root.command(wordsOf(command));
  const network = ['--net', '/bin/sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
  const startedMs = systemClock.monotonicMs();
  const child = spawn('unshare', [...network, ...words], { env, stdio: ['ignore', 'inherit', 'inherit'] });
  const ended = once(child, 'exit');
  let exit: { status: number | null } | undefined;
  void ended.then(([status]) => {
    exit = { status };
  });
  const check = root.command(wordsOf({ ...health, text: health.text.replace(/^.*?\bCMD\s+/, '') }));
  const isHealthy = (): boolean => {
    const inNetwork = [`--net=/proc/${child.pid}/ns/net`, ...check.words];
    return spawnSync('nsenter', inNetwork, { env: check.env, stdio: 'ignore' }).status === 0;
  };
  while (!isHealthy()) {
    if (exit !== undefined) return fail(`the container ended with status ${exit.status}`);
    if (systemClock.monotonicMs() - startedMs > healthyWithinMs) {
      child.kill('SIGKILL');
      return fail(`the health check did not pass within ${healthyWithinMs / 1_000} s`);
    }
    await systemClock.sleep(250);
  }
  print(`healthy after ${Math.round(systemClock.monotonicMs() - startedMs)} ms`);
  const ports = find('EXPOSE').flatMap(({ text }) => text.split(/\s+/).map(Number));
  const open = await openPorts(child.pid, ports);
  print(`reachable from outside: ${open.join(', ')} of ${ports.join(', ')}`);
  child.kill(stop.text as NodeJS.Signals);
  const [status] = await ended;
  print(`ended with status ${status} after ${stop.text}`);
  return status === 0 && open.length === ports.length ? 0 : 1;
}

/** Returns which ports accept connections on all interfaces; the demo opens the last of them after the health check passes. */
async function openPorts(pid: number | undefined, ports: readonly number[]): Promise<readonly number[]> {
  const startedMs = systemClock.monotonicMs();
  for (;;) {
    const table = execFileSync('cat', [`/proc/${pid}/net/tcp`], { encoding: 'utf8' });
    const open = ports.filter((port) =>
      table.includes(` 00000000:${port.toString(16).toUpperCase().padStart(4, '0')} `),
    );
    if (open.length === ports.length || systemClock.monotonicMs() - startedMs > 30_000) return open;
    await systemClock.sleep(250);
  }
}

function fail(why: string): number {
  print(`failed: ${why}`);
  return 1;
}
