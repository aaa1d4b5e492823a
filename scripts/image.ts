import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../src/platform/clock.ts';
import { packageRoot } from '../src/platform/package.ts';
import {
  type BuildStage,
  type Instruction,
  packagesOf,
  pairsOf,
  parseDockerfile,
  readAllowed,
  wordsOf,
} from './image/dockerfile.ts';

/**
 * `npm run image`: executes the Dockerfile without a container engine, and runs the result like an engine would: as the
 * image's user, with a read-only root file system and a separate network. Needs Linux, root, `unshare` and `ip`; the
 * file system of this machine, which should run Debian, replaces the base image. Exit 0: the health check passed, all
 * exposed ports are reachable from outside the container, and the process ended on request.
 */
const isInside = process.argv[2] === 'inside';
const healthyWithinMs = 120_000;
const print = (line: string): void => console.log(line);

/** Starts this program again in a mount namespace, so that nothing stays mounted, even after a failure. */
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

/**
 * Returns which ports accept connections on all interfaces; the demo opens its last port only after the health check
 * has passed.
 */
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

/** Variables through which package managers find a registry or a proxy. */
const passed = /^(npm_config_(registry|cafile|strict_ssl)|NODE_EXTRA_CA_CERTS|(https?|no)_proxy)$/i;

/** File system of a build stage. It is an overlay on the file system of this machine, which replaces the base image. */
class StageRoot {
  readonly path: string;
  readonly #upper: string;
  readonly #print: (line: string) => void;
  #user = 'root';
  #folder = '/';
  #variables: Record<string, string> = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ...Object.fromEntries(
      Object.entries(process.env).flatMap(([name, value]) =>
        passed.test(name) && value !== undefined ? [[name, value] as const] : [],
      ),
    ),
  };

  /**
   * Mounts the file system in a folder. The caller must have a separate mount namespace; the mount ends with that
   * namespace.
   */
  constructor(folder: string, { base }: BuildStage, print: (line: string) => void) {
    const [upper, work, path] = ['upper', 'work', 'root'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    for (const each of [upper, work, path]) mkdirSync(each, { recursive: true });
    this.path = path;
    this.#upper = upper;
    this.#print = print;
    mount('-t', 'overlay', 'overlay', '-o', `lowerdir=/,upperdir=${upper},workdir=${work}`, path);
    mount('--rbind', '/dev', join(path, 'dev'));
    mount('-t', 'proc', 'proc', join(path, 'proc'));
    // Only COPY makes files of the checkout available to an instruction.
    mount('-t', 'tmpfs', 'tmpfs', join(path, 'tmp'));
    if (!packageRoot.startsWith('/tmp/')) mount('-t', 'tmpfs', 'tmpfs', join(path, packageRoot));
    const [, major] = /^node:(\d+)/.exec(base) ?? [];
    if (major !== process.versions.node.split('.')[0])
      throw new Error(`the base image ${base} has another Node than this program, ${process.version}`);
    const node = join(path, 'usr/local/bin/node');
    writeFileSync(node, '', { mode: 0o755 });
    mount('--bind', process.execPath, node);
    // Creates the account that the official image has.
    if (!this.#succeeds('id node')) this.#inRoot('useradd --create-home --shell /bin/bash node');
  }

  /** Executes an instruction of the Dockerfile. `stages`: the earlier stages, by name. */
  follow(
    instruction: Instruction,
    { stages, allowed }: { stages: ReadonlyMap<string, StageRoot>; allowed: ReadonlySet<string> },
  ): void {
    const { keyword, text } = instruction;
    if (keyword === 'WORKDIR') {
      this.#folder = resolve(this.#folder, text);
      mkdirSync(join(this.path, this.#folder), { recursive: true });
    }
    if (keyword === 'USER') this.#user = text;
    if (keyword === 'ENV') Object.assign(this.#variables, pairsOf(instruction));
    if (keyword === 'COPY') this.#copy(instruction, stages, allowed);
    if (keyword === 'RUN') this.#run(instruction);
  }

  /** Returns the size of the files that the stage adds to its base image. */
  addedBytes(): number {
    const text = execFileSync('du', ['--bytes', '--summarize', this.#upper], { encoding: 'utf8' });
    return Number(text.split('\t')[0]);
  }

  /** Mounts volumes, and makes everything else read-only. */
  seal(volumes: readonly string[]): void {
    for (const volume of volumes) {
      const path = join(this.path, volume);
      const { uid, gid, mode } = statSync(path);
      const options = `uid=${uid},gid=${gid},mode=${(mode & 0o7777).toString(8)}`;
      mount('-t', 'tmpfs', '-o', options, 'tmpfs', path);
    }
    mount('-o', 'remount,bind,ro', this.path);
  }

  /**
   * Returns the command that runs a program in the image, with the user and the folder of the image, and the variables
   * of the process.
   */
  command(words: readonly string[]): {
    readonly words: readonly string[];
    readonly env: Record<string, string>;
  } {
    const start = ['chroot', `--userspec=${this.#user}:${this.#user}`, this.path];
    const inFolder = ['/bin/sh', '-c', 'cd "$0" && exec "$@"', this.#folder];
    const home = this.#user === 'root' ? '/root' : `/home/${this.#user}`;
    return { words: [...start, ...inFolder, ...words], env: { ...this.#variables, HOME: home } };
  }

  #copy(
    { text, line }: Instruction,
    stages: ReadonlyMap<string, StageRoot>,
    allowed: ReadonlySet<string>,
  ): void {
    const words = text.split(/\s+/);
    const [, from] = /^--from=(.+)$/.exec(words[0] ?? '') ?? [];
    const source = from === undefined ? undefined : stages.get(from);
    if (from !== undefined && source === undefined)
      throw new Error(`Dockerfile:${line}: there is no stage ${from}`);
    const paths = from === undefined ? words : words.slice(1);
    const target = resolve(this.#folder, paths.at(-1) ?? '');
    for (const path of paths.slice(0, -1)) {
      if (source === undefined && !allowed.has(path.split('/')[0] ?? ''))
        throw new Error(`Dockerfile:${line}: .dockerignore keeps ${path} out of the build`);
      const origin = join(source?.path ?? packageRoot, path);
      const isInto = !statSync(origin).isDirectory() && (paths.length > 2 || paths.at(-1)?.endsWith('/'));
      cpSync(origin, join(this.path, isInto ? join(target, basename(path)) : target), { recursive: true });
    }
  }

  #run(instruction: Instruction): void {
    const packages = packagesOf(instruction);
    if (packages.length > 0 && this.#succeeds(`dpkg-query --status ${packages.join(' ')}`)) {
      this.#print(`  installed on this machine already: ${packages.join(', ')}`);
      return;
    }
    this.#inRoot(instruction.text);
  }

  #inRoot(line: string): void {
    const { words, env } = this.command(['/bin/sh', '-c', line]);
    const [program = '', ...args] = words;
    execFileSync(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  }

  #succeeds(line: string): boolean {
    const { words, env } = this.command(['/bin/sh', '-c', line]);
    const [program = '', ...args] = words;
    try {
      execFileSync(program, args, { env, stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  }
}

function mount(...args: readonly string[]): void {
  execFileSync('mount', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

if (isInside) process.exitCode = await build(process.argv[3] ?? '');
else process.exitCode = enter();
