import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { packageRoot } from '../../src/platform/package.ts';
import { type BuildStage, type Instruction, packagesOf, pairsOf } from './dockerfile.ts';

/** Variables by which package managers find a registry or a proxy. */
const passed = /^(npm_config_(registry|cafile|strict_ssl)|NODE_EXTRA_CA_CERTS|(https?|no)_proxy)$/i;

/** The file system that a stage of a build makes, over that of this machine in the place of the base image. */
export class StageRoot {
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

  /** Mounts it in a folder. The caller has a mount namespace of its own, with which it goes. */
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
    // What a line reads of the checkout comes from COPY alone.
    mount('-t', 'tmpfs', 'tmpfs', join(path, 'tmp'));
    if (!packageRoot.startsWith('/tmp/')) mount('-t', 'tmpfs', 'tmpfs', join(path, packageRoot));
    const [, major] = /^node:(\d+)/.exec(base) ?? [];
    if (major !== process.versions.node.split('.')[0])
      throw new Error(`the base image ${base} has another Node than this program, ${process.version}`);
    const node = join(path, 'usr/local/bin/node');
    writeFileSync(node, '', { mode: 0o755 });
    mount('--bind', process.execPath, node);
    // The official image has this account.
    if (!this.#succeeds('id node')) this.#inRoot('useradd --create-home --shell /bin/bash node');
  }

  /** Does what a line of the Dockerfile says. `stages` are the earlier ones, by name. */
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

  /** Bytes of the files that the stage adds to its base image. */
  addedBytes(): number {
    const text = execFileSync('du', ['--bytes', '--summarize', this.#upper], { encoding: 'utf8' });
    return Number(text.split('\t')[0]);
  }

  /** Mounts volumes, and lets everything else be read only. */
  seal(volumes: readonly string[]): void {
    for (const volume of volumes) {
      const path = join(this.path, volume);
      const { uid, gid, mode } = statSync(path);
      const options = `uid=${uid},gid=${gid},mode=${(mode & 0o7777).toString(8)}`;
      mount('-t', 'tmpfs', '-o', options, 'tmpfs', path);
    }
    mount('-o', 'remount,bind,ro', this.path);
  }

  /** The words that run a program in it, as its user and in its folder, and the variables of the process. */
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
