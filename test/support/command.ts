import { type ChildProcess, spawn } from 'node:child_process';
import { runCommandLine } from '../../src/cli/cli.ts';
import { packageRoot } from '../../src/platform/package.ts';
import { builtProgram } from './built-program.ts';
import { watchProcess } from './processes.ts';

type CommandResult = { readonly status: number | null; readonly out: string; readonly error: string };

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a command in this process, with only the given environment, and returns its output. A separate process costs
 * about a second, so use `reeveProcess` only for behaviour that needs a separate process.
 */
export async function reeve(
  args: readonly string[],
  { environment = {} }: { environment?: Record<string, string> } = {},
): Promise<CommandResult> {
  const printed = { out: '', error: '' };
  const listeners = stopSignals.map((name) => [name, process.listeners(name)] as const);
  const mask = process.umask();
  try {
    const status = await runCommandLine(args, {
      environment: { PATH: process.env.PATH, NO_COLOR: '1', ...environment },
      terminal: {
        out(text) {
          printed.out += `${text}\n`;
        },
        error(text) {
          printed.error += `${text}\n`;
        },
        style: (_style, text) => text,
      },
    });
    return { status, ...printed };
  } finally {
    // A command changes the signal handlers and the file mode mask of its process.
    process.umask(mask);
    for (const [name, before] of listeners) {
      for (const listener of process.listeners(name)) {
        if (!before.includes(listener)) process.off(name, listener);
      }
    }
  }
}

/** Runs the command line as a separate process, with only the given environment. */
export async function reeveProcess(
  args: readonly string[],
  options: { environment?: Record<string, string>; cwd?: string } = {},
): Promise<CommandResult> {
  return waitForExit(start(args, options));
}

/**
 * Starts the command line and leaves it running. Processes that are still running after the tests of a file are killed.
 */
export function start(
  args: readonly string[],
  { environment = {}, cwd = packageRoot }: { environment?: Record<string, string>; cwd?: string } = {},
): ChildProcess {
  const child = spawn(process.execPath, [builtProgram(), ...args], {
    cwd,
    env: {
      PATH: process.env.PATH,
      NO_COLOR: '1',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return watchProcess(child);
}

/** Waits until a process ends. */
export function waitForExit(child: ChildProcess): Promise<CommandResult> {
  return new Promise((resolve) => {
    const seen = { out: '', error: '' };
    child.stdout?.on('data', (chunk) => {
      seen.out += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      seen.error += chunk;
    });
    child.on('close', (status) => resolve({ status, ...seen }));
  });
}

/** Resolves with the complete output so far once it matches the pattern. Rejects if the process ends before that. */
export function waitForOutput(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let seen = '';
    const look = (chunk: unknown): void => {
      seen += chunk;
      if (pattern.test(seen)) resolve(seen);
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.on('close', (status) => reject(new Error(`ended with ${status} before ${pattern}:\n${seen}`)));
  });
}
