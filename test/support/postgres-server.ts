import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Variable that contains the socket through which a test requests the address of the server. */
export const postgresVariable = 'REEVE_TEST_POSTGRES';

const keeper = fileURLToPath(new URL('postgres-keeper.ts', import.meta.url));

/** Separate server, with the operations that a test can perform on it. */
export interface PostgresServer {
  readonly url: string;
  /** Address of the standby, or empty if there is none. */
  readonly standbyUrl: string;
  /** Stops the server in mode immediate, and starts it again. */
  restart(): Promise<void>;
  /** Kills all processes of the server with SIGKILL. */
  kill(): Promise<void>;
  /** Promotes the standby to a primary server. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a separate server. With `--standby` among the settings, a second server replicates it synchronously. With
 * `--programs=FOLDER`, the server has another version. The server ends with this process, or when `stop` is called.
 */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const child = spawn(process.execPath, [keeper, ...settings], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value } = await lines.next();
  if (value === undefined) throw new Error('PostgreSQL did not start');
  const [url = '', standbyUrl = ''] = value.split(' ');
  const tell = async (command: string): Promise<void> => {
    child.stdin.write(`${command}\n`);
    const { value: answer = 'it ended' } = await lines.next();
    if (answer !== 'done') throw new Error(`PostgreSQL, ${command}: ${answer}`);
  };
  return {
    url,
    standbyUrl,
    restart: () => tell('restart'),
    kill: () => tell('kill'),
    promote: () => tell('promote'),
    async stop() {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}

/**
 * Runs once for all tests: waits for the first test that needs a database, and then starts one server for all tests. A
 * test that simulates a power failure needs a separate server, because this server does not sync.
 */
export default function setup(): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-test-'));
  const path = join(folder, 'postgres');
  let server: ReturnType<typeof startPostgres> | undefined;
  const listener = createServer((socket) => {
    socket.on('error', () => {});
    server ??= startPostgres([
      'fsync=off',
      'full_page_writes=off',
      'max_connections=300',
      'shared_buffers=64MB',
    ]);
    server.then(
      ({ url }) => socket.end(url),
      (error: unknown) => socket.destroy(error instanceof Error ? error : undefined),
    );
  });
  listener.listen(path).unref();
  process.env[postgresVariable] = path;
  return async () => {
    listener.close();
    await server?.then(({ stop }) => stop());
    rmSync(folder, { recursive: true, force: true });
  };
}
