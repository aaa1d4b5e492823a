import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLaunchedProgram, type LaunchedProgram, type ProgramParts } from './launched-program.ts';

/**
 * Source text of the launcher. It is a string because it must run from sources and from a bundle, which cannot rely on
 * a separate file. The launcher starts each program with three connections to our socket instead of pipes, so that
 * input and output do not pass through the launcher. Input has its own connection: writing to an ended program breaks
 * the connection, and a shared one would lose the output. The launcher ignores the signals of a terminal and of a
 * service manager, and ends with the process that started it.
 */
const program = `
const { spawn } = require('node:child_process');
const { mkdtempSync, rmSync } = require('node:fs');
const { Socket } = require('node:net');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {});
// If the parent has just died, a send fails before 'disconnect' arrives: an unhandled error would end the launcher and
// leave its folder behind.
const send = (message) => { if (process.connected) process.send(message, () => {}); };
let folder;
try { folder = mkdtempSync(join(tmpdir(), 'reeve-git-')); } catch (error) { send({ refused: error.message }); }
process.on('disconnect', () => { if (folder) rmSync(folder, { recursive: true, force: true }); process.exit(); });
const running = new Map();
function open(path, line, ready, failed) {
  const socket = new Socket();
  // Nothing is read here: the data is for the program.
  socket.pause();
  socket.on('error', failed);
  socket.connect(path, () => socket.write(line, ready));
  return socket;
}
function launch({ id, path, file, args, cwd, env }) {
  const state = { isKilled: false };
  running.set(id, state);
  let opening = 3;
  const end = (message) => {
    if (!running.delete(id)) return;
    for (const stream of streams) stream.destroy();
    send({ id, ...message });
  };
  const failed = (error) => end({ error: error.message });
  // Without the folder of the socket, this launcher cannot start anything any more.
  const lost = (error) => { if (error.code === 'ENOENT') send({ isLost: true }); failed(error); };
  const ready = () => {
    opening -= 1;
    if (opening > 0 || !running.has(id)) return;
    if (state.isKilled) return end({ code: null });
    try {
      state.child = spawn(file, args, { cwd, env, stdio: streams });
      state.child.on('error', failed);
      state.child.on('exit', (code) => end({ code }));
    } catch (error) {
      failed(error);
    }
    for (const stream of streams) stream.destroy();
  };
  const streams = [0, 1, 2].map((stream) => open(path, id + ' ' + stream + '\\n', ready, lost));
}
process.on('message', (message) => {
  if (message.args !== undefined) return launch(message);
  const state = running.get(message.id);
  if (state === undefined) return;
  state.isKilled = true;
  state.child?.kill('SIGKILL');
});
if (folder) send({ folder });
`;

/** Heap limits of the launcher: many times what it needs, yet small enough for the process to be duplicated quickly. */
const launcherFlags = ['--max-old-space-size=32', '--max-semi-space-size=1'];

