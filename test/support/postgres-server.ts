import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The variable with the socket at which a test asks for the address of the server. */
export const postgresVariable = 'REEVE_TEST_POSTGRES';

const keeper = fileURLToPath(new URL('postgres-keeper.ts', import.meta.url));

/** Starts a server of its own. It ends with this process, or with `stop`. */
export async function startPostgres(
  settings: readonly string[] = [],
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [keeper, ...settings], { stdio: ['pipe', 'pipe', 'inherit'] });
  const url = await firstLineOf(child);
  return {
    url,
    async stop() {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}

async function firstLineOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no output');
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('PostgreSQL did not start');
}

/**
 * Runs once for all tests: listens for the first test that needs a database, and starts one server for all of them then. A
 * test that a process of its own loses power in needs another one: this server does not sync.
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
