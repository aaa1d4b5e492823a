import { spawn } from 'node:child_process';
import { once } from 'node:events';

export type ProcessResult = {
  /** Null if a signal ended the process. */
  readonly status: number | null;
  readonly isTimedOut: boolean;
  /** Latest output of both streams, for messages. */
  readonly tail: string;
};

type ProcessOptions = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
};

const maxTail = 4_000;

/**
 * Runs a program in a separate process group and waits for it. The whole group is killed on abort, on timeout and
 * afterwards, so that servers left behind by a broken test do not disturb the next run.
 */
export async function runProcess(
  program: string,
  args: readonly string[],
  { cwd, env, signal, timeoutMs }: ProcessOptions,
): Promise<ProcessResult> {
  signal.throwIfAborted();
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let tail = '';
  let isTimedOut = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-maxTail);
    });
  }
  const killGroup = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // ESRCH: every process of the group has ended.
    }
  };
  const timer = setTimeout(() => {
    isTimedOut = true;
    killGroup();
  }, timeoutMs);
  signal.addEventListener('abort', killGroup, { once: true });
  try {
    const [status] = (await once(child, 'exit')) as [number | null];
    return { status, isTimedOut, tail };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', killGroup);
    killGroup();
  }
}
