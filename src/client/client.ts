import type { AnswerOf, AnyInput, InputOf, Operation } from '../contract/operation.ts';
import { memoize } from '../platform/cache/memoize.ts';
import { systemClock } from '../platform/clock.ts';
import { ReeveError } from '../platform/errors.ts';
import { type Capabilities, capabilitiesOf, findCapabilities } from './capabilities.ts';
import { createCredential } from './credential.ts';
import type { Credentials } from './credentials.ts';
import { withoutSecrets } from './failure.ts';
import { eachItem, eachPage, type ListPage } from './paging.ts';
import { type RequestList, RequestLog } from './request-log.ts';
import { readAnswer } from './shape.ts';
import { type Attempts, createTransport, type RequestCounts, type TransportOptions } from './transport.ts';

/** One item of a list answer. */
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
  /** The first requests so far, each with its answer, without secrets. */
  readonly requestList: RequestList;
  /**
   * Returns a client that shares everything with this one except the request count. With a signal, its calls end when
   * that signal is aborted, instead of this client's signal; `tries` sets the number of tries of a read.
   */
  counted(options?: { readonly signal?: AbortSignal | undefined; readonly tries?: number }): Client;
  /** Returns the forge's capabilities, cached for ten minutes, and read again after an outage: the release may have changed. */
  capabilities(): Promise<Capabilities>;
}

export type ClientOptions = TransportOptions & {
  /** Absent: anonymous requests. */
  readonly credentials?: Credentials;
  /** Reads the credentials again after the forge has refused them; undefined if they cannot be read now. */
  readonly readCredentials?: () => Credentials | undefined;
  /** Maximum tries of a read; default 3. Writes are tried once: the queue plans them again. */
  readonly tries?: number;
  /** When aborted, ends the calls in progress and refuses further ones with `stopped`. */
  readonly signal?: AbortSignal | undefined;
};

export function createClient(options: ClientOptions): Client {
  const credential = createCredential(options);
  const { redact } = credential;

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
  // The forge may run another release after an outage.
  const ask = createTransport(options, { credential, onOutage: () => capabilities.forget() });

  const create = ({ signal, tries = 3 }: Pick<ClientOptions, 'signal' | 'tries'>): Client => {
    const counts: RequestCounts = { requests: 0, denials: 0, log: new RequestLog(redact) };
    const attempts: Attempts = { tries, signal, counts };

    /** Every request passes here, so that no error contains our credential. */
    const call = async (operation: Operation, input: AnyInput) => {
      try {
        const answer = await ask(operation, input, attempts);
        return { answer, value: readAnswer(operation, answer, redact) };
      } catch (error) {
        throw withoutSecrets(error, redact);
      }
    };
    const send = async (operation: Operation, input: AnyInput): Promise<unknown> =>
      (await call(operation, input)).value;
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
      // The row determines the answer's type, and `readAnswer` has validated the answer against the row's shape.
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
