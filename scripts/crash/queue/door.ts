import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A process that stands still accepts connections and answers none. */
const answerMs = 2_000;

/** What stands before the processes, as a reverse proxy does (`deploy/proxy/two.nginx.conf`). */
export interface Door {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Opens a door on a free port: gives each delivery to the first process that acknowledges it, beginning with another one each time.
 * If none does, it is lost, as no forge sends it again.
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
