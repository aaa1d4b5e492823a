import { createHmac, randomUUID } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import autocannon from 'autocannon';
import { authorization, secret } from './secrets.ts';

export type Load = { readonly port: number; readonly connections: number; readonly perConnection: number };
export type LoadResult = {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly refused: number;
};

/** Returns a push of about 8 KB with headers as a forge sends them; no two are alike, so that none is a repeat. */
function makeRequest(): { method: 'POST'; headers: Record<string, string>; body: string } {
  const uuid = randomUUID();
  const commit = {
    id: uuid,
    message: 'a commit message of ordinary length',
    added: [],
    removed: [],
    modified: ['src/a.ts'],
  };
  const repository = { id: 7, name: 'tool', full_name: 'acme/tool', owner: { id: 3, login: 'acme' } };
  const commits = Array.from({ length: 52 }, () => commit);
  const sender = { id: 5, login: 'ada' };
  const body = JSON.stringify({
    ref: 'refs/heads/main',
    before: uuid,
    after: uuid,
    commits,
    repository,
    sender,
  });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    authorization,
    'x-gitea-delivery': uuid,
    'x-gitea-event': 'push',
    'x-gitea-event-type': 'push',
    'x-gitea-signature': signature,
    'x-github-delivery': uuid,
    'x-github-event': 'push',
    'x-hub-signature-256': `sha256=${signature}`,
  };
  return { method: 'POST', headers, body };
}

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
      client.setRequests(Array.from({ length: perConnection }, makeRequest));
      // All requests are made before the first leaves: what counts begins after the last was made.
      startMs = performance.now();
    },
  });
  // The type says promise, the value is also the emitter that it documents.
  (instance as unknown as EventEmitter).on('response', () => {
    endMs = performance.now();
  });
  const result = await instance;
  return {
    perSecond: result['2xx'] / ((endMs - startMs) / 1_000),
    p99Ms: result.latency.p99,
    maxMs: result.latency.max,
    refused: result.non2xx + result.errors,
  };
}

process.on('message', async (load: Load) => process.send?.(await run(load)));
process.on('disconnect', () => process.exit(1));
process.send?.('ready');
