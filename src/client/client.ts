import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { AnswerOf, AnyInput, InputOf, Operation } from '../contract/operation.ts';
import { operations } from '../contract/operations.ts';
import { memoize } from '../platform/cache/caches.ts';
import { systemClock } from '../platform/clock.ts';
import { messageOf, ReeveError } from '../platform/errors.ts';
import { type Log, silentLog } from '../platform/log.ts';
import type { Redact } from '../platform/redactor.ts';
import { mayWrite } from '../platform/write-gate.ts';
import { apiRoot, redirectOf, requestUrl } from './address.ts';
import { type Capabilities, capabilitiesOf, findCapabilities } from './capabilities.ts';
import {
  type AskAccount,
  type Credential,
  type CredentialGuard,
  type Credentials,
  createCredential,
} from './credentials.ts';
import { sendRequest } from './exchange.ts';
import {
  type ForgeAnswer,
  forgeError,
  forgeMessage,
  parseAnswer,
  stopped,
  unreachable,
  withoutSecrets,
} from './failure.ts';
import { createLimiter, type Limiter } from './limiter.ts';
import { normalizeAnswer } from './normalize.ts';
import { eachItem, eachPage, type ListPage } from './paging.ts';
import { type RequestList, RequestLog } from './request-log.ts';
import { forgetReads, readShared } from './shared-reads.ts';

/** One item of a list response. */
type ItemOf<O extends Operation> =
  NonNullable<AnswerOf<O>> extends readonly (infer I)[]
    ? I
    : NonNullable<AnswerOf<O>> extends { runners: readonly (infer I)[] }
      ? I
      : NonNullable<AnswerOf<O>> extends { workflow_runs: readonly (infer I)[] }
        ? I
        : NonNullable<AnswerOf<O>> extends { topics: readonly (infer I)[] }
          ? I
          : never;

/** Client of one forge. The credential is sent only in the `Authorization` header, and only to that forge. */
export interface Client {
  /** Sends one call and returns its response, parsed by the operation's schema. Rejects with a `forge-…` ReeveError. */
  call<O extends Operation>(operation: O, input: InputOf<O>): Promise<AnswerOf<O>>;
  /** Sends a call that is known only at run time (a change). Its body is validated strictly against the operation. */
  send(operation: Operation, input: AnyInput): Promise<unknown>;
  /** Yields the items of a paged list, page by page, in the forge's order. */
  items<O extends Operation>(operation: O, input: InputOf<O>): AsyncGenerator<ItemOf<O>>;
  /** Yields the pages of a paged list, from page `from` (default 1) on. */
  pages<O extends Operation>(
    operation: O,
    input: InputOf<O>,
    from?: number,
  ): AsyncGenerator<ListPage<ItemOf<O>>>;
  /** Number of requests, including retries and redirects. */
  readonly requests: number;
  /** Number of 403 and 404 responses: the object does not exist, or is not accessible to this account. */
  readonly denials: number;
  /** The first requests, each with its response, without secrets. */
  readonly requestList: RequestList;
  /**
   * Returns a client that shares everything with this one except the request count. With a signal, its calls end when
   * that signal is aborted, instead of this client's signal; `tries` sets the number of tries of a read.
   */
  counted(options?: CallOptions): Client;
  /**
   * Returns the forge's capabilities, cached for ten minutes, and read again after an outage, since the release may
   * have changed.
   */
  capabilities(): Promise<Capabilities>;
}

type CallOptions = {
  /** Maximum tries of a read; default 3. Writes are tried once: the queue plans them again. */
  readonly tries?: number;
  /** When aborted, ends the calls in progress and refuses further ones with `stopped`. */
  readonly signal?: AbortSignal | undefined;
};

/** Observes the requests that write. */
export type OnWrite = (
  operation: Operation,
  input: AnyInput,
) => Promise<((answer?: unknown, isRefused?: boolean) => Promise<void>) | undefined>;

export type ClientOptions = TransportOptions &
  CallOptions & {
    /** Absent: anonymous requests. */
    readonly credentials?: Credentials;
    /**
     * Called before each request that writes. The returned function is called with the response; without an argument if
     * there is no response; with `isRefused` for a 4xx, which has no effect.
     */
    readonly onWrite?: OnWrite | undefined;
    /** Reads the credentials again after the forge has refused them; undefined if they cannot be read. */
    readonly readCredentials?: () => Credentials | undefined;
    /** Decides whether credentials that were read again are used; default: they are. */
    readonly guard?: CredentialGuard;
  };

