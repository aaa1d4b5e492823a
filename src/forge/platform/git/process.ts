import { availableParallelism } from 'node:os';
import { PassThrough, type Readable } from 'node:stream';
import { ReeveError } from '../../../platform/errors.ts';
import type { LaunchedProgram } from './launched-program.ts';
import { createLauncher, type Launcher } from './launcher.ts';
import { createSlots } from './slots.ts';

type GitResult = { readonly code: number; readonly stdout: Buffer; readonly stderr: string };

type GitOptions = {
  /** The bare repository; absent for commands outside a repository. */
  readonly folder?: string;
  readonly input?: Buffer | string | Readable;
  /** Accepted exit codes; any other code throws. Default: 0 only. */
  readonly expect?: readonly number[];
  /** Time limit. Default: 60 s. */
  readonly timeoutMs?: number;
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Receives each piece of output as it arrives. Returning `false` ends the command, which then counts as successful.
   */
  readonly onOutput?: (piece: Buffer) => boolean;
};

/**
 * Runs the `git` program with arguments as a list, never through a shell, and isolated from the user's own settings.
 */
export interface Git {
  /** Waits for a free slot, runs one command to completion, and throws `git-failed` on an unexpected exit. */
  run(args: readonly string[], options?: GitOptions): Promise<GitResult>;
  /** Starts a long-running command, which the caller ends. It does not occupy a slot of `run`. */
  start(args: readonly string[], options: Pick<GitOptions, 'folder' | 'environment'>): LaunchedProgram;
  /**
   * Starts a command and streams its output; the stream fails if the command does. Closing the stream ends the command.
   * Undefined if the maximum number of such commands is already running.
   */
  stream(args: readonly string[], options: Pick<GitOptions, 'folder' | 'input'>): Readable | undefined;
  /** Closes the launcher after the running commands have ended. */
  close(): void;
}

/**
 * Creates the runner. `configFile` is the only configuration that git reads. The number of concurrent commands is
 * limited to twice the number of processors, but at least 4: more would only wait for each other. `shared` is a
 * launcher that the caller owns; it stays open.
 */
export function createGit(configFile: string, shared?: Launcher): Git {
  const inSlot = createSlots(Math.max(4, availableParallelism() * 2));
  const launcher = shared ?? createLauncher();
  const start: Git['start'] = (args, options) =>
    launcher.start({
      file: 'git',
      args,
      cwd: options.folder ?? '/',
      env: cleanEnvironment(configFile, options),
    });
  let streams = 0;
  return {
    start,
    stream(args, options) {
      if (streams >= maxStreams) return undefined;
      streams += 1;
      return passOn(start(args, options), args, options, () => {
        streams -= 1;
      });
    },
    close() {
      if (shared === undefined) launcher.close();
    },
    run: (args, options = {}) => inSlot(() => finish(start(args, options), args, options)),
  };
}

/** Maximum concurrent commands whose output is streamed to clients: archives and large files. */
const maxStreams = 32;
/** Time limit of a command that a slow client keeps open. */
const maxStreamMs = 600_000;

function passOn(
  child: LaunchedProgram,
  args: readonly string[],
  { input }: Pick<GitOptions, 'input'>,
  onClosed: () => void,
): Readable {
  const output = new PassThrough();
  let stderr = '';
  const fail = (reason: string): void => {
    output.destroy(new ReeveError('git-failed', `git ${args[0] ?? ''} ${reason}`));
  };
  const timer = setTimeout(() => fail(`took longer than ${maxStreamMs} ms`), maxStreamMs);
  timer.unref();
  child.stderr.on('data', (piece: Buffer) => {
    if (stderr.length < 4_000) stderr += piece.toString('utf8');
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  child.stdout.pipe(output, { end: false });
  child.on('error', (cause) => fail(`did not start: ${cause.message}`));
  // The end of the output does not mean success: the output of a command that fails halfway must not look like a
  // complete file.
  child.on('close', (code) => {
    if (code !== 0) fail(`ended with ${code ?? -1}: ${stderr.trim().slice(0, 500)}`);
    else if (child.stdout.readableEnded) output.end();
    else child.stdout.on('end', () => output.end());
  });
  output.on('close', () => {
    clearTimeout(timer);
    child.stdout.unpipe(output);
    child.stdout.resume();
    child.kill();
    onClosed();
  });
  return output;
}

/**
 * Builds the environment from scratch: a variable that the operator exported (GIT_DIR, GIT_SSH …) must not influence
 * the forge.
 */
function cleanEnvironment(configFile: string, options: GitOptions): Record<string, string> {
  return {
    // The location of git depends on the machine; no other variable is passed on.
    PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    TZ: 'UTC',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: configFile,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_LITERAL_PATHSPECS: '1',
    // A pushed refs/replace/* would otherwise replace the stored content.
    GIT_NO_REPLACE_OBJECTS: '1',
    ...(options.folder === undefined ? {} : { GIT_DIR: options.folder }),
    ...options.environment,
  };
}

/** Maximum bytes of a command's output; larger output aborts the command. */
const maxBytes = 64 * 1024 * 1024;

function finish(child: LaunchedProgram, args: readonly string[], options: GitOptions): Promise<GitResult> {
  const { expect = [0], timeoutMs = 60_000 } = options;
  const { promise, resolve, reject } = Promise.withResolvers<GitResult>();
  const pieces: Buffer[] = [];
  let bytes = 0;
  let stderr = '';
  let isEnough = false;
  let refusal: string | undefined;
  const end = (reason: string): void => {
    refusal = reason;
    child.kill();
  };
  const timer = setTimeout(() => end(`took longer than ${timeoutMs} ms`), timeoutMs);
  child.stdout.on('data', (piece: Buffer) => {
    if (isEnough || refusal !== undefined) return;
    if (options.onOutput === undefined) {
      bytes += piece.length;
      pieces.push(piece);
      if (bytes > maxBytes) end(`answered more than ${maxBytes} bytes`);
    } else if (!options.onOutput(piece)) {
      isEnough = true;
      child.kill();
    }
  });
  child.stderr.on('data', (piece: Buffer) => {
    if (stderr.length < 4_000) stderr += piece.toString('utf8');
  });
  child.on('error', (cause) => {
    clearTimeout(timer);
    reject(new ReeveError('git-failed', `the git program did not start: ${cause.message}`, { cause }));
  });
  child.on('close', (code) => {
    clearTimeout(timer);
    const status = code ?? -1;
    if (refusal === undefined && (isEnough || expect.includes(status))) {
      resolve({ code: status, stdout: Buffer.concat(pieces), stderr });
      return;
    }
    const reason = refusal ?? `ended with ${status}: ${stderr.trim().slice(0, 500)}`;
    reject(new ReeveError('git-failed', `git ${args[0] ?? ''} ${reason}`));
  });
  // A command that ends without reading its input closes the pipe; the exit code is the result, not the pipe error.
  child.stdin.on('error', () => {});
  if (options.input === undefined || typeof options.input === 'string' || Buffer.isBuffer(options.input)) {
    child.stdin.end(options.input);
  } else {
    options.input.on('error', (error) => end(`lost its input: ${error.message}`)).pipe(child.stdin);
  }
  return promise;
}
