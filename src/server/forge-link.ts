import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Account,
  type Client,
  type ClientOptions,
  createClient,
  findAccount,
  type OnWrite,
} from '../client/client.ts';
import type { Objection, SignedIn } from '../client/credentials.ts';
import type { User } from '../contract/resources/users.ts';
import { type OwnEvents, ownEventsText } from '../engine/bounds/own-writes.ts';
import { memoize } from '../platform/cache/caches.ts';
import type { Clock } from '../platform/clock.ts';
import { ReeveError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { ForgeState } from '../work/deliveries/breaker.ts';
import type { Metrics } from './dashboard/metrics.ts';
import { nameOfAccount, type ServerAccount } from './server-account.ts';

/** Maximum wait for the forge before the receiver listens. */
const greetingMs = 5_000;

/** The connection to the forge with Reeve's account. */
export interface ForgeLink {
  readonly client: Client;
  readonly account: () => Promise<Account>;
  /** Returns the name of the account. */
  readonly login: () => Promise<string>;
  /** The account, if the forge was available at the start. */
  readonly greeted: Account | undefined;
  /** The error with which the forge refused the credential at the start. */
  readonly refusal: ReeveError | undefined;
  /**
   * Permits reading the credential again, which must then be one of the account with which the connection was opened, or
   * of this one if the forge has not confirmed an account yet.
   */
  expect(remembered: ServerAccount | undefined): void;
  /** Returns the number of responses so far that show that the forge works. */
  readonly answers: () => number;
  /** Returns the state of the forge. */
  readonly state: ForgeStateReader['state'];
  /** Aborts all calls in progress and refuses further ones. */
  halt(reason: unknown): void;
  /** Ignores the signal given to `openForgeLink` from now on. */
  ignoreSignal(): void;
}

/** Opens the connection, even if the forge is unreachable or refuses the credential. */
export async function openForgeLink(options: {
  readonly forge: SignedIn;
  readonly allowAdmin: boolean;
  readonly concurrency: number;
  readonly metrics: Metrics;
  /** Observes the requests that write. */
  readonly onWrite: OnWrite;
  /** See `ServerOptions`. */
  readonly own: OwnEvents;
  /** When aborted, halts the connection with the same reason. */
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
  readonly log: Log;
}): Promise<ForgeLink> {
  const { metrics, signal, concurrency, clock, log } = options;
  const forgeState = createForgeStateReader(() => clock.now());
  let answers = 0;
  /** The account whose credentials may be used; undefined until the forge, or the store, has told it. */
  let expected: ServerAccount | undefined;
  // The credential was read just before. Until the store has been asked for the account, any would be accepted.
  let mayRead = false;
  const onRequest: ClientOptions['onRequest'] = (request) => {
    metrics.countRequest(request);
    if (request.isTrial) return;
    forgeState.note(request.status);
    if (request.status !== undefined && request.status < 500 && request.status !== 401) answers += 1;
  };
  const halt = new AbortController();
  const { readCredentials } = options.forge;
  const client = createClient({
    ...options.forge,
    ...(readCredentials && { readCredentials: () => (mayRead ? readCredentials() : undefined) }),
    guard: {
      objectTo: (self) => objectTo(self, expected, options.allowAdmin),
      onKeptOut: (reason) => forgeState.keepOut(reason),
    },
    log,
    onRequest,
    onWrite: options.onWrite,
    signal: halt.signal,
    concurrency,
  });
  const account = memoize(async () => {
    const found = await findAccount(client, options);
    expected = found;
    return found;
  });
  const haltStart = (): void => halt.abort(signal?.reason);
  signal?.throwIfAborted();
  signal?.addEventListener('abort', haltStart, { once: true });
  const greeted = await greet(account, options);
  signal?.throwIfAborted();
  const refusal = greeted instanceof ReeveError ? greeted : undefined;
  const known = greeted instanceof ReeveError ? undefined : greeted;
  return {
    client,
    account,
    greeted: known,
    refusal,
    login: async () => (known ?? (await account())).login,
    expect(remembered) {
      expected ??= remembered;
      mayRead = true;
    },
    answers: () => answers,
    state: (worker) => forgeState.state(worker),
    halt: (reason) => halt.abort(reason),
    ignoreSignal: () => signal?.removeEventListener('abort', haltStart),
  };
}

/**
 * Returns why a credential of this account must not replace the one of the expected account: anyone who can write the file
 * could otherwise choose as whom Reeve acts, and the rights that this gives to every rule.
 */
function objectTo(
  { id, login, is_admin }: User,
  expected: ServerAccount | undefined,
  allowAdmin: boolean,
): Objection | undefined {
  const isOther = expected !== undefined && expected.id !== id;
  const isForbidden = is_admin === true && !allowAdmin;
  if (!isOther && !isForbidden) return undefined;
  const self = expected === undefined ? 'an account' : nameOfAccount(expected);
  const whose = isForbidden ? `@${login}, who is a site administrator` : `@${login}`;
  return {
    reason: `the token file contains a token of ${whose}, which is not used${isOther ? `: Reeve acts as ${self}` : ''}`,
    remedy: isOther
      ? `write a token of ${self} to the token file, which is used without a restart; to act as @${login} from now on, start Reeve again`
      : 'use an account with only the access that your rules need, or set allow-admin: true in the operator file and start Reeve again',
  };
}

/**
 * Logs Reeve's account. Returns it, undefined if the forge is not available within 5 s, or the error if the forge
 * refuses the credential. The wait is limited because the receiver starts listening only afterwards, and deliveries
 * sent before that are lost.
 */
async function greet(
  account: () => Promise<Account>,
  { log, own }: { readonly log: Log; readonly own: OwnEvents },
): Promise<Account | ReeveError | undefined> {
  const asked = account().then((self) => {
    const { login } = self;
    log.info({ account: login, own }, `acting as @${login}; ${ownEventsText(own, login)}`);
    return self;
  });
  const answered = new AbortController();
  const late = sleep(greetingMs, undefined, { signal: answered.signal }).then(() => {
    log.warn({}, 'the forge has not responded yet; deliveries are stored until it does');
    return undefined;
  });
  try {
    return await Promise.race([asked, late]);
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'forge-unauthorized') return error;
    if (!(error instanceof ReeveError) || !error.retryable || error.code === 'stopped') throw error;
    log.warn(
      { error: error.message },
      'the forge is unavailable; deliveries are stored until it is available',
    );
    return undefined;
  } finally {
    answered.abort();
    // The promise that loses the race is not awaited. A later call repeats the request and gets the error.
    for (const lost of [asked, late]) lost.catch(() => {});
  }
}