export function createClient(options: ClientOptions): Client {
  const credential = createCredential(options);
  const { redact } = credential;

  // Setup reports an address that does not look like a forge; other callers continue with the capabilities of Gitea.
  const findOut = (): Promise<Capabilities> =>
    findCapabilities(create(options)).catch((error: unknown) => {
      if (error instanceof ReeveError && error.code === 'settings') return capabilitiesOf('');
      throw error;
    });
  const capabilities = memoize(findOut, {
    maxAgeMs: 10 * 60_000,
    clock: systemClock,
  });
  const identity = randomUUID();
  // The forge may run another release after an outage.
  const ask = createTransport(options, {
    credential,
    signal: options.signal,
    onOutage: () => capabilities.forget(),
  });

  const create = ({ signal, tries = 3 }: CallOptions): Client => {
    const counts: RequestCounts = { requests: 0, denials: 0, log: new RequestLog(redact) };
    const attempts: Attempts = { tries, signal, counts };

    /** Every request goes through this function, so that no error contains our credential. */
    const call = async (operation: Operation, input: AnyInput) => {
      try {
        const answer = await ask(operation, input, attempts);
        return { answer, value: readAnswer(operation, answer, redact) };
      } catch (error) {
        throw withoutSecrets(error, redact);
      }
    };
    const sendOnce = async (operation: Operation, input: AnyInput): Promise<unknown> =>
      (await call(operation, input)).value;
    const send = async (operation: Operation, input: AnyInput): Promise<unknown> => {
      if (operation === operations.getRepository)
        return readShared(`${identity} ${JSON.stringify(input.params)}`, () => sendOnce(operation, input));
      if (operation.method === 'GET') return sendOnce(operation, input);
      forgetReads();
      const onAnswer = await options.onWrite?.(operation, input);
      try {
        const answer = await sendOnce(operation, input);
        await onAnswer?.(answer);
        return answer;
      } catch (error) {
        const status = error instanceof ReeveError ? error.status : undefined;
        await onAnswer?.(undefined, status !== undefined && status >= 400 && status < 500);
        throw error;
      } finally {
        forgetReads();
      }
    };
    const askPage = (operation: Operation) => (page: AnyInput) => call(operation, page);

    return {
      get requests() {
        return counts.requests;
      },
      get denials() {
        return counts.denials;
      },
      get requestList() {
        return counts.log.list();
      },
      // The operation determines the type of the response, and `readAnswer` has validated the response against its
      // schema.
      call: (operation, input) => send(operation, input as AnyInput) as Promise<never>,
      send,
      items: (operation, input) =>
        eachItem(operation, input as AnyInput, askPage(operation)) as AsyncGenerator<never>,
      pages: (operation, input, from) =>
        eachPage(operation, input as AnyInput, askPage(operation), from) as AsyncGenerator<never>,
      counted: (own) => create({ signal: own?.signal ?? signal, tries: own?.tries ?? tries }),
      capabilities,
    };
  };
  return create(options);
}

/** Request counters of a client, and its first requests. */
type RequestCounts = { requests: number; denials: number; readonly log: RequestLog };

/** Options of the tries of a call: maximum tries of a read, abort signal, request counters. */
type Attempts = {
  readonly tries: number;
  readonly signal: AbortSignal | undefined;
  readonly counts: RequestCounts;
};

type Sent = {
  readonly url: URL;
  readonly body: string | undefined;
  readonly attempt: number;
  /** Value of the header `Authorization`, if it is not that of the credential. */
  readonly authorization?: string;
};

/**
 * Sends a call until there is a response: retries reads, follows redirects of reads, and renews a refused credential.
 */
type TransportCall = (operation: Operation, input: AnyInput, attempts: Attempts) => Promise<ForgeAnswer>;

type TransportOptions = {
  /** URL of the forge, with or without `/api/v1`. */
  readonly url: string;
  readonly log?: Log;
  /** Timeout of one try in milliseconds, including the body; default 10,000. */
  readonly timeoutMs?: number;
  /** Maximum concurrent calls; default 8. */
  readonly concurrency?: number;
  /** Limiter shared by several clients; default: one for this client. */
  readonly limiter?: Limiter;
  /** Resolves after this time, or rejects when the signal is aborted. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<unknown>;
  /** Called for every HTTP request. */
  readonly onRequest?: ((request: ObservedRequest) => void) | undefined;
};

