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

/** Lets the headers of the answer arrive, and collects garbage: Node's fetch refers to its signal weakly, and the answer must not depend on that. */
async function waitForHeaders(): Promise<void> {
  await forge.asked(1);
  await new Promise((resolve) => setTimeout(resolve, 250));
  // Once: in a worker that has run many files, it takes half a second of processor time.
  collectGarbage();
}

describe('B1: an answer whose body never arrives', () => {
  it('ends with its timeout, also after a garbage collection', async () => {
    const asked = expect(ask({ timeoutMs: 1_000 })).rejects.toMatchObject({ code: 'forge-timeout' });
    // A machine that is busy may bring the timeout first.
    await Promise.race([waitForHeaders(), asked]);

    await asked;
  });

  it('ends with the stop, also after a garbage collection, and closes its connection', async () => {
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
