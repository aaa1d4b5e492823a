import type { IncomingHttpHeaders } from 'node:http';
import type { Operation, ReplyOf } from '../../../contract/operation.ts';
import type { OperationName, operations } from '../../../contract/operations.ts';
import type { Actor } from '../access/actor.ts';
import type { RepositoryTarget, TeamTarget } from '../access/targets.ts';
import type { ForgeContext } from '../context.ts';
import type { PageRange } from '../paging.ts';
import type { UserRow } from '../rows.ts';
import type { Upload } from './body.ts';

/** Response settings that a handler can make in addition to its result. */
export interface Reply {
  /** Sets a status other than the operation's `success`. */
  status(code: number): void;
  header(name: string, value: string): void;
  /**
   * Adds a header and exposes it to scripts of other sites. Call it after `total`, which overwrites the list of exposed
   * headers.
   */
  expose(name: string, value: string): void;
  /** Sets the length of the whole list. The paging of the operation determines the headers that report it. */
  total(count: number): void;
}

type TargetOf<Path extends string> = Path extends `${string}{owner}/{repo}${string}`
  ? RepositoryTarget
  : Path extends `/${'org' | 'orgs'}/{org}${string}`
    ? { readonly organization: UserRow }
    : Path extends `${'' | '/admin'}/users/{username}${string}`
      ? { readonly account: UserRow }
      : Path extends `/teams/{id}${string}`
        ? TeamTarget
        : unknown;

/** The caller may be anonymous when reading public data. */
type CallerOf<O extends Operation> = O extends { access: 'anyone' }
  ? UserRow | undefined
  : O extends { access: 'reader'; method: 'GET' }
    ? UserRow | undefined
    : UserRow;

type BoundValue<S> = S extends { _zod: { output: infer Value } } ? Value : undefined;

/** One checked and bound request of an operation. */
export type HandlerCall<O extends Operation = Operation> = TargetOf<O['path']> & {
  readonly params: BoundValue<O['params']>;
  readonly query: O extends { query: infer Q } ? BoundValue<Q> : undefined;
  readonly body: O extends { body: infer B } ? BoundValue<B> : undefined;
  /** The calling account. */
  readonly caller: CallerOf<O>;
  readonly actor: Actor;
  readonly page: PageRange;
  readonly context: ForgeContext;
  /** Reads the uploaded file; for operations with `upload`. */
  readonly upload: O extends { upload: string } ? () => Promise<Upload> : undefined;
  readonly reply: Reply;
  /** Request headers, needed for files: requested range and cache validators. */
  readonly headers: IncomingHttpHeaders;
};

/** Handles one operation, given a checked and bound request. Throws `ForgeProblem` to refuse the request. */
export type Handler<O extends Operation> = (call: HandlerCall<O>) => ReplyOf<O> | Promise<ReplyOf<O>>;

/** Handlers by the name of their operation. */
export type Handlers = { readonly [Name in OperationName]?: Handler<(typeof operations)[Name]> };

/** Returns its argument; the contract's operation of the same name determines the type of each function. */
export function defineHandlers(handlers: Handlers): Handlers {
  return handlers;
}