/** An HTTP request that has ended. */
type ObservedRequest = {
  readonly method: string;
  /** Absent if there was no response. */
  readonly status: number | undefined;
  readonly ms: number;
  /** Whether it tried a credential that is not in use, so that it says nothing about the one that is. */
  readonly isTrial: boolean;
};

type TransportParts = {
  readonly credential: Credential;
  /** Ends the requests that belong to no single call. */
  readonly signal: AbortSignal | undefined;
  /** Called after a request without a response. */
  readonly onOutage: () => void;
};

/** Creates the transport to one forge. All clients derived by `counted` share it. */
function createTransport(options: TransportOptions, parts: TransportParts): TransportCall {
  const root = apiRoot(options.url);
  const { credential } = parts;
  const limiter = options.limiter ?? createLimiter({ max: options.concurrency ?? 8 });
  const sleep = options.sleep ?? ((ms, signal) => wait(ms, undefined, signal ? { signal } : {}));
  const request = createRequest(options, { ...parts, limiter });

  const askAccount: AskAccount = async (authorization) => {
    const operation = operations.getSelf;
    const url = requestUrl(root, operation, {});
    const counts = { requests: 0, denials: 0, log: new RequestLog(credential.redact) };
    const sent = { url, body: undefined, attempt: 1, authorization };
    // The calls that wait for the credential share this request, so that the end of one of them does not abort it.
    const { signal } = parts;
    const answer = await limiter.run(() => request(operation, sent, { tries: 1, signal, counts }), signal);
    if (answer.status === 401) return undefined;
    if (answer.status !== 200) {
      const { redact } = credential;
      const where = `${operation.method} ${url.pathname}`;
      throw forgeError(where, answer.status, answer.text, answer.header('retry-after'), {
        redact,
        operation,
      });
    }
    return readAnswer(operation, answer, credential.redact) as AnswerOf<typeof operation>;
  };

  return async (operation, input, attempts) => {
    const { signal, tries } = attempts;
    // Nothing else notices that the file contains another credential if the forge still accepts the current one.
    if (credential.keptOut !== undefined)
      await credential.renew(credential.headers().authorization, askAccount).catch(() => {});
    if (operation.method !== 'GET') await mayWrite(signal);
    let url = requestUrl(root, operation, input);
    const where = `${operation.method} ${url.pathname}`;
    const body = encodeBody(operation, input);
    const mayRepeat = operation.method === 'GET';
    let isRenewed = false;
    for (let attempt = 1, hops = 0; ; ) {
      let failure: ReeveError;
      try {
        const used = credential.headers().authorization;
        const answer = await limiter.run(() => request(operation, { url, body, attempt }, attempts), signal);
        if (answer.status >= 200 && answer.status < 300) return answer;
        if (answer.status >= 300 && answer.status < 400) {
          url = redirectOf(answer, url, root, where, mayRepeat && hops < 5);
          hops += 1;
          continue;
        }
        // A refused request had no effect, so even a write may be repeated.
        const isRefused = isRefusedCredential(answer);
        if (isRefused && !isRenewed && (await credential.renew(used, askAccount))) {
          isRenewed = true;
          continue;
        }
        failure =
          isRefused && credential.keptOut !== undefined
            ? // Whatever the status: the work waits for the right credential.
              new ReeveError('forge-unauthorized', `${where}: ${credential.keptOut}`, { status: 401 })
            : forgeError(where, answer.status, answer.text, answer.header('retry-after'), {
                redact: credential.redact,
                operation,
              });
      } catch (cause) {
        if (signal?.aborted) throw stopped(where);
        failure = unreachable(where, cause);
      }
      if (!mayRepeat || !failure.retryable || attempt >= tries) throw failure;
      const pauseMs = failure.retryAfterMs ?? 100 * 4 ** (attempt - 1);
      // During a longer pause, the queue keeps the delivery.
      if (pauseMs > 5_000) throw failure;
      await sleep(pauseMs, signal).catch(() => {}); // Aborted: the next try reports it.
      attempt += 1;
    }
  };
}

