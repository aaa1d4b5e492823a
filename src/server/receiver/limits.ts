import type { Server } from 'node:http';
import type { FastifyHttpOptions } from 'fastify';

/** Default size limit of a body. A larger body is a lost event, so the limit is configurable. */
export const defaultMaxBodyBytes = 8 * 2 ** 20;

/** Connections beyond this number are closed immediately: each uses memory before it is authorized. */
export const maxConnections = 2_000;

/**
 * Buffered bytes of a paused body at which Node stops reading from its socket. One read has up to 64 KiB: with Node's default of
 * 64 KiB, a paused body keeps two reads in memory, with this value one. A body that is not paused buffers nothing.
 */
const pausedBytes = 16_384;

export type ReceiverLimits = {
  /** Time from the first byte of a request to its last header; default 5 s. */
  readonly headersTimeoutMs?: number;
  /** Time from the first byte of a request to the last of its body; default 10 s. Fastify's own default is unlimited. */
  readonly requestTimeoutMs?: number;
  /** Interval of the check of both; default 1 s. */
  readonly checkingIntervalMs?: number;
};

/**
 * Returns the options for the fastify server that the receiver is registered on: slow headers and bodies end with 408.
 */
export function serverOptions(limits: ReceiverLimits = {}): FastifyHttpOptions<Server> {
  const { headersTimeoutMs = 5_000, requestTimeoutMs = 10_000, checkingIntervalMs = 1_000 } = limits;
  return {
    requestTimeout: requestTimeoutMs,
    // Behind a proxy, failures count for the proxy's address: a forwarded address could be chosen by the sender.
    trustProxy: false,
    routerOptions: { ignoreTrailingSlash: false },
    http: {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: checkingIntervalMs,
      highWaterMark: pausedBytes,
    },
  };
}
