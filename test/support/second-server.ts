import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../src/platform/log.ts';
import { type Server, type ServerOptions, startServer } from '../../src/server/server.ts';
import { authorization, type Harness, secret } from './harness.ts';

/** Secrets of a harness's hook, in the form of settings. */
export const hookSecrets = { scope: ['*'], authorization: [authorization], hmac: [secret] } as const;

/** Returns a rule of a repository that sets a label on new issues. */
export const markRule = (label: string): string => `version: 1
rules:
  mark: { on: issues.opened, steps: [{ uses: set-labels, with: { add: [${label}] } }] }
`;

/**
 * Starts another server, also in this process, on the database and the forge of a harness. `stop` deletes its folder.
 */
export async function startSecondServer(
  harness: Harness,
  databaseUrl: string,
  options: Pick<ServerOptions, 'budgets' | 'onRun' | 'poll'> = {},
): Promise<Server> {
  const data = await mkdtemp(join(tmpdir(), 'reeve-second-'));
  const server = await startServer({
    forge: { url: harness.proxy.url, credentials: { token: harness.token } },
    secrets: [{ name: 'test', ...hookSecrets }],
    data,
    databaseUrl,
    repositories: [],
    allowAdmin: false,
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    pollMs: 100,
    ...options,
  });
  return {
    ...server,
    async stop() {
      await server.stop();
      await rm(data, { recursive: true, force: true });
    },
  };
}
