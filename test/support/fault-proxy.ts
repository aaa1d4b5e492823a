import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Request that passes through the proxy. */
type Passing = { readonly method: string; readonly path: string };

/**
 * Treatment of a request: passed on, answered by the proxy, cut off, or held forever. `before` runs first, and can make
 * something happen in between.
 */
export type Fault =
  | {
      readonly kind: 'pass';
      readonly before?: () => Promise<unknown>;
      /** Runs before the response is passed on, and receives its status. */
      readonly after?: (status: number) => Promise<unknown>;
    }
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly body: string;
      readonly headers?: Record<string, string>;
    }
  | { readonly kind: 'reset' }
  | { readonly kind: 'hang' }
  /** The request reaches the forge, but its response is lost. */
  | { readonly kind: 'lose' }
  /** The request reaches the forge, but its response never arrives. */
  | { readonly kind: 'swallow' }
  /** The request reaches the forge, but only half of the response arrives. */
  | { readonly kind: 'truncate' }
  /** The request reaches the forge, but a different response arrives. */
  | {
      readonly kind: 'replace';
      readonly status: number;
      readonly body: string;
      readonly headers?: Record<string, string>;
    };

export type FaultProxy = {
  readonly url: string;
  /** Requests that passed, in order. */
  readonly passed: Passing[];
  /** Decides the treatment of each request, also by its credential. By default, every request passes. */
  decide: (passing: Passing, authorization?: string) => Fault;
  close(): Promise<void>;
};

/**
 * Starts a proxy on a free loopback port in front of a server, so that a test can intervene between Reeve and its
 * forge.
 */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const { hostname, port } = new URL(target);
  const proxy: FaultProxy = { url: '', passed: [], decide: () => ({ kind: 'pass' }), close: async () => {} };
  const server = createServer(async (request, response) => {
    const passing = { method: request.method ?? '', path: request.url ?? '' };
    proxy.passed.push(passing);
    const fault = proxy.decide(passing, request.headers.authorization);
    if (fault.kind === 'reset') return request.socket.destroy();
    if (fault.kind === 'hang') return;
    if (fault.kind === 'answer') {
      request.resume();
      response
        .writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers })
        .end(fault.body);
      return;
    }
    if (fault.kind === 'pass') await fault.before?.();
    const upstream = forward(
      // Uses no agent: with an agent, the server might close a reused connection at that moment, but only the requested
      // faults may occur here.
      { hostname, port, method: request.method, path: request.url, headers: request.headers, agent: false },
      async (answer) => {
        if (fault.kind === 'lose') {
          answer.resume();
          answer.on('end', () => request.socket.destroy());
          return;
        }
        const chunks: Buffer[] = [];
        for await (const chunk of answer) chunks.push(chunk as Buffer);
        if (fault.kind === 'swallow') return;
        if (fault.kind === 'truncate') {
          const whole = Buffer.concat(chunks);
          // For a response without a body, the proxy announces a body of two bytes, because there is nothing else to
          // cut.
          const length = Math.max(whole.length, 2);
          response.writeHead(answer.statusCode ?? 502, {
            ...answer.headers,
            'content-length': String(length),
          });
          response.write(whole.subarray(0, whole.length / 2), () => request.socket.destroy());
          return;
        }
        if (fault.kind === 'replace') {
          const headers = { 'content-type': 'application/json', ...fault.headers };
          response.writeHead(fault.status, headers).end(fault.body);
          return;
        }
        await fault.after?.(answer.statusCode ?? 502);
        response.writeHead(answer.statusCode ?? 502, answer.headers).end(Buffer.concat(chunks));
      },
    );
    upstream.on('error', () => request.socket.destroy());
    request.pipe(upstream);
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  Object.assign(proxy, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
  return proxy;
}
