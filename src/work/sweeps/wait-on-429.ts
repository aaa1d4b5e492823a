import type { Client } from '../../client/client.ts';
import { ReeveError } from '../../platform/errors.ts';

/** Waits for a forge that asks for a pause (429), for one request or one item. */
const maxPauses = 3;
/** A longer one is left to the queue, which goes on at the checkpoint. */
const maxPauseMs = 300_000;

/** Returns how long to wait before the next try, or undefined where the error asks for no pause or enough were made. */
export function pauseAfter429(error: unknown, pauses: number): number | undefined {
  if (!(error instanceof ReeveError) || error.code !== 'forge-throttled' || pauses >= maxPauses)
    return undefined;
  const pauseMs = error.retryAfterMs ?? 1_000;
  return pauseMs > maxPauseMs ? undefined : pauseMs;
}

/**
 * Returns a client that waits as long as the forge asks for when it says "too many", and asks for the same page again:
 * a list goes on where it was. `pause` resolves when the time has passed, and rejects where the caller stops.
 */
export function createWaitingClient(client: Client, pause: (ms: number) => Promise<unknown>): Client {
  const patiently = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    for (let pauses = 0; ; pauses += 1) {
      try {
        return await ask();
      } catch (error) {
        const pauseMs = pauseAfter429(error, pauses);
        if (pauseMs === undefined) throw error;
        await pause(pauseMs);
      }
    }
  };

  const pages: Client['pages'] = async function* (operation, input, from = 1) {
    let next = from;
    let source = client.pages(operation, input, next);
    for (;;) {
      const step = await patiently(async () => {
        try {
          return await source.next();
        } catch (error) {
          // A generator that has thrown is at its end.
          source = client.pages(operation, input, next);
          throw error;
        }
      });
      if (step.done) return;
      next = step.value.page + 1;
      yield step.value;
    }
  };

  return {
    get requests() {
      return client.requests;
    },
    get denials() {
      return client.denials;
    },
    get requestList() {
      return client.requestList;
    },
    call: (operation, input) => patiently(() => client.call(operation, input)),
    // A write is planned again from fresh reads, never just repeated.
    send: (operation, input) => client.send(operation, input),
    pages,
    async *items(operation, input) {
      for await (const { items } of pages(operation, input)) yield* items;
    },
    counted: (options) => createWaitingClient(client.counted(options), pause),
    capabilities: () => client.capabilities(),
  };
}