/**
 * Returns whether the forge refused the credential, and another one may be accepted: it does not know the credential, or
 * the token lacks a scope.
 */
function isRefusedCredential({ status, text }: ForgeAnswer): boolean {
  return status === 401 || (status === 403 && /token does not have .{0,40}required scope/.test(text));
}

/** Creates the function that sends one HTTP request, whose body is encoded JSON. */
function createRequest(
  { log = silentLog, timeoutMs = 10_000, onRequest }: TransportOptions,
  {
    credential,
    limiter,
    onOutage,
  }: Pick<TransportParts, 'credential' | 'onOutage'> & { readonly limiter: Limiter },
): (operation: Operation, sent: Sent, attempts: Attempts) => Promise<ForgeAnswer> {
  return async (operation, { url, body, attempt, authorization }, { signal, counts }) => {
    counts.requests += 1;
    const where = `${operation.method} ${url.pathname}`;
    const started = performance.now();
    let overloaded = true;
    let status: number | undefined;
    let failure: string | undefined;
    try {
      const answer = await sendRequest({
        url,
        method: operation.method,
        where,
        headers: {
          accept: 'application/json',
          'user-agent': 'reeve',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(authorization === undefined ? credential.headers() : { authorization }),
        },
        body,
        timeoutMs,
        signal,
      });
      status = answer.status;
      if (status === 403 || status === 404) counts.denials += 1;
      overloaded = status === 429 || status === 503;
      if (status >= 400) failure = forgeMessage(answer.text, credential.redact);
      return answer;
    } catch (error) {
      if (!signal?.aborted) onOutage();
      failure = messageOf(error).replace(`${where}: `, '');
      throw error;
    } finally {
      const ms = performance.now() - started;
      if (!signal?.aborted) limiter.observe(ms, overloaded);
      counts.log.add({ method: operation.method, url, status, ms, attempt, error: failure });
      log.debug({ operation: operation.id, ms: Math.round(ms) }, 'asked the forge');
      onRequest?.({ method: operation.method, status, ms, isTrial: authorization !== undefined });
    }
  };
}

/**
 * Returns the body of a call as JSON, validated strictly against the operation; undefined for an operation without a
 * body.
 */
function encodeBody(operation: Operation, input: AnyInput): string | undefined {
  if (operation.body === undefined) return undefined;
  const checked = operation.body.safeParse(input.body ?? {});
  if (!checked.success) {
    const issue = checked.error.issues[0];
    throw new ReeveError(
      'internal',
      `${operation.id}: invalid request at ${issue?.path.join('.')}: ${issue?.message}`,
    );
  }
  return JSON.stringify(checked.data);
}

/** Returns a response parsed by the operation's schema. Throws `forge-unexpected` for another shape. */
function readAnswer(operation: Operation, answer: ForgeAnswer, redact: Redact): unknown {
  // 205 has a body that fetch does not return; callers that need it read the resource again.
  if (operation.response === undefined || answer.status === 205) return undefined;
  const where = `${operation.method} ${operation.path}`;
  const said = answer.status === 204 ? undefined : bodyOf(operation, answer, redact);
  const parsed = operation.response.safeParse(said);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new ReeveError(
    'forge-unexpected',
    `${where}: unexpected response at ${issue?.path.join('.')}: ${issue?.message}`,
  );
}

function bodyOf(operation: Operation, answer: ForgeAnswer, redact: Redact): unknown {
  if (operation.media === 'text') return answer.text;
  const where = `${operation.method} ${operation.path}`;
  return normalizeAnswer(operation, parseAnswer(answer.text, where, redact));
}

/** The bot's account. */
export type Account = { readonly id: number; readonly login: string };

/**
 * Returns the account of the credential. A site administrator is refused unless the operator allows it: a stolen token
 * or a wrong rule could otherwise change everything on the forge.
 */
export async function findAccount(client: Client, options: { allowAdmin: boolean }): Promise<Account> {
  const self = await client.call(operations.getSelf, {});
  if (self.is_admin && !options.allowAdmin) {
    throw new ReeveError(
      'settings',
      `@${self.login} is a site administrator: use an account with only the access that your rules need, or set allow-admin: true in the operator file`,
    );
  }
  return { id: self.id, login: self.login };
}
