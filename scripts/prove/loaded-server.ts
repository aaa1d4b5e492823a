import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { start, waitForOutput } from '../../test/support/command.ts';
import { type Book, openBook } from '../harness/book.ts';
import { readRows } from '../harness/database.ts';
import { createLoad } from '../harness/load.ts';
import { authorization, secret } from '../harness/sender.ts';

/** `reeve serve` with a simulated forge, under a load of deliveries whose acknowledgements are recorded. */
export interface LoadedServer {
  readonly child: ChildProcess;
  readonly url: string;
  readonly data: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Sends deliveries over this many connections, until `stop`. */
  load(connections: number): { stop(): Promise<void> };
  /** Sends a signal; resolves with the exit status and the time until the exit. */
  end(signal: NodeJS.Signals): Promise<{ readonly status: number | null; readonly ms: number }>;
}

export type LoadedServers = {
  /** Starts the server, again after it ended. */
  start(): Promise<LoadedServer>;
  /** Records what all of the servers acknowledged, and whether the store has it. */
  readonly book: Book;
};

const rules = `version: 1
rules:
  labelled:
    on: { issues: [edited] }
    steps: [{ uses: sync-labels, with: { labels: [{ name: kept, color: ff0000 }] } }]
`;

/** Returns servers that use one folder, one after another. The forge has the repository acme/r1. */
export async function loadedServers(folder: string, forgeUrl: string): Promise<LoadedServers> {
  const data = join(folder, 'data');
  await mkdir(data, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, 'rules.yml'), rules);
  await writeFile(join(folder, 'reeve.yml'), 'version: 1\nlimits: { hour: 100000 }\n', { mode: 0o600 });
  const environment = {
    FORGE_URL: forgeUrl,
    FORGE_TOKEN: 'a-token-of-the-account-of-the-bot',
    WEBHOOK_AUTHORIZATION: authorization,
    WEBHOOK_SECRET: secret,
    REEVE_RULES: join(folder, 'rules.yml'),
    REEVE_CONFIG: join(folder, 'reeve.yml'),
    REEVE_DATA: data,
    PORT: '0',
  };
  const book = openBook((sql) => readRows(join(data, 'reeve.db'), sql), 1);
  return {
    book,
    async start() {
      const child = start(['serve'], { environment });
      const printed = await waitForOutput(child, /"url":"[^"]+"[^\n]*"listening"/);
      const url = /"url":"([^"]+)"[^\n]*"listening"/.exec(printed)?.[1] ?? '';
      return {
        ...{ child, url, data, environment },
        load(connections) {
          let isOver = false;
          const load = createLoad({
            ...{ url, authorization, secret },
            // The limit of the server is unchanged, so oversized deliveries are not part of this load.
            tooLargeBytes: 9 * 2 ** 20,
            repository: { id: 1, full_name: 'acme/r1', owner: { id: 1, login: 'acme' } },
            issues: Array.from({ length: 20 }, (_, at) => ({ number: at + 1 })),
            onAnswer: book.note,
          });
          const sending = load.sendFast(connections, () => isOver);
          return {
            async stop() {
              isOver = true;
              await sending;
            },
          };
        },
        async end(signal) {
          const startMs = performance.now();
          const ended = once(child, 'exit');
          child.kill(signal);
          const [status] = (await ended) as [number | null];
          return { status, ms: performance.now() - startMs };
        },
      };
    },
  };
}
