import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Account,
  type Client,
  type ClientOptions,
  createClient,
  findAccount,
} from '../client/client.ts';
import type { SignedIn } from '../client/credentials.ts';
import { memoize } from '../platform/cache/caches.ts';
import type { Clock } from '../platform/clock.ts';
import { ReeveError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { ForgeState } from '../work/deliveries/breaker.ts';
import type { Metrics } from './dashboard/metrics.ts';

/** Longest wait for the forge before the receiver listens. */
const greetingMs = 5_000;

/** The connection to the forge, as the account that Reeve acts as. */
export interface ForgeLink {
  readonly client: Client;
  readonly account: () => Promise<Account>;
  /** Returns the name of the account. */
  readonly login: () => Promise<string>;
  /** Returns how many answers the forge has given so far, by which it shows that it works. */
  readonly answers: () => number;
  /** Returns the state of the forge. */
  readonly state: ForgeStateReader['state'];
  /** Ends every call that is under way, and refuses further ones. */
  halt(reason: unknown): void;
  /** Ends the effect of the signal that `openForgeLink` got. */
  ignoreSignal(): void;
}

/** Opens the connection. A forge that cannot be reached does not keep it from opening. */
export async function openForgeLink(options: {
  readonly forge: SignedIn;
  readonly allowAdmin: boolean;
  readonly concurrency: number;
  readonly metrics: Metrics;
  /** Halts the connection, with its reason. */
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
  readonly log: Log;
}): Promise<ForgeLink> {
  const { metrics, signal, concurrency, clock, log } = options;
  const forgeState = createForgeStateReader(() => clock.now());
  let answers = 0;
  const onRequest: ClientOptions['onRequest'] = (request) => {
    metrics.countRequest(request);
    forgeState.note(request.status);
    if (request.status !== undefined && request.status < 500 && request.status !== 401) answers += 1;
  };
  const halt = new AbortController();
  const client = createClient({ ...options.forge, log, onRequest, signal: halt.signal, concurrency });
  const account = memoize(() => findAccount(client, options));
  const haltStart = (): void => halt.abort(signal?.reason);
  signal?.throwIfAborted();
  signal?.addEventListener('abort', haltStart, { once: true });
  const login = await greet(account, log);
  signal?.throwIfAborted();
  return {
    client,
    account,
    login: async () => login ?? (await account()).login,
    answers: () => answers,
    state: (worker) => forgeState.state(worker),
    halt: (reason) => halt.abort(reason),
    ignoreSignal: () => signal?.removeEventListener('abort', haltStart),
  };
}

/**
 * Logs the account that Reeve acts as. Returns its name, or undefined where the forge cannot be asked now, or has not
 * answered within 5 s: until the receiver listens, every delivery is lost.
 */
async function greet(account: () => Promise<Account>, log: Log): Promise<string | undefined> {
  const asked = account().then(({ login }) => {
    log.info({ account: login }, `acting as @${login}; events by @${login} trigger nothing`);
    return login;
  });
  const answered = new AbortController();
  const late = sleep(greetingMs, undefined, { signal: answered.signal }).then(() => {
    log.warn({}, 'the forge has not answered yet; deliveries are stored and wait');
    return undefined;
  });
  try {
    return await Promise.race([asked, late]);
  } catch (error) {
    if (!(error instanceof ReeveError) || !error.retryable || error.code === 'stopped') throw error;
    log.warn({ error: error.message }, 'the forge cannot be asked now; deliveries are stored and wait');
    return undefined;
  } finally {
    answered.abort();
    // Nothing waits for the loser of the race; a later call gets the error by asking again.
    for (const lost of [asked, late]) lost.catch(() => {});
  }
}

/** Follows whether the forge accepts the credential, from the answers to all requests. */
interface ForgeStateReader {
  /** Notes the status of an answer. */
  note(status: number | undefined): void;
  /** Returns the state of the forge: what the worker knows of it, or else what the answers show. */
  state(worker: ForgeState): ForgeState;
}

/** Creates it: nothing is wrong yet. */
function createForgeStateReader(now: () => Date): ForgeStateReader {
  let refusedSince: Date | undefined;
  return {
    note(status) {
      if (status === 401) refusedSince ??= now();
      else if (status !== undefined && status < 500) refusedSince = undefined;
    },
    state(worker) {
      if (worker.state !== 'ok' || refusedSince === undefined) return worker;
      const reason = 'the forge answers 401: the credential is revoked, expired or wrong';
      return { state: 'refused', since: refusedSince, reason };
    },
  };
}
