import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { start } from '../../../test/support/command.ts';

type BotsOptions = {
  /** Folder in which a folder for each process is created. */
  readonly folder: string;
  /** Environment that is the same for all processes. */
  readonly environment: Readonly<Record<string, string>>;
  /** Token of each process; the number of tokens is the number of processes. */
  readonly tokens: readonly string[];
};

/** `reeve serve` processes that are killed and started again. They are identified by their numbers, starting at 0. */
export interface Bots {
  /** Returns the addresses of the running processes. */
  addresses(): readonly string[];
  /** Returns the process that sent a request. */
  byCredential(authorization: string | undefined): number | undefined;
  /** Returns the numbers of the processes that are not stopped. */
  going(): readonly number[];
  /** Kills a process with SIGKILL and starts it again. Does nothing while it is starting. */
  kill(bot: number): Promise<void>;
  /** Suspends a process with SIGSTOP until `go` is called. */
  stop(bot: number): void;
  go(bot: number): void;
  /** Kills all processes permanently. */
  end(): Promise<void>;
  /** Returns the number of killed processes. */
  kills(): number;
  /** Returns the latest log lines of all processes. */
  logs(): string;
  /** Rejects when a process ends unexpectedly. */
  readonly failed: Promise<never>;
}

type Running = { child: ChildProcess | undefined; url: string | undefined; isStopped: boolean; log: string };

const keptLog = 20_000;

/** Starts the processes. */
export async function startBots({ folder, environment, tokens }: BotsOptions): Promise<Bots> {
  const all = tokens.map((): Running => ({ child: undefined, url: undefined, isStopped: false, log: '' }));
  const failed = Promise.withResolvers<never>();
  // A failure between two waits must not be an unhandled rejection.
  failed.promise.catch(() => {});
  let kills = 0;
  let isEnding = false;

  const begin = async (number: number): Promise<void> => {
    const bot = all[number];
    if (bot === undefined || isEnding) return;
    const data = join(folder, `bot-${number}`);
    await mkdir(data, { recursive: true });
    const child = start(['serve'], {
      environment: {
        ...environment,
        FORGE_TOKEN: tokens[number] ?? '',
        REEVE_DATA: data,
        HOST: '127.0.0.1',
        PORT: '0',
      },
    });
    bot.child = child;
    await new Promise<void>((resolve) => {
      const read = (part: unknown): void => {
        bot.log = (bot.log + String(part)).slice(-keptLog);
        const found = bot.child === child && /"url":"([^"]+)"[^\n]*listening/.exec(String(part))?.[1];
        if (!found) return;
        bot.url = found;
        resolve();
      };
      child.stdout?.on('data', read);
      child.stderr?.on('data', read);
      child.once('exit', (code) => {
        if (bot.child === child && !isEnding)
          failed.reject(new Error(`process ${number} ended with ${code}: ${bot.log}`));
        resolve();
      });
    });
  };
  const finish = async (bot: Running): Promise<void> => {
    const { child } = bot;
    Object.assign(bot, { child: undefined, url: undefined, isStopped: false });
    if (child === undefined) return;
    const ended = once(child, 'exit');
    if (child.kill('SIGKILL')) await ended;
  };

  await Promise.all(all.map((_bot, number) => begin(number)));
  return {
    failed: failed.promise,
    addresses: () => all.flatMap(({ url }) => url ?? []),
    byCredential(authorization) {
      const found = tokens.findIndex((token) => authorization?.endsWith(token));
      return found < 0 ? undefined : found;
    },
    going: () => all.flatMap(({ isStopped }, number) => (isStopped ? [] : number)),
    async kill(number) {
      const bot = all[number];
      if (bot?.child === undefined) return;
      kills += 1;
      await finish(bot);
      await begin(number);
    },
    stop(number) {
      const bot = all[number];
      if (bot?.child?.kill('SIGSTOP')) bot.isStopped = true;
    },
    go(number) {
      const bot = all[number];
      if (bot?.isStopped && bot.child?.kill('SIGCONT')) bot.isStopped = false;
    },
    async end() {
      isEnding = true;
      await Promise.all(all.map(finish));
    },
    kills: () => kills,
    logs: () => all.map(({ log }, number) => `process ${number}:\n${log}`).join('\n'),
  };
}

/** A suspended process accepts connections but answers none. */
const answerMs = 2_000;

/** Server in front of the processes, like a reverse proxy (`deploy/proxy/two.nginx.conf`). */
interface Door {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Opens a door on a free port: it forwards each delivery to the first process that acknowledges it, starting with
 * another process each time. If none does, the delivery is lost, because no forge sends it again.
 */
export async function openDoor(addresses: () => readonly string[]): Promise<Door> {
  let turn = 0;
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers))
      if (/^(x-|authorization|content-type)/.test(name)) headers.set(name, String(value));
    turn += 1;
    const all = addresses();
    const given = { method: 'POST', headers, body };
    for (const address of [...all.slice(turn % 2), ...all.slice(0, turn % 2)]) {
      const status = await send(`${address}${request.url}`, given);
      if (status === undefined || status === 503) continue;
      response.writeHead(status).end();
      return;
    }
    response.writeHead(502).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function send(url: string, given: RequestInit): Promise<number | undefined> {
  try {
    const answer = await fetch(url, { ...given, signal: AbortSignal.timeout(answerMs) });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return undefined;
  }
}
