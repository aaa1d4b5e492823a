import type { Server } from 'node:http';
import type { FastifyHttpOptions } from 'fastify';

/** Default of the largest body. A larger one is a lost event, so it can be raised. */
export const defaultMaxBodyBytes = 8 * 2 ** 20;

/** Connections beyond this are closed at once: each costs memory before it has shown any secret. */
export const maxConnections = 2_000;

export type Limits = {
  /** From the first byte of a request to its last header; default 5 s. */
  readonly headersTimeoutMs?: number;
  /** From the first byte of a request to the last of its body; default 10 s. Fastify's own default is for ever. */
  readonly requestTimeoutMs?: number;
  /** How often the two are looked at; default 1 s. */
  readonly checkingIntervalMs?: number;
};

/**
 * Returns the options for the fastify server that the receiver is registered on: slow headers and bodies end with 408.
 */
export function serverOptions(limits: Limits = {}): FastifyHttpOptions<Server> {
  const { headersTimeoutMs = 5_000, requestTimeoutMs = 10_000, checkingIntervalMs = 1_000 } = limits;
  return {
    requestTimeout: requestTimeoutMs,
    // Behind a proxy the address of a failure is the proxy's: better than one that the sender may choose.
    trustProxy: false,
    routerOptions: { ignoreTrailingSlash: false },
    http: {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: checkingIntervalMs,
    },
  };
}
