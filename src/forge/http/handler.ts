import type { Operation, ReplyOf } from '../../contract/operation.ts';
import type { OperationName, operations } from '../../contract/operations.ts';
import type { Actor } from '../access/actor.ts';
import type { RepositoryTarget, TeamTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import type { Page } from '../core/paging.ts';
import type { UserRow } from '../core/rows.ts';
import type { Upload } from './uploads.ts';

/** What a handler may say beside its answer. */
export interface Reply {
  /** Another status than the row's `success`. */
  status(code: number): void;
  header(name: string, value: string): void;
  /** Length of the whole list, for the row's kind of paging. */
  total(count: number): void;
}

type Target<Path extends string> = Path extends `${string}{owner}/{repo}${string}`
  ? RepositoryTarget
  : Path extends `/orgs/{org}${string}`
    ? { readonly organization: UserRow }
    : Path extends `${'' | '/admin'}/users/{username}${string}`
      ? { readonly account: UserRow }
      : Path extends `/teams/{id}${string}`
        ? TeamTarget
        : unknown;

/** The caller may be anonymous: reading public data. */
type Caller<O extends Operation> = O extends { access: 'anyone' }
  ? UserRow | undefined
  : O extends { access: 'reader'; method: 'GET' }
    ? UserRow | undefined
    : UserRow;

type Bound<S> = S extends { _zod: { output: infer Value } } ? Value : undefined;

/** One checked and bound request, as the row describes it. */
export type Call<O extends Operation = Operation> = Target<O['path']> & {
  readonly params: Bound<O['params']>;
  readonly query: O extends { query: infer Q } ? Bound<Q> : undefined;
  readonly body: O extends { body: infer B } ? Bound<B> : undefined;
  /** The account that asks. */
  readonly caller: Caller<O>;
  readonly actor: Actor;
  readonly page: Page;
  readonly context: ForgeContext;
  /** Reads the file that came with the request; for rows with `upload`. */
  readonly upload: O extends { upload: string } ? () => Promise<Upload> : undefined;
  readonly reply: Reply;
};

/** Answers one operation, given a checked and bound request. Throws `ForgeProblem` to refuse. */
export type Handler<O extends Operation> = (call: Call<O>) => ReplyOf<O> | Promise<ReplyOf<O>>;

/** Answers by the name of their operation. */
export type Handlers = { readonly [Name in OperationName]?: Handler<(typeof operations)[Name]> };

/** Returns its argument; each function in it is typed by the contract's row of the same name. */
export function defineHandlers(handlers: Handlers): Handlers {
  return handlers;
}
