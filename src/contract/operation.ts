import type { Readable } from 'node:stream';
import type { z } from 'zod';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Required role for an operation, from lowest to highest. `reader`, `writer`, `admin` and `owner` refer to the
 * repository (or organization) in the path; `member` is a member of the organization or team in the path; `author` is
 * the author of the object, or a writer; `self` is the signed-in account, for its own objects; `site` is the site
 * administrator.
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

/** Category of a token scope; the level is `read` for GET and `write` for all other methods. */
export type ScopeCategory =
  | 'repository'
  | 'issue'
  | 'organization'
  | 'user'
  | 'notification'
  | 'package'
  | 'admin';

/**
 * Object in the path of an operation that the caller needs permission for: a repository as a whole or one of its units,
 * an organization, a team, or an account. `instance` means the instance itself or the caller's own objects. With
 * `issues-or-pulls`, the number in the path determines whether the unit of issues or the unit of pull requests applies.
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
 * Where a list response reports the total number of items: `link` = `X-Total-Count` and `Link`; `count` =
 * `X-Total-Count`; `body` = `total_count`; `page-count` = nowhere, because `X-Total-Count` contains the length of the
 * page.
 */
type Paging = 'link' | 'count' | 'body' | 'page-count';

/**
 * One kind of API call, as data. The client sends it, the embedded forge serves it, and a change is an operation with
 * arguments that has not been applied yet.
 *
 * `path` is relative to `/api/v1`. Its parameters are in braces; a parameter with `*` (`{filepath*}`) matches the rest
 * of the path, including slashes. `errors` excludes the errors that every operation can return: 401, 403 by token
 * scope, and 404 for an unknown owner or repository. `source` names the source of this information.
 */
export type Operation = {
  readonly id: string;
  /** One line: what the operation does, and how forges differ. */
  readonly meaning: string;
  readonly method: Method;
  readonly path: string;
  readonly params: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Required body fields that a server treats as empty if they are missing; clients should nevertheless send them. */
  readonly mayBeMissing?: readonly string[];
  /** Name of the part that contains the file: the request is `multipart/form-data` with one file instead of a body. */
  readonly upload?: string;
  /** The body may also be the file itself instead of a form; the file name is then in the query. */
  readonly takesWholeBody?: true;
  readonly success: number;
  /** Absent if the response has no body. */
  readonly response?: z.ZodType;
  /** The response is plain text, or the bytes of a file, which the client returns as text; JSON if absent. */
  readonly media?: 'text' | 'file';
  readonly errors: readonly number[];
  /**
   * Message of the 403 response to every caller with the required role, sent before the body is read, because the
   * operation is disabled in the embedded forge.
   */
  readonly switchedOff?: string;
  /**
   * When a request to an archived repository is refused with 423: before or after the role check, or after reading the
   * body.
   */
  readonly archived?: 'before-role' | 'after-role' | 'after-body';
  readonly target: OperationTarget;
  readonly access: Access;
  /** What a 403 asks for, if `access` is enough only for what is the caller's own. */
  readonly othersAccess?: Access;
  /** An anonymous caller is refused before the target is looked up. */
  readonly signInFirst?: true;
  /** The role is checked before the sign-in, so an anonymous caller gets 403. */
  readonly roleFirst?: true;
  /** Accepts only Basic credentials with a password, not a token. */
  readonly passwordOnly?: true;
  /** A caller who cannot see the organization gets 404 before the role is checked. */
  readonly hiddenFirst?: true;
  /**
   * What a token limited to public resources can access: nothing (`closed`), or the caller's own objects if the account
   * is public (`public-account`).
   */
  readonly publicOnly?: 'closed' | 'public-account';
  readonly scopes: readonly ScopeCategory[];
  readonly paging?: Paging;
  /**
   * Name of the function that the client uses to convert the response to Gitea's format, because forges return
   * different formats.
   */
  readonly normalize?: 'runners' | 'contents' | 'compare' | 'workflow-runs';
  /** Slashes in a `*` parameter are sent as `%2F`: Forgejo accepts only that form, Gitea accepts both. */
  readonly oneSegment?: true;
  /** Incorrect status that Gitea returns for a client error; the conformance suite accepts it as well. */
  readonly baseline?: Readonly<Record<string, number>>;
  readonly source: string;
};

/** Returns its argument, preserving the literal types. */
export function defineOperation<const O extends Operation>(operation: O): O {
  return operation;
}

type OutputOf<S> = S extends z.ZodType ? z.output<S> : never;
/** True if a schema accepts an absent value: it has no fields, or only optional ones. */
type MayBeAbsent<I> = [I] extends [Record<string, never>] ? true : Partial<I> extends I ? true : false;
type Given<K extends string, S> = S extends z.ZodType
  ? MayBeAbsent<z.input<S>> extends true
    ? { readonly [P in K]?: z.input<S> }
    : { readonly [P in K]: z.input<S> }
  : unknown;

/** Input of a call: path parameters, query and body, as defined by the operation. */
export type InputOf<O extends Operation> = Given<'params', O['params']> &
  Given<'query', O['query']> &
  Given<'body', O['body']>;

/** Output of a call: the response as parsed by the operation's schema. */
export type AnswerOf<O extends Operation> = O extends { response: infer R } ? OutputOf<R> : undefined;

/** Bytes of a file, complete or as a stream. */
export type FileBody = Buffer | Readable;

/**
 * Return value of a server's handler: the response before it is parsed by the operation's schema. For a `304`,
 * undefined instead of bytes.
 */
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

/**
 * Returns the name of the path parameter that matches the rest of the path (`{filepath*}`); undefined if no parameter
 * does.
 */
export function restParameter(operation: Operation): string | undefined {
  return /\{(\w+)\*\}$/.exec(operation.path)?.[1];
}

/**
 * Returns the path of a call with its parameters filled in, each percent-encoded; a `*` parameter keeps its slashes
 * unless the operation sets `oneSegment`. Throws if a parameter is missing or could change the path (`..`, empty): such
 * a call must never be sent.
 */
export function fillPath(operation: Operation, params: Readonly<Record<string, unknown>> = {}): string {
  let filled = '';
  // Literal text and parameter names alternate.
  for (const [place, part] of partsOf(operation.path).entries()) {
    filled += place % 2 === 0 ? part : fillParameter(operation, part, params);
  }
  return filled;
}

const partsOfPaths = new Map<string, readonly string[]>();

/**
 * Returns the literal and parameter parts of a path. Cached, because several paths are filled per event and the
 * contract fixes the set of paths.
 */
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