type ProgramCommand = {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

/** Starts programs from a separate small process. */
export interface Launcher {
  start(command: ProgramCommand): LaunchedProgram;
  /** Ends the launcher after the running programs have ended. */
  close(): void;
}

type LauncherOptions = {
  /** Parent folder of the socket's folder. Default: the system's temporary folder. */
  readonly temporary?: string;
};

type LauncherReport =
  | { readonly folder: string }
  | { readonly refused: string }
  | { readonly isLost: true }
  | { readonly id: number; readonly code: number | null }
  | { readonly id: number; readonly error: string };

/**
 * Creates a launcher. Spawning duplicates the calling process, which takes longer the more memory that process holds
 * (tens of milliseconds with a few hundred MB, during which nothing else runs); the launcher's process holds little
 * memory. It starts with the first program, and is restarted if it dies.
 */
export function createLauncher(options: LauncherOptions = {}): Launcher {
  let session: LauncherSession | undefined;
  let isClosed = false;
  return {
    start(command) {
      session ??= openSession({
        temporary: options.temporary ?? tmpdir(),
        onRest: (resting) => {
          if (isClosed) resting.end();
        },
        onEnd: (ended) => {
          if (session === ended) session = undefined;
        },
      });
      return session.start(command);
    },
    close() {
      isClosed = true;
      if (session?.isResting()) session.end();
    },
  };
}

/** One lifetime of the launcher's process, with its running programs. */
type LauncherSession = {
  readonly start: (command: ProgramCommand) => LaunchedProgram;
  readonly isResting: () => boolean;
  /** Ends the process; no further program can start. */
  readonly end: () => void;
};

type SessionOptions = Required<LauncherOptions> & {
  /** Called when the last program has ended. */
  readonly onRest: (session: LauncherSession) => void;
  /** Called when no further program can start. */
  readonly onEnd: (session: LauncherSession) => void;
};

/** A message to the launcher process: with a command, start a program; without one, kill it. */
type Order = { readonly id: number } & Partial<ProgramCommand>;

function openSession({ temporary, onRest, onEnd }: SessionOptions): LauncherSession {
  const running = new Map<number, ProgramParts>();
  const child = spawnLauncher(temporary);
  /** Orders received before the process was ready. */
  const waiting: Order[] = [];
  let server: Server | undefined;
  let path: string | undefined;
  let serial = 0;
  let isLost = false;

  const stop = (error?: Error): void => {
    onEnd(session);
    server?.close();
    if (child.connected) child.disconnect();
    for (const { fail } of [...running.values()]) fail(error ?? new Error('it was closed'));
  };
  const transmit = (order: Order): void => {
    child.send({ ...order, path }, (error) => {
      if (error !== null) running.get(order.id)?.fail(error);
    });
  };
  const send = (order: Order): void => {
    // A running program keeps our process alive; the idle launcher does not.
    child.channel?.ref();
    if (path === undefined) waiting.push(order);
    else transmit(order);
  };
  const listen = (folder: string): void => {
    const socketPath = join(folder, 'socket');
    server = createServer((socket) => readGreeting(socket, running)).on('error', stop);
    server.listen(socketPath, () => {
      path = socketPath;
      for (const order of waiting.splice(0)) transmit(order);
    });
    server.unref();
  };

  child.on('message', (report: LauncherReport) => {
    if ('folder' in report) listen(report.folder);
    else if ('refused' in report) stop(new Error(`no socket to start git: ${report.refused}`));
    else if ('isLost' in report) {
      // Running programs continue; the next one starts in another launcher process.
      isLost = true;
      onEnd(session);
    } else if ('error' in report) running.get(report.id)?.fail(new Error(report.error));
    else running.get(report.id)?.end(report.code);
  });
  child.on('error', stop);
  child.on('exit', () => stop(new Error('the process that starts programs has ended')));
  child.unref();
  child.channel?.unref();

  const session: LauncherSession = {
    start(command) {
      serial += 1;
      const id = serial;
      const { launched, parts } = createLaunchedProgram({
        kill: () => send({ id }),
        onSettled() {
          running.delete(id);
          if (running.size > 0) return;
          child.channel?.unref();
          if (isLost) stop();
          else onRest(session);
        },
      });
      running.set(id, parts);
      send({ id, ...command });
      return launched;
    },
    isResting: () => running.size === 0,
    end: () => stop(),
  };
  return session;
}

function spawnLauncher(temporary: string): ChildProcess {
  return spawn(process.execPath, [...launcherFlags, '-e', program], {
    cwd: '/',
    env: { TMPDIR: temporary },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  });
}

/** Maximum length of the greeting line, which names the program and stream of a connection. */
const maxGreeting = 64;

function readGreeting(socket: Socket, running: ReadonlyMap<number, ProgramParts>): void {
  let read = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  const take = (piece: Buffer): void => {
    read = Buffer.concat([read, piece]);
    const at = read.indexOf('\n');
    if (at < 0 && read.length <= maxGreeting) return;
    socket.off('data', take);
    socket.pause();
    const [id, stream = ''] = read.subarray(0, Math.max(at, 0)).toString('latin1').split(' ');
    const program = running.get(Number(id));
    if (program === undefined) socket.destroy();
    else program.connect(socket, stream, read.subarray(at + 1));
  };
  socket.on('data', take);
}
