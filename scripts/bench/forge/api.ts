import { Agent, request } from 'node:http';

/** A request below `/api/v1`. */
export type Call = {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  /** Token of the caller. */
  readonly token: string;
};

export type Answer = { readonly status: number; readonly text: string };

/** A forge under load, whichever program it is. */
export interface BenchApi {
  readonly url: string;
  /** Token of a site administrator. */
  readonly token: string;
  /** Sends a request over the one connection that is kept; throws for an answer that is no success. */
  send(call: Call): Promise<Answer>;
  close(): void;
}

/**
 * Creates the client of one forge. It is the client of node:http, whose cost per request is small and the same for every forge,
 * and which passes on the bodies of 205, unlike `fetch`.
 */
export function createBenchApi(url: string, token: string): BenchApi {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    url,
    token,
    send: (call) => send(agent, url, call),
    close: () => agent.destroy(),
  };
}

function send(agent: Agent, url: string, { method, path, body, token }: Call): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const text = body === undefined ? undefined : JSON.stringify(body);
  const content =
    text === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  const sent = request(
    `${url}/api/v1${path}`,
    { method, agent, headers: { authorization: `token ${token}`, ...content } },
    (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () => {
        const status = response.statusCode ?? 0;
        const answer = { status, text: Buffer.concat(pieces).toString('utf8') };
        if (status >= 200 && status < 300) resolve(answer);
        else reject(new Error(`${method} ${path}: ${status} ${answer.text.slice(0, 500)}`));
      });
    },
  );
  sent.on('error', reject);
  sent.end(text);
  return promise;
}
