import { type ErrorCode, messageOf, ReeveError } from '../errors.ts';
import { type Redact, redactNothing } from '../redactor.ts';
import { forgeMessage } from './answer.ts';

/** Status → code of our error. What is not here: other 4xx are `forge-refused`, 5xx `forge-unavailable`. */
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
  'forge-unauthorized': 'the forge does not know this credential: give a valid FORGE_TOKEN',
  'forge-forbidden':
    'the account or its token lacks a right for this: see the action’s needs in its reference page',
  'forge-locked': 'the repository is archived',
};

/** Returns our error for an answer that is no success. Carries operation, status and the forge's message, never a header. */
export function failureOf(
  where: string,
  status: number,
  text: string,
  retryAfter: string | null,
  redact: Redact = redactNothing,
): ReeveError {
  const code = codeOfStatus[status] ?? (status >= 500 ? 'forge-unavailable' : 'forge-refused');
  const words = [`${where}: the forge answered ${status}`, forgeMessage(text, redact), advice[code]].filter(
    Boolean,
  );
  return new ReeveError(code, words.join('; '), {
    status,
    request: where.replace(/ \S*?\/api\/v1(?=\/)/, ' '),
    retryAfterMs: retryAfterMs(retryAfter, Date.now()),
  });
}

/** Returns our error for a call that got no answer. */
export function unreachable(where: string, thrown: unknown): ReeveError {
  if (thrown instanceof ReeveError) return thrown;
  const { name, reason } = reasonOf(thrown);
  // What the HTTP library throws holds the request, and with it the credential: only its name and reason go on.
  const cause = new Error(reason);
  cause.name = name;
  if (name === 'TimeoutError' || name === 'AbortError') {
    return new ReeveError('forge-timeout', `${where}: the forge did not answer in time`, { cause });
  }
  return new ReeveError('forge-unreachable', `${where}: the forge cannot be reached (${reason})`, { cause });
}

/** Returns an error without secrets: the same one where it has none. */
export function withoutSecrets(error: unknown, redact: Redact): unknown {
  if (!(error instanceof ReeveError)) return error;
  const message = redact(error.message);
  if (message === error.message) return error;
  // The cause may repeat what the message does.
  const { code, retryAfterMs, status, request } = error;
  return new ReeveError(code, message, { retryAfterMs, status, request: request && redact(request) });
}

/** Returns our error for a call that was ended, or not begun, because its work is to stop. */
export function stopped(where: string): ReeveError {
  return new ReeveError('stopped', `${where}: ended before the answer, because the work was told to stop`);
}

/** Returns the name of what was thrown, and the code of the system's error below it, else its message. */
function reasonOf(thrown: unknown): { name: string; reason: string } {
  const name = thrown instanceof Error ? thrown.name : 'Error';
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if ('code' in error && typeof error.code === 'string') return { name, reason: error.code };
  }
  return { name, reason: messageOf(thrown) };
}

/** The longest pause that a forge is believed to want: a typing error must not put work off for years. */
const maxPauseMs = 30 * 86_400_000;

/** Reads `Retry-After` (seconds or a date) as milliseconds from `nowMs`; undefined where it says nothing usable. */
function retryAfterMs(value: string | null, nowMs: number): number | undefined {
  if (value === null || value === '') return undefined;
  const askedMs = /^\d{1,12}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - nowMs;
  return Number.isNaN(askedMs) ? undefined : Math.min(Math.max(0, askedMs), maxPauseMs);
}
