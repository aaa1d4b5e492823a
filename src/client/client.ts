import { setTimeout as wait } from 'node:timers/promises';
import { memoize } from '../cache/memoize.ts';
import { systemClock } from '../clock.ts';
import {
  type AnswerOf,
  type AnyInput,
  fillPath,
  type InputOf,
  type Operation,
} from '../contract/operation.ts';
import { ReeveError } from '../errors.ts';
import { type Log, silentLog } from '../log.ts';
import { type Answer, parseAnswer } from './answer.ts';
import { type Capabilities, capabilitiesOf, findCapabilities } from './capabilities.ts';
import { createCredential } from './credential.ts';
import type { Credentials } from './credentials.ts';
import { exchange } from './exchange.ts';
import { failureOf, stopped, unreachable, withoutSecrets } from './failure.ts';
import { createLimiter, type Limiter } from './limiter.ts';
import { normalizeAnswer } from './normalize.ts';
import { eachItem, eachPage, type ListPage } from './paging.ts';

/** One item of a list answer. */
type ItemOf<O extends Operation> =
  NonNullable<AnswerOf<O>> extends readonly (infer I)[]
    ? I
    : NonNullable<AnswerOf<O>> extends { runners: readonly (infer I)[] }
      ? I
      : never;

/** Client of one forge. The credential is sent only in the `Authorization` header, and only to that forge. */
export interface Client {
  /** Sends one call and returns its answer, parsed by the row's shape. Rejects with a `forge-…` ReeveError. */
  call<O extends Operation>(operation: O, input: InputOf<O>): Promise<AnswerOf<O>>;
  /** Sends a call that is known only at run time (a change). Its body is validated strictly against the row. */
  send(operation: Operation, input: AnyInput): Promise<unknown>;
  /** Yields the items of a paged list, page by page, in the forge's order. */
  items<O extends Operation>(operation: O, input: InputOf<O>): AsyncGenerator<ItemOf<O>>;
  /** Yields the pages of a paged list, from page `from` (default 1) on. */
  pages<O extends Operation>(
    operation: O,
    input: InputOf<O>,
    from?: number,
  ): AsyncGenerator<ListPage<ItemOf<O>>>;
  /** Requests sent so far, retries and redirects included. */
  readonly requests: number;
  /** Number of 403 and 404 answers so far: the object does not exist, or is not accessible to this account. */
  readonly denials: number;
  /**
   * Returns a client that shares everything with this one except the request count. With a signal, its calls end when
   * that signal is aborted, instead of this client's signal; `tries` sets the number of tries of a read.
   */
  counted(options?: { readonly signal?: AbortSignal | undefined; readonly tries?: number }): Client;
  /** Returns the forge's capabilities, cached for ten minutes, and read again after an outage: the release may have changed. */
  capabilities(): Promise<Capabilities>;
}

export type ClientOptions = {
  /** URL of the forge, with or without `/api/v1`. */
  readonly url: string;
  /** Absent: anonymous requests. */
  readonly credentials?: Credentials;
  /** Reads the credentials again after the forge has refused them; undefined if they cannot be read now. */
  readonly readCredentials?: () => Credentials | undefined;
  readonly log?: Log;
  /** Timeout of one try in milliseconds, including the body; default 10,000. */
  readonly timeoutMs?: number;
  /** Maximum tries of a read; default 3. Writes are tried once: the queue plans them again. */
  readonly tries?: number;
  /** Maximum concurrent calls; default 8. */
  readonly concurrency?: number;
  /** Limiter shared by several clients; default: one for this client. */
  readonly limiter?: Limiter;
  /** When aborted, ends the calls in progress and refuses further ones with `stopped`. */
  readonly signal?: AbortSignal | undefined;
  /** Resolves after this time, or rejects when the signal is aborted. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<unknown>;
  /** Called for every HTTP request; without a status if there was no answer. */
  readonly onRequest?:
    | ((request: { method: string; status: number | undefined; ms: number }) => void)
    | undefined;
};

/** Returns the base URL of all paths, ending in `/api/v1`. Throws `settings` if it is not an http URL. */
export function apiRoot(url: string): URL {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch (cause) {
    throw new ReeveError('settings', `FORGE_URL is not a URL: ${url}`, { cause });
  }
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw new ReeveError(
      'settings',
      `FORGE_URL must begin with http:// or https://, not ${parsed.protocol}//`,
    );
  }
  if (parsed.username || parsed.password || parsed.search) {
    throw new ReeveError('settings', 'FORGE_URL must not hold credentials or a query; use FORGE_TOKEN');
  }
  const path = parsed.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  return new URL(`${path}/api/v1`, parsed.origin);
}

