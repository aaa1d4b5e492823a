import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendRequest } from '../../src/client/exchange.ts';
import { type StuckForge, startStuckForge } from '../support/stuck-forge.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

let forge: StuckForge;

beforeEach(async () => {
  forge = await startStuckForge('sends headers and never a body');
});
afterEach(() => forge.close());

const ask = (options: { timeoutMs: number; signal?: AbortSignal }) =>
  sendRequest({ url: new URL(forge.url), method: 'GET', where: 'GET /', headers: {}, ...options });

/**
 * Waits for the headers of the response, then collects garbage. Node's fetch holds its signal weakly, and the response
 * must not depend on that.
 */
async function waitForHeaders(): Promise<void> {
  await forge.asked(1);
  await new Promise((resolve) => setTimeout(resolve, 250));
  // Collects garbage only once, because it takes half a second of processor time in a worker that has run many files.
  collectGarbage();
}

describe('B1: a response whose body never arrives', () => {
  it('ends with the timeout of the request, even after a garbage collection', async () => {
    const asked = expect(ask({ timeoutMs: 1_000 })).rejects.toMatchObject({ code: 'forge-timeout' });
    // On a busy machine, the timeout may come first.
    await Promise.race([waitForHeaders(), asked]);

    await asked;
  });

  it('ends when stopped, even after a garbage collection, and closes its connection', async () => {
    const stop = new AbortController();
    const asked = expect(ask({ timeoutMs: 600_000, signal: stop.signal })).rejects.toMatchObject({
      code: 'stopped',
    });
    await waitForHeaders();
    stop.abort();

    await asked;
    await expect.poll(() => forge.connections()).toBe(0);
  });
});
