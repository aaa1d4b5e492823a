import type { z } from 'zod';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may call an operation, from least to most. `reader`, `writer`, `admin` and `owner` are about the repository
 * (or organization) in the path; `member` is a member of the organization or team in the path; `author` is whoever wrote
 * the thing in question, or a writer; `self` is the signed-in account about its own things; `site` the site administrator.
 */
export type Access =
  | 'anyone'
  | 'signed-in'
  | 'self'
  | 'reader'
  | 'member'
  | 'author'
  | 'writer'
  | 'admin'
  | 'owner'
  | 'site';

/** Category of a token scope; the level is `read` for GET and `write` for the rest. */
export type ScopeCategory = 'repository' | 'issue' | 'organization' | 'user' | 'notification' | 'admin';

/** How a list tells its length: `link` = `X-Total-Count` and `Link`; `count` = `X-Total-Count` alone; `body` = `total_count`. */
type Paging = 'link' | 'count' | 'body';

/**
 * One kind of API call as data. The client is this row read by a caller, the embedded forge is this row read by a
 * server, a change is this row with its arguments filled in that has not happened yet.
 *
 * `path` is relative to `/api/v1`; its names stand in braces, and a name with `*` (`{filepath*}`) takes the rest of the
 * path, slashes included. `errors` are the statuses beyond 401, 403 by token scope, and 404 for an unknown owner or
 * repository, which every operation can answer. `source` says where the facts come from.
 */
export type Operation = {
  readonly id: string;
  /** One line of meaning; differences between forges go here too. */
  readonly meaning: string;
  readonly method: Method;
  readonly path: string;
  readonly params: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The request is `multipart/form-data` with one file in the part of this name, in place of a body. */
  readonly upload?: string;
  readonly success: number;
  /** Absent: the answer has no body. */
  readonly response?: z.ZodType;
  /** The answer is plain text; absent: JSON. */
  readonly media?: 'text';
  readonly errors: readonly number[];
  readonly access: Access;
  readonly scopes: readonly ScopeCategory[];
  readonly paging?: Paging;
  /** Slashes of a `*` parameter are sent as `%2F`: Forgejo takes that one segment alone, the Gitea line both forms. */
  readonly oneSegment?: true;
  /** Status that the baseline answers for a caller's mistake although it should not; the suite accepts either. */
  readonly baseline?: Readonly<Record<string, number>>;
  readonly source: string;
};

/** Returns its argument, with the literal types kept. */
export function defineOperation<const O extends Operation>(operation: O): O {
  return operation;
}

type Shape<S> = S extends z.ZodType ? z.output<S> : never;
/** True for a shape that an absent value satisfies: no members, or optional ones alone. */
type MayBeAbsent<I> = [I] extends [Record<string, never>] ? true : Partial<I> extends I ? true : false;
type Given<K extends string, S> = S extends z.ZodType
  ? MayBeAbsent<z.input<S>> extends true
    ? { readonly [P in K]?: z.input<S> }
    : { readonly [P in K]: z.input<S> }
  : unknown;

/** What a caller gives: path parameters, query and body of the row, each only where the row has it. */
export type InputOf<O extends Operation> = Given<'params', O['params']> &
  Given<'query', O['query']> &
  Given<'body', O['body']>;

/** What a caller gets: the answer as the row's shape reads it. */
export type AnswerOf<O extends Operation> = O extends { response: infer R } ? Shape<R> : undefined;

/** What a server's handler returns: the answer as the row's shape takes it in. */
export type ReplyOf<O extends Operation> = O extends { response: infer R extends z.ZodType }
  ? z.input<R>
  : undefined;

/** The input of any operation, where the row is only known at run time (a change read back from the store). */
export type AnyInput = {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};

/**
 * Returns the path of a call with its parameters filled in, each percent-encoded; a `*` parameter keeps its slashes, unless the
 * row says `oneSegment`.
 * Throws where a parameter is missing or could leave its place (`..`, empty): such a call must never be sent.
 */
export function fillPath(operation: Operation, params: Readonly<Record<string, unknown>> = {}): string {
  return operation.path.replace(/\{(\w+)(\*?)\}/g, (_, name: string, rest: string) => {
    const value = params[name];
    const text = value === undefined || value === null ? '' : String(value);
    const segments = rest === '*' ? text.split('/') : [text];
    if (rest !== '*' && text === '')
      throw new TypeError(`${operation.id}: path parameter ${name} is missing`);
    if (segments.some((segment) => segment === '..' || (segment === '.' && text !== '.'))) {
      throw new TypeError(`${operation.id}: path parameter ${name} must not contain "${text}"`);
    }
    return segments.map(encodeURIComponent).join(operation.oneSegment ? '%2F' : '/');
  });
}