/** Tracks whether the forge accepts the credential, based on the responses to all requests. */
interface ForgeStateReader {
  /** Records the status of a response. */
  note(status: number | undefined): void;
  /** Records why the credential in the file is not used; undefined if it is. */
  keepOut(reason: string | undefined): void;
  /**
   * Returns the state of the forge: the worker's state unless that is `ok`, otherwise the state that the responses
   * show.
   */
  state(worker: ForgeState): ForgeState;
}

/** Creates a reader whose initial state is healthy. */
function createForgeStateReader(now: () => Date): ForgeStateReader {
  let refusedSince: Date | undefined;
  let keptOut: { readonly since: Date; readonly reason: string } | undefined;
  return {
    note(status) {
      if (status === 401) refusedSince ??= now();
      else if (status !== undefined && status < 500) refusedSince = undefined;
    },
    keepOut(reason) {
      keptOut = reason === undefined ? undefined : { since: keptOut?.since ?? now(), reason };
    },
    state(worker) {
      // This is why nothing works, also while the worker still has the reason from before.
      if (keptOut !== undefined) return { state: 'refused', ...keptOut };
      if (worker.state !== 'ok' || refusedSince === undefined) return worker;
      const reason = 'the forge answers 401: the credential is revoked, expired or wrong';
      return { state: 'refused', since: refusedSince, reason };
    },
  };
}
