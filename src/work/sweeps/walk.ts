import { createHash } from 'node:crypto';
import type { Client } from '../../client/client.ts';
import { makeItemRun } from '../../engine/make-run.ts';
import type { Ran } from '../../engine/run.ts';
import type { RunContext } from '../../engine/run-context.ts';
import { type ErrorCode, messageOf, ReeveError } from '../../platform/errors.ts';
import type { RuleSet } from '../../rules/rule.ts';
import type { Target } from './targets/repositories.ts';

/** Number of items that are evaluated concurrently. The client's limiter bounds the requests. */
export const itemsAtOnce = 8;

/** Options for the runs of items. */
type ItemRequest = {
  /** The slot and the job of the sweep that the item belongs to, and the entry point that requested it. */
  readonly slot?: string | undefined;
  readonly job?: string | undefined;
  readonly door: 'cron' | 'cli' | 'ci';
  readonly mode: 'enforce' | 'plan';
  readonly rules: RuleSet;
  /** Waits for the given time; rejects if the sweep must stop. */
  readonly pause: (ms: number) => Promise<unknown>;
  /** When aborted, ends pending calls and prevents further changes. */
  readonly signal: AbortSignal;
};

/** Runs an item against the rules. If the forge requests a pause, waits as long as requested and tries again. */
export async function runItem(target: Target, request: ItemRequest, context: RunContext): Promise<Ran> {
  for (let pauses = 0; ; pauses += 1) {
    const ran = await runOne(target, request, context);
    const pauseMs = pauseAfter429(ran.retry, pauses);
    if (pauseMs === undefined) return ran;
    await request.pause(pauseMs);
  }
}

async function runOne(
  { key, subject, item: value }: Target,
  { slot, job, door, mode, rules, signal }: ItemRequest,
  context: RunContext,
): Promise<Ran> {
  // The instant of the run is part of its id.
  const at = context.clock.now();
  const id = slot === undefined ? undefined : runIdOf(slot, key, at);
  const item = { key, subject, value, slot, at, isHasty: true };
  return makeItemRun(item, { id, mode, door, delivery: job, rules, signal }, context).catch(
    (error: unknown) => {
      throw new ReeveError('internal', `${key}: ${messageOf(error)}`, { cause: error });
    },
  );
}

/** Returns a unique run id in the usual form. */
function runIdOf(slot: string, item: string, now: Date): string {
  const hex = createHash('sha256').update(`${slot}\n${item}\n${now.toISOString()}`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}

/** Maximum number of pauses that the forge may request (429) for one request or one item. */
const maxPauses = 3;
/** Longest pause. A longer one is left to the queue, which continues at the checkpoint. */
const maxPauseMs = 300_000;

/**
 * Returns the delay before the next try; undefined if the error requests no pause, or if the maximum number of pauses
 * is reached.
 */
function pauseAfter429(error: unknown, pauses: number): number | undefined {
  if (!(error instanceof ReeveError) || error.code !== 'forge-throttled' || pauses >= maxPauses)
    return undefined;
  const pauseMs = error.retryAfterMs ?? 1_000;
  return pauseMs > maxPauseMs ? undefined : pauseMs;
}

/**
 * Returns a client that, on 429, waits as long as the forge requests and then requests the same page again, so that a
 * list continues at its position. `pause` resolves after the time, and rejects if the caller stops.
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
          // A generator that has thrown is finished.
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
    // A write is planned again from fresh reads, and never simply repeated.
    send: (operation, input) => client.send(operation, input),
    pages,
    async *items(operation, input) {
      for await (const { items } of pages(operation, input)) yield* items;
    },
    counted: (options) => createWaitingClient(client.counted(options), pause),
    capabilities: () => client.capabilities(),
  };
}

/** Number of consecutive items with a forge failure after which the sweep ends. */
const maxFailedInARow = 10;
/** Failures that would also affect the next item. */
const hopeless: ReadonlySet<ErrorCode> = new Set(['forge-unreachable', 'forge-unauthorized', 'forge-junk']);

/** Detects a failing forge from the results of a sweep's items. */
export class FailureWatch {
  #inARow = 0;

  /** Records the result of an item. Throws the failure if too many consecutive items have failed. */
  note(failure: ReeveError | undefined): void {
    this.#inARow = failure === undefined ? 0 : this.#inARow + 1;
    // After several consecutive failures, waiting is better than requesting the next item.
    if (failure && (hopeless.has(failure.code) || this.#inARow >= maxFailedInARow)) throw failure;
  }
}

/**
 * Processes all items, several concurrently. The first error ends the processing, after the work that was already
 * started has ended.
 */
export async function mapConcurrently<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  let failure: { readonly error: unknown } | undefined;
  const hand = async (): Promise<void> => {
    for (const item of waiting) {
      if (failure) return;
      try {
        await work(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, hand));
  if (failure) throw failure.error;
}
