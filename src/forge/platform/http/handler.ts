import type { IncomingHttpHeaders } from 'node:http';
import type { Operation, ReplyOf } from '../../../contract/operation.ts';
import type { OperationName, operations } from '../../../contract/operations.ts';
import type { Actor } from '../access/actor.ts';
import type { RepositoryTarget, TeamTarget } from '../access/targets.ts';
import type { ForgeContext } from '../context.ts';
import type { PageRange } from '../paging.ts';
import type { UserRow } from '../rows.ts';
import type { Upload } from './body.ts';

/** What a handler may say beside its answer. */
export interface Reply {
  /** Another status than the row's `success`. */
  status(code: number): void;
  header(name: string, value: string): void;
  /** A header that scripts of other sites may read, too. After `total`, which does the same for its headers. */
  expose(name: string, value: string): void;
  /** Length of the whole list, for the row's kind of paging. */
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

/** The caller may be anonymous: reading public data. */
type CallerOf<O extends Operation> = O extends { access: 'anyone' }
  ? UserRow | undefined
  : O extends { access: 'reader'; method: 'GET' }
    ? UserRow | undefined
    : UserRow;

type BoundValue<S> = S extends { _zod: { output: infer Value } } ? Value : undefined;

/** One checked and bound request, as the row describes it. */
export type HandlerCall<O extends Operation = Operation> = TargetOf<O['path']> & {
  readonly params: BoundValue<O['params']>;
  readonly query: O extends { query: infer Q } ? BoundValue<Q> : undefined;
  readonly body: O extends { body: infer B } ? BoundValue<B> : undefined;
  /** The account that asks. */
  readonly caller: CallerOf<O>;
  readonly actor: Actor;
  readonly page: PageRange;
  readonly context: ForgeContext;
  /** Reads the file that came with the request; for rows with `upload`. */
  readonly upload: O extends { upload: string } ? () => Promise<Upload> : undefined;
  readonly reply: Reply;
  /** Headers of the request, for files: which part is asked for, and what the client has already. */
  readonly headers: IncomingHttpHeaders;
};

/** Answers one operation, given a checked and bound request. Throws `ForgeProblem` to refuse. */
export type Handler<O extends Operation> = (call: HandlerCall<O>) => ReplyOf<O> | Promise<ReplyOf<O>>;

/** Answers by the name of their operation. */
export type Handlers = { readonly [Name in OperationName]?: Handler<(typeof operations)[Name]> };

/** Returns its argument; each function in it is typed by the contract's row of the same name. */
export function defineHandlers(handlers: Handlers): Handlers {
  return handlers;
}
