// `node scripts/conformance/with-server.ts PROGRAM -- COMMAND …`: starts a new, empty server from a program of Gitea or
// Forgejo on a loopback port, with an administrator, and runs the command with FORGE_URL and FORGE_TOKEN. Afterwards
// the server is stopped and its data removed. The exit status is that of the command, or 2 if the server does not
// start. FORGE_STATIC_ROOT: folder of templates and options, for a program built without them.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

async function main(): Promise<number> {
  const [program, separator, command, ...args] = process.argv.slice(2);
  if (program === undefined || separator !== '--' || command === undefined)
    throw new Error('usage: with-server PROGRAM -- COMMAND …');
  const folder = await mkdtemp(join(tmpdir(), 'reeve-server-'));
  let server: ChildProcess | undefined;
  try {
    const made = await startServer(resolve(program), folder);
    server = made.server;
    const environment = { ...process.env, FORGE_URL: made.url, FORGE_TOKEN: made.token };
    const child = spawn(command, args, { stdio: 'inherit', env: environment });
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => child.kill(name));
    const [status] = (await once(child, 'exit')) as [number | null];
    return status ?? 1;
  } finally {
    if (server?.exitCode === null && server.kill('SIGTERM')) await once(server, 'exit');
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function startServer(
  program: string,
  folder: string,
): Promise<{ readonly server: ChildProcess; readonly url: string; readonly token: string }> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const config = join(folder, 'app.ini');
  await mkdir(join(folder, 'data'), { recursive: true });
  const { stdout: internal } = await execute(program, ['generate', 'secret', 'INTERNAL_TOKEN']);
  await writeFile(config, configurationOf({ folder, url, port, internal: internal.trim() }), { mode: 0o600 });
  const env = { ...process.env, HOME: folder, GITEA_WORK_DIR: folder, FORGEJO_WORK_DIR: folder };
  const run = async (...args: readonly string[]): Promise<string> =>
    (await execute(program, [...args, '--config', config], { env })).stdout.trim();
  await run('migrate');
  const password = randomBytes(16).toString('hex');
  const account = ['--username', 'root', '--password', password, '--email', 'root@example.invalid'];
  await run('admin', 'user', 'create', ...account, '--admin', '--must-change-password=false');
  const rights = ['--username', 'root', '--token-name', 'conformance', '--scopes', 'all', '--raw'];
  const printed = await run('admin', 'user', 'generate-access-token', ...rights);
  const output = join(folder, 'output');
  const file = openSync(output, 'w');
  const server = spawn(program, ['web', '--config', config], { env, stdio: ['ignore', file, file] });
  closeSync(file);
  while (!(await answers(url))) {
    if (server.exitCode !== null) throw new Error(`the server ended:\n${await readFile(output, 'utf8')}`);
    await sleep(100);
  }
  return { server, url, token: printed.split('\n').at(-1) ?? '' };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/api/v1/version`, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}

/**
 * Returns the configuration. The allowed hosts of hooks are set in two sections: Gitea 1.27 and later read the first,
 * all others the second.
 */
function configurationOf(given: {
  readonly folder: string;
  readonly url: string;
  readonly port: number;
  readonly internal: string;
}): string {
  const { folder, url, port, internal } = given;
  return `RUN_MODE = prod
WORK_PATH = ${folder}
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = ${url}/
LOCAL_ROOT_URL = ${url}/
APP_DATA_PATH = ${join(folder, 'data')}
STATIC_ROOT_PATH = ${process.env.FORGE_STATIC_ROOT ?? folder}
DISABLE_SSH = true
OFFLINE_MODE = true
LFS_START_SERVER = true
LFS_JWT_SECRET = ${randomBytes(32).toString('base64url')}
[database]
DB_TYPE = sqlite3
PATH = ${join(folder, 'data/forge.db')}
[repository]
ROOT = ${join(folder, 'data/repositories')}
DEFAULT_BRANCH = main
[security]
INSTALL_LOCK = true
SECRET_KEY = ${randomBytes(32).toString('hex')}
INTERNAL_TOKEN = ${internal}
ALLOWED_HOST_LIST = loopback,private
[webhook]
ALLOWED_HOST_LIST = loopback,private
[oauth2]
JWT_SECRET = ${randomBytes(32).toString('base64url')}
[picture]
DISABLE_GRAVATAR = true
ENABLE_FEDERATED_AVATAR = false
[migrations]
ALLOW_LOCALNETWORKS = true
[actions]
ENABLED = true
[cron.update_checker]
ENABLED = false
[log]
MODE = console
LEVEL = Warn
`;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
