import type { Readable } from 'node:stream';
import type { z } from 'zod';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may call an operation, from least to most. `reader`, `writer`, `admin` and `owner` are about the repository
 * (or organization) in the path; `member` is a member of the organization or team in the path; `author` is the author of
 * the object, or a writer; `self` is the signed-in account, for its own objects; `site` is the site administrator.
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
export type ScopeCategory =
  | 'repository'
  | 'issue'
  | 'organization'
  | 'user'
  | 'notification'
  | 'package'
  | 'admin';

/**
 * What the path of an operation names, and with it whose permission decides: a repository as a whole or one of its units, an
 * organization, a team, an account; `instance` is the instance itself, or what belongs to the caller. With `issues-or-pulls`
 * the number in the path decides between the units of issues and of pull requests.
 */
export type OperationTarget =
  | 'repository'
  | 'code'
  | 'issues'
  | 'pulls'
  | 'issues-or-pulls'
  | 'wiki'
  | 'releases'
  | 'organization'
  | 'team'
  | 'account'
  | 'instance';

/**
 * Where the answer has the length of a list: `link` = `X-Total-Count` and `Link`; `count` = `X-Total-Count`; `body` =
 * `total_count`; `page-count` = nowhere, because `X-Total-Count` has the length of the page.
 */
type Paging = 'link' | 'count' | 'body' | 'page-count';

/**
 * One kind of API call, as data. The client sends it, the embedded forge serves it, and a change is a row with its
 * arguments filled in that is not applied yet.
 *
 * `path` is relative to `/api/v1`; its parameters are in braces, and one with `*` (`{filepath*}`) matches the rest of the
 * path, including slashes. `errors` excludes those that every operation can answer: 401, 403 by token scope, and 404 for
 * an unknown owner or repository. `source` names the source of this information.
 */
export type Operation = {
  readonly id: string;
  /** One line: what the operation does, and differences between forges. */
  readonly meaning: string;
  readonly method: Method;
  readonly path: string;
  readonly params: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Members that the body requires, since a client should always send them, and that a server takes as empty if they are missing. */
  readonly mayBeMissing?: readonly string[];
  /** The request is `multipart/form-data` with one file in the part of this name, in place of a body. */
  readonly upload?: string;
  /** The whole body may be the file in place of a form; its name is in the query. */
  readonly takesWholeBody?: true;
  readonly success: number;
  /** Absent: the answer has no body. */
  readonly response?: z.ZodType;
  /** The answer is plain text, or the bytes of a file, which the client returns as text; absent: JSON. */
  readonly media?: 'text' | 'file';
  readonly errors: readonly number[];
  /** Message of the 403 that every caller with the role gets before the body is read: the embedded forge has this switched off. */
  readonly switchedOff?: string;
  /** When an archived repository is refused with 423: before or after the role is checked, or after the body was read. */
  readonly archived?: 'before-role' | 'after-role' | 'after-body';
  readonly target: OperationTarget;
  readonly access: Access;
  /** A caller who is not signed in is refused before the target is looked up. */
  readonly signInFirst?: true;
  /** The role is checked before the sign-in: a caller who is not signed in gets 403. */
  readonly roleFirst?: true;
  /** Takes Basic credentials with a password, and no token. */
  readonly passwordOnly?: true;
  /** A caller who cannot see the organization gets 404, before the role is checked. */
  readonly hiddenFirst?: true;
  /** What a token for public resources alone gets: nothing (`closed`), or the caller's own things if the account is public. */
  readonly publicOnly?: 'closed' | 'public-account';
  readonly scopes: readonly ScopeCategory[];
  readonly paging?: Paging;
  /** The answer differs between forges: the client converts it to Gitea's form by the function of this name. */
  readonly normalize?: 'runners' | 'contents' | 'compare' | 'workflow-runs';
  /** Slashes of a `*` parameter are sent as `%2F`: Forgejo accepts only that form, Gitea both. */
  readonly oneSegment?: true;
  /** Wrong status that Gitea answers for a mistake of the caller; the suite accepts it as well. */
  readonly baseline?: Readonly<Record<string, number>>;
  readonly source: string;
};

/** Returns its argument, with the literal types kept. */
export function defineOperation<const O extends Operation>(operation: O): O {
  return operation;
}

type OutputOf<S> = S extends z.ZodType ? z.output<S> : never;
/** True for a shape that an absent value satisfies: no members, or only optional ones. */
type MayBeAbsent<I> = [I] extends [Record<string, never>] ? true : Partial<I> extends I ? true : false;
type Given<K extends string, S> = S extends z.ZodType
  ? MayBeAbsent<z.input<S>> extends true
    ? { readonly [P in K]?: z.input<S> }
    : { readonly [P in K]: z.input<S> }
  : unknown;

/** Input of a call: path parameters, query and body, as far as the row has them. */
export type InputOf<O extends Operation> = Given<'params', O['params']> &
  Given<'query', O['query']> &
  Given<'body', O['body']>;

/** Output of a call: the answer as parsed by the row's shape. */
export type AnswerOf<O extends Operation> = O extends { response: infer R } ? OutputOf<R> : undefined;

/** Bytes of a file, whole or as they come. */
export type FileBody = Buffer | Readable;

/** Return value of a server's handler: the answer before it is parsed by the row's shape; no bytes for `304`. */
export type ReplyOf<O extends Operation> = O extends { media: 'file' }
  ? FileBody | undefined
  : O extends { response: infer R extends z.ZodType }
    ? z.input<R>
    : undefined;

/** Input of an operation that is known only at run time (a change read from the store). */
export type AnyInput = {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};

/** Returns the name of the path parameter that takes the rest of the path (`{filepath*}`); undefined where there is none. */
export function restParameter(operation: Operation): string | undefined {
  return /\{(\w+)\*\}$/.exec(operation.path)?.[1];
}

/**
 * Returns the path of a call with its parameters filled in, each percent-encoded; a `*` parameter keeps its slashes, unless the
 * row says `oneSegment`.
 * Throws if a parameter is missing or could change the path (`..`, empty): such a call must never be sent.
 */
export function fillPath(operation: Operation, params: Readonly<Record<string, unknown>> = {}): string {
  let filled = '';
  // Text and name of a parameter in turns.
  for (const [place, part] of partsOf(operation.path).entries()) {
    filled += place % 2 === 0 ? part : fillParameter(operation, part, params);
  }
  return filled;
}

const partsOfPaths = new Map<string, readonly string[]>();

/** Several paths are filled for each event, and the rows of the contract have no others. */
function partsOf(path: string): readonly string[] {
  let parts = partsOfPaths.get(path);
  if (parts === undefined) {
    parts = path.split(/\{(\w+\*?)\}/);
    partsOfPaths.set(path, parts);
  }
  return parts;
}

function fillParameter(
  operation: Operation,
  part: string,
  params: Readonly<Record<string, unknown>>,
): string {
  const isRest = part.endsWith('*');
  const name = isRest ? part.slice(0, -1) : part;
  const value = params[name];
  const text = value === undefined || value === null ? '' : String(value);
  if (!isRest && text === '') throw new TypeError(`${operation.id}: path parameter ${name} is missing`);
  if (/^[\w-]+$/.test(text)) return text;
  const segments = isRest ? text.split('/') : [text];
  if (segments.some((segment) => segment === '..' || (segment === '.' && text !== '.'))) {
    throw new TypeError(`${operation.id}: path parameter ${name} must not contain "${text}"`);
  }
  return segments.map(encodeURIComponent).join(operation.oneSegment ? '%2F' : '/');
}