export function createClient(options: ClientOptions): Client {
  const root = apiRoot(options.url);
  const credential = createCredential(options);
  const { redact } = credential;
  const limiter = options.limiter ?? createLimiter({ max: options.concurrency ?? 8 });
  const log = options.log ?? silentLog;
  const sleep = options.sleep ?? ((ms, signal) => wait(ms, undefined, signal ? { signal } : {}));
  const timeoutMs = options.timeoutMs ?? 10_000;

  // Setup must report that there is no forge; other callers continue with the capabilities of the baseline.
  const findOut = (): Promise<Capabilities> =>
    findCapabilities(create(options)).catch((error: unknown) => {
      if (error instanceof ReeveError && error.code === 'settings') return capabilitiesOf('');
      throw error;
    });
  const capabilities = memoize(findOut, {
    maxAgeMs: 10 * 60_000,
    clock: systemClock,
  });

  const create = ({ signal, tries = 3 }: Pick<ClientOptions, 'signal' | 'tries'>): Client => {
    let requests = 0;
    let denials = 0;

    /** Sends one HTTP request; the `bytes` of a body are encoded JSON. */
    const request = async (operation: Operation, url: URL, body: string | undefined): Promise<Answer> => {
      requests += 1;
      const where = `${operation.method} ${url.pathname}`;
      const started = performance.now();
      let overloaded = true;
      let status: number | undefined;
      try {
        const answer = await exchange({
          url,
          method: operation.method,
          where,
          headers: {
            accept: 'application/json',
            'user-agent': 'reeve',
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...credential.headers(),
          },
          body,
          timeoutMs,
          signal,
        });
        status = answer.status;
        if (status === 403 || status === 404) denials += 1;
        overloaded = status === 429 || status === 503;
        return answer;
      } catch (error) {
        // The forge may run another release after an outage.
        if (!signal?.aborted) capabilities.forget();
        throw error;
      } finally {
        const ms = performance.now() - started;
        if (!signal?.aborted) limiter.observe(ms, overloaded);
        log.debug({ operation: operation.id, ms: Math.round(ms) }, 'asked the forge');
        options.onRequest?.({ method: operation.method, status, ms });
      }
    };

    const ask = async (operation: Operation, input: AnyInput): Promise<Answer> => {
      let url = addressOf(root, operation, input);
      const where = `${operation.method} ${url.pathname}`;
      const body = bodyOf(operation, input);
      const mayRepeat = operation.method === 'GET';
      let isRenewed = false;
      for (let attempt = 1, hops = 0; ; ) {
        let failure: ReeveError;
        try {
          const used = credential.headers().authorization;
          const answer = await limiter.run(() => request(operation, url, body), signal);
          if (answer.status >= 200 && answer.status < 300) return answer;
          if (answer.status >= 300 && answer.status < 400) {
            url = targetOf(answer, url, root, where, mayRepeat && hops < 5);
            hops += 1;
            continue;
          }
          // A refused request had no effect, so it may be repeated, even a write.
          if (answer.status === 401 && !isRenewed && credential.renew(used)) {
            isRenewed = true;
            continue;
          }
          failure = failureOf(where, answer.status, answer.text, answer.headers.get('retry-after'), redact);
        } catch (cause) {
          if (signal?.aborted) throw stopped(where);
          failure = unreachable(where, cause);
        }
        if (!mayRepeat || !failure.retryable || attempt >= tries) throw failure;
        const pauseMs = failure.retryAfterMs ?? 100 * 4 ** (attempt - 1);
        // For a longer pause, the queue keeps the delivery meanwhile.
        if (pauseMs > 5_000) throw failure;
        await sleep(pauseMs, signal).catch(() => {}); // Aborted: the next try says so.
        attempt += 1;
      }
    };

    const read = (operation: Operation, answer: Answer): unknown => {
      // 205 has a body that fetch does not return; callers that need it read the resource again.
      if (operation.response === undefined || answer.status === 205) return undefined;
      const where = `${operation.method} ${operation.path}`;
      const said = operation.media === 'text' ? answer.text : parseAnswer(answer.text, where, redact);
      const parsed = operation.response.safeParse(normalizeAnswer(operation, said));
      if (parsed.success) return parsed.data;
      const issue = parsed.error.issues[0];
      throw new ReeveError(
        'forge-unexpected',
        `${where}: unexpected answer at ${issue?.path.join('.')}: ${issue?.message}`,
      );
    };

    /** Every request passes here, so that no error contains our credential. */
    const call = async (operation: Operation, input: AnyInput) => {
      try {
        const answer = await ask(operation, input);
        return { answer, value: read(operation, answer) };
      } catch (error) {
        throw withoutSecrets(error, redact);
      }
    };
    const send = async (operation: Operation, input: AnyInput): Promise<unknown> =>
      (await call(operation, input)).value;
    const askPage = (operation: Operation) => (page: AnyInput) => call(operation, page);

    return {
      get requests() {
        return requests;
      },
      get denials() {
        return denials;
      },
      // The row determines the answer's type, and `read` has validated the answer against the row's shape.
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

function addressOf(root: URL, operation: Operation, input: AnyInput): URL {
  const url = new URL(root.pathname + fillPath(operation, input.params), root);
  for (const [name, value] of Object.entries(input.query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) url.searchParams.append(name, String(one));
    }
  }
  return url;
}

function bodyOf(operation: Operation, input: AnyInput): string | undefined {
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

/** Returns the target of a redirect that may be followed: only for reads, and only within the same forge. */
function targetOf(answer: Answer, from: URL, root: URL, where: string, mayFollow: boolean): URL {
  const location = answer.headers.get('location');
  const target = location === null ? undefined : new URL(location, from);
  if (
    target === undefined ||
    !mayFollow ||
    target.origin !== root.origin ||
    !target.pathname.startsWith(root.pathname)
  ) {
    const to =
      target === undefined ? 'nowhere' : target.origin === root.origin ? target.pathname : target.origin;
    throw new ReeveError('forge-moved', `${where}: moved to ${to}; nothing was sent there`, {
      status: answer.status,
    });
  }
  return target;
}
