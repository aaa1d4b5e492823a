import { createHmac, randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';

export const authorization = 'Bearer only-for-the-crash-harness-on-loopback';
export const secret = 'only-for-the-crash-harness-on-loopback';

/** A load of signed deliveries. */
interface Sending {
  /** Uuids that were acknowledged. */
  readonly acked: readonly string[];
  stop(): Promise<void>;
}

/** Repositories of each connection. */
const repositories = 6;

/**
 * Posts signed deliveries with `padBytes` beside what makes them one, over so many connections, until `stop`. Each connection has
 * its own repositories and sends one delivery after the other, with growing numbers `n`, to the ports in turn.
 */
export function startSending(
  ports: readonly number[],
  { connections, padBytes }: { connections: number; padBytes: number },
): Sending {
  const acked: string[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let isGoing = true;

  const send = (line: number, turn: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const uuid = randomUUID();
      const id = 1 + line + connections * (turn % repositories);
      const repository = { id, full_name: `acme/tool-${id}`, owner: { id: 1 } };
      const body = JSON.stringify({
        ref: 'refs/heads/main',
        before: uuid,
        after: uuid,
        n: Number(process.hrtime.bigint() / 1_000n),
        repository,
        sender: { id: 1, login: 'ada' },
        pad: 'x'.repeat(padBytes),
      });
      const outgoing = request({
        agent,
        port: ports[(line + turn) % ports.length],
        host: '127.0.0.1',
        path: '/webhook',
        method: 'POST',
        headers: {
          authorization,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'x-gitea-delivery': uuid,
          'x-gitea-event-type': 'push',
          'x-gitea-signature': createHmac('sha256', secret).update(body).digest('hex'),
        },
      });
      outgoing.on('error', reject);
      outgoing.on('response', (answer) => {
        // The status line is the acknowledgement: a forge has its 202 as soon as that arrives.
        if (answer.statusCode === 202) acked.push(uuid);
        answer.on('error', reject).on('end', resolve).resume();
      });
      outgoing.end(body);
    });

  const run = async (line: number): Promise<void> => {
    // A server is killed under us: a broken connection is not the end of the harness.
    for (let turn = 0; isGoing; turn += 1)
      await send(line, turn).catch(() => new Promise((resolve) => setTimeout(resolve, 5)));
  };
  const lines = Array.from({ length: connections }, (_, line) => run(line));
  return {
    acked,
    async stop() {
      isGoing = false;
      agent.destroy();
      await Promise.all(lines);
    },
  };
}
