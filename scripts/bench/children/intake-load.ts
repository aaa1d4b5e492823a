import type { EventEmitter } from 'node:events';
import autocannon from 'autocannon';
import { makeRequest } from '../deliveries.ts';
import { answerQuestions } from '../process.ts';

export type Load = { readonly port: number; readonly connections: number; readonly perConnection: number };
export type LoadResult = {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Requests without a 2xx response, as text: `92 × 507`, `3 × no answer`; empty if there are none. */
  readonly refused: string;
};

async function run({ port, connections, perConnection }: Load): Promise<LoadResult> {
  let startMs = 0;
  let endMs = 0;
  const instance = autocannon({
    url: `http://127.0.0.1:${port}/webhook`,
    connections,
    amount: connections * perConnection,
    method: 'POST',
    sampleInt: 50,
    setupClient: (client) => {
      client.setRequests(Array.from({ length: perConnection }, () => makeRequest()));
      // All requests are created before the first one is sent; the measured time begins after that.
      startMs = performance.now();
    },
  });
  // The declared type is a promise, but the value is also the documented event emitter.
  (instance as unknown as EventEmitter).on('response', () => {
    endMs = performance.now();
  });
  const result = await instance;
  return {
    perSecond: result['2xx'] / ((endMs - startMs) / 1_000),
    p99Ms: result.latency.p99,
    maxMs: result.latency.max,
    refused: refusedOf(result),
  };
}

function refusedOf({ statusCodeStats = {}, errors }: autocannon.Result): string {
  const statuses = Object.entries(statusCodeStats).filter(([status]) => !status.startsWith('2'));
  const all = statuses.map(([status, { count }]) => `${count} × ${status}`);
  return [...all, ...(errors > 0 ? [`${errors} × no answer`] : [])].join(', ');
}

answerQuestions('ready', { load: run });
