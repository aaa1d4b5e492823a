import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { PassThrough, type Readable, type Writable } from 'node:stream';

/**
 * A started program. Emits `close` once it has ended and its output has been delivered, or `error` if it did not start.
 */
export interface LaunchedProgram {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Kills the program immediately. */
  kill(): void;
  on(event: 'close', listener: (code: number | null) => void): this;
  on(event: 'error', listener: (error: Error) => void): this;
}

/** A running program, as the session with the launcher process sees it. */
export type ProgramParts = {
  /**
   * Attaches one of the program's connections (0 input, 1 output, 2 errors), with the bytes that followed the greeting.
   */
  readonly connect: (socket: Socket, stream: string, first: Buffer) => void;
  readonly end: (code: number | null) => void;
  readonly fail: (error: Error) => void;
};

type ProgramOptions = {
  readonly kill: () => void;
  /** Called once, when the program can deliver no more data. */
  readonly onSettled: () => void;
};

/** Creates the two sides of a program: the handle for the caller, and the callbacks for the session. */
export function createLaunchedProgram({ kill, onSettled }: ProgramOptions): {
  launched: LaunchedProgram;
  parts: ProgramParts;
} {
  const events = new EventEmitter();
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  let unclosed = 2;
  let ended: { readonly code: number | null } | undefined;
  let isSettled = false;

  const settle = (tell: () => void): void => {
    if (isSettled) return;
    isSettled = true;
    onSettled();
    tell();
  };
  const closeIfDone = (): void => {
    const end = ended;
    if (end !== undefined && unclosed === 0) settle(() => events.emit('close', end.code));
  };

  const parts: ProgramParts = {
    connect(socket, stream, first) {
      if (stream === '0') {
        stdin.pipe(socket);
        // Nothing arrives on this connection except its end.
        socket.on('close', () => stdin.destroy()).resume();
        // A program whose output is no longer needed must not wait for input.
        if (stdout.destroyed) socket.destroy();
        else stdout.on('close', () => socket.destroy());
        return;
      }
      const output = stream === '1' ? stdout : stderr;
      if (first.length > 0) output.write(first);
      socket.pipe(output);
      // Closing the output ends the program.
      output.on('close', () => socket.destroy());
      socket.on('close', () => {
        output.end();
        unclosed -= 1;
        closeIfDone();
      });
    },
    end(code) {
      ended = { code };
      // Output without a reader would keep the program from ending.
      for (const output of [stdout, stderr]) if (output.readableFlowing === null) output.resume();
      closeIfDone();
    },
    fail(error) {
      settle(() => {
        for (const stream of [stdin, stdout, stderr]) stream.destroy();
        events.emit('error', error);
      });
    },
  };
  const launched: LaunchedProgram = {
    stdin,
    stdout,
    stderr,
    kill() {
      if (!isSettled) kill();
    },
    on(event: string, listener: (...args: never[]) => void) {
      events.on(event, listener as (...args: unknown[]) => void);
      return launched;
    },
  };
  return { launched, parts };
}
