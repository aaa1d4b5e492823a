import type { Access, Operation } from '../contract/operation.ts';
import { type ErrorCode, messageOf, ReeveError } from '../platform/errors.ts';
import { type Redact, redactJson, redactNothing } from '../platform/redactor.ts';

/** The response to one HTTP request. */
export type ForgeAnswer = {
  readonly status: number;
  /** Returns the value of a header by its name in lower case. */
  readonly header: (name: string) => string | null;
  readonly text: string;
};

/** Returns the JSON of a successful response. Throws `forge-junk` with the beginning of the text if it is invalid. */
export function parseAnswer(text: string, where: string, redact: Redact = redactNothing): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes a piece of the text.
    throw new ReeveError('forge-junk', `${where}: the response is not JSON: ${beginningOf(redact(text))}`);
  }
}

/**
 * Returns the forge's message in an error response, without secrets: they are redacted after parsing and before the
 * text is truncated. Bodies may be `{message}`, empty, plain text, or JSON followed by junk (the extended contents
 * operation writes a second value), so nothing here may throw.
 */
export function forgeMessage(text: string, redact: Redact = redactNothing): string {
  const found = /"message"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text.slice(0, 8_192));
  if (found?.[1] !== undefined) {
    try {
      return redact(String(JSON.parse(found[1])));
    } catch {
      // A string that is not valid JSON is shown unchanged.
    }
  }
  return text.trimStart().startsWith('<') ? 'a web page' : beginningOf(redactJson(text, redact));
}

function beginningOf(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, 200);
}

/** Error code by status. Other 4xx are `forge-refused`, 5xx `forge-unavailable`. */
const codeOfStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'forge-unauthorized',
  403: 'forge-forbidden',
  404: 'forge-not-found',
  405: 'forge-conflict',
  408: 'forge-timeout',
  409: 'forge-conflict',
  412: 'forge-conflict',
  423: 'forge-locked',
  425: 'forge-unavailable',
  429: 'forge-throttled',
};

const advice: Partial<Record<ErrorCode, string>> = {
  'forge-unauthorized': 'the forge does not accept this credential: set a valid FORGE_TOKEN',
  'forge-locked': 'the repository is archived',
};

/** Required role of an operation, to complete "this needs". */
const rightOf: Readonly<Record<Access, string | undefined>> = {
  anyone: undefined,
  'signed-in': undefined,
  self: undefined,
  reader: 'read access',
  member: 'membership in the organization or team',
  author: 'write access, or to be the author',
  writer: 'write access',
  admin: 'administrator access',
  owner: 'to be an owner of the organization',
  site: 'a site administrator',
};

/** Returns the requirements for an account and its token to call an operation. */
export function neededRight({ access, othersAccess = access, scopes, method }: Operation): string {
  const level = method === 'GET' ? 'read' : 'write';
  const names = scopes.map((scope) => `${level}:${scope}`);
  const token = names.length === 0 ? undefined : `a token with ${names.join(', ')}`;
  const needs = [rightOf[othersAccess], token].filter(Boolean).join(', and ');
  return needs === '' ? 'the account or its token lacks access' : `this needs ${needs}`;
}

/**
 * Returns our error for an unsuccessful response, with operation, status and the forge's message, but without headers.
 * A 403 includes the requirements of the operation.
 */
export function forgeError(
  where: string,
  status: number,
  text: string,
  retryAfter: string | null,
  { redact = redactNothing, operation }: { redact?: Redact; operation?: Operation } = {},
): ReeveError {
  const code = codeOfStatus[status] ?? (status >= 500 ? 'forge-unavailable' : 'forge-refused');
  const hint = code === 'forge-forbidden' && operation ? neededRight(operation) : advice[code];
  const words = [`${where}: the forge answered ${status}`, forgeMessage(text, redact), hint].filter(Boolean);
  return new ReeveError(code, words.join('; '), {
    status,
    request: where.replace(/ \S*?\/api\/v1(?=\/)/, ' '),
    retryAfterMs: retryAfterMs(retryAfter, Date.now()),
  });
}

/** Returns our error for a call without a response. */
export function unreachable(where: string, thrown: unknown): ReeveError {
  if (thrown instanceof ReeveError) return thrown;
  const { name, reason } = networkReason(thrown);
  // Errors of the HTTP library contain the request, including the credential: only name and reason are used.
  const cause = new Error(reason);
  cause.name = name;
  if (name === 'TimeoutError' || name === 'AbortError') {
    return new ReeveError('forge-timeout', `${where}: the forge did not respond in time`, { cause });
  }
  return new ReeveError('forge-unreachable', `${where}: the forge cannot be reached (${reason})`, { cause });
}

/** Returns an error without secrets: the same object if it contains none. */
export function withoutSecrets(error: unknown, redact: Redact): unknown {
  if (!(error instanceof ReeveError)) return error;
  const message = redact(error.message);
  if (message === error.message) return error;
  // The cause may repeat the message.
  const { code, retryAfterMs, status, request } = error;
  return new ReeveError(code, message, { retryAfterMs, status, request: request && redact(request) });
}

/** Returns our error for a call that was aborted, or not started, because its work is being stopped. */
export function stopped(where: string): ReeveError {
  return new ReeveError('stopped', `${where}: aborted before the response, because the work was stopped`);
}

/** Returns the name of the thrown error, and the code of the system error that caused it, or else its message. */
function networkReason(thrown: unknown): { name: string; reason: string } {
  const name = thrown instanceof Error ? thrown.name : 'Error';
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if ('code' in error && typeof error.code === 'string') return { name, reason: error.code };
  }
  return { name, reason: messageOf(thrown) };
}

/** Longest accepted `Retry-After`: a typo must not delay work for years. */
const maxPauseMs = 30 * 86_400_000;

/** Parses `Retry-After` (seconds or a date) as milliseconds from `nowMs`; undefined if it is not usable. */
function retryAfterMs(value: string | null, nowMs: number): number | undefined {
  if (value === null || value === '') return undefined;
  const askedMs = /^\d{1,12}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - nowMs;
  return Number.isNaN(askedMs) ? undefined : Math.min(Math.max(0, askedMs), maxPauseMs);
}
