import childProcess, { type ChildProcess, type SpawnOptions } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';

// Starts git commands from a shell instead of from the test worker. Node forks: the kernel copies the page tables of the
// worker, which holds some 400 MB, and each page that the worker writes afterwards is a fault, about 15 ms of processor time
// per command. A shell of 1 MB forks in a fraction of a millisecond. The command, its arguments, environment, folder, input
// and exit code are the same; the output arrives whole, after the end of the command.

const { spawn } = childProcess;

/** Commands with a conversation on their pipes, which the worker itself starts. */
const conversing = ['cat-file', 'upload-pack', 'receive-pack', 'http-backend'];

const installed = Symbol.for('reeve.git-starter');
if (!Object.hasOwn(childProcess, installed)) {
  Object.assign(childProcess, {
    [installed]: true,
    spawn: (command: string, args: readonly string[] = [], options: SpawnOptions = {}) =>
      isShortGit(command, args, options) ? startGit(args, options) : spawn(command, args, options),
  });
  syncBuiltinESMExports();
}

function isShortGit(command: string, args: readonly string[], options: SpawnOptions): boolean {
  const { stdio = 'pipe', cwd: _, env, ...others } = options;
  const [input, ...outputs] = Array.isArray(stdio) ? stdio : [stdio, stdio, stdio];
  return (
    command === 'git' &&
    !conversing.some((name) => args.includes(name)) &&
    (input === 'pipe' || input === 'ignore') &&
    outputs.every((output) => output === 'pipe') &&
    env !== undefined &&
    Object.keys(others).length === 0
  );
}

function startGit(args: readonly string[], { cwd = '/', env = {}, stdio }: SpawnOptions): ChildProcess {
  shell ??= openShell();
  const { nextFiles, run } = shell;
  const files = nextFiles();
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let isKilled = false;
  const child = Object.assign(new EventEmitter(), {
    stdout,
    stderr,
    stdin: null as Writable | null,
    pid: undefined as number | undefined,
    kill() {
      isKilled = true;
      if (child.pid !== undefined) process.kill(child.pid, 'SIGKILL');
      return true;
    },
  });
  const start = (input: Buffer | undefined): void => {
    if (input) writeFileSync(`${files}.in`, input);
    run(scriptOf(args, { cwd: String(cwd), env, input: input ? `${files}.in` : '/dev/null', files }), {
      files,
      started(pid) {
        child.pid = pid;
        if (isKilled) child.kill();
      },
      async ended(status) {
        child.pid = undefined;
        stdout.end(readFileSync(`${files}.out`));
        stderr.end(readFileSync(`${files}.err`));
        for (const name of ['in', 'out', 'err']) rmSync(`${files}.${name}`, { force: true });
        if (status === notFound) {
          child.emit('error', Object.assign(new Error('spawn git ENOENT'), { code: 'ENOENT' }));
          return;
        }
        const code = isKilled ? null : status;
        child.emit('exit', code);
        await Promise.all([stdout, stderr].map(drained));
        child.emit('close', code);
      },
    });
  };
  if (Array.isArray(stdio) && stdio[0] === 'ignore') start(undefined);
  else child.stdin = collect(start);
  // As much of a ChildProcess as is used of git commands.
  return child as unknown as ChildProcess;
}

/** Returns a stream that hands over its bytes once it has ended. */
function collect(use: (bytes: Buffer) => void): Writable {
  const pieces: Buffer[] = [];
  return new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece);
      done();
    },
    final(done) {
      use(Buffer.concat(pieces));
      done();
    },
  });
}

async function drained(output: PassThrough): Promise<void> {
  // Output without a reader is dropped, as Node does.
  if (output.readableFlowing === null) output.resume();
  if (!output.readableEnded) await once(output, 'end');
}

/** The status of a shell for a command or folder that is not there. */
const notFound = 127;

function scriptOf(
  args: readonly string[],
  { cwd, env, input, files }: { cwd: string; env: NodeJS.ProcessEnv; input: string; files: string },
): string {
  const variables = Object.entries(env).map(([name, value = '']) => `${name}=${quote(value)}`);
  const command = [...variables, 'git', ...args.map(quote)].join(' ');
  return `cd ${quote(cwd)} || exit ${notFound}\n${command} <${input} >${files}.out 2>${files}.err`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

type Command = {
  /** Path of its files; `.in`, `.out` and `.err` are appended. */
  readonly files: string;
  started(pid: number): void;
  ended(status: number): void;
};
type Shell = { nextFiles(): string; run(script: string, command: Command): void };
let shell: Shell | undefined;

/** Starts the shell of this worker. It ends with the worker, which holds the other end of its input. */
function openShell(): Shell {
  const folder = mkdtempSync(join(tmpdir(), 'git-starter-'));
  const commands = new Map<string, Command>();
  const child = spawn('/bin/sh', {
    cwd: folder,
    env: { PATH: process.env.PATH },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.write(`trap 'rm -rf ${folder}' EXIT\n`);
  child.unref();
  for (const pipe of [child.stdin, child.stdout]) (pipe as Socket).unref();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [event, id = '', number] = line.split(' ');
    const command = commands.get(id);
    if (event === 'started') command?.started(Number(number));
    else {
      commands.delete(id);
      command?.ended(Number(number));
    }
  });
  let count = 0;
  return {
    nextFiles() {
      count += 1;
      return join(folder, String(count));
    },
    run(script, command) {
      const id = command.files.slice(folder.length + 1);
      commands.set(id, command);
      // `jobs` lets the shell forget those that have ended.
      child.stdin.write(
        `(: >${id}.out; : >${id}.err; (${script}) & echo started ${id} $!; wait $!; echo ended ${id} $?) & jobs >/dev/null\n`,
      );
    },
  };
}
