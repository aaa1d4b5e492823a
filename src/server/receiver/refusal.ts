import { ReeveError } from '../../platform/errors.ts';
import { BodyError } from './body.ts';

/** Result of a request. */
export type ReceiverAnswer =
  | 'stored'
  | 'copy'
  | 'known'
  | 'method'
  | 'type'
  | 'size'
  | 'slow'
  | 'unauthorized'
  | 'throttled'
  | 'malformed'
  | 'probe'
  | 'scope'
  | 'unavailable'
  | 'internal';

/** Refusal of a request: thrown by a guard, answered in one place. */
export class ReceiverRefusal extends Error {
  readonly status: number;
  readonly answer: ReceiverAnswer;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, answer: ReceiverAnswer, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.answer = answer;
    this.headers = headers;
  }
}

const answerOfBody = { 400: 'malformed', 413: 'size', 503: 'slow' } as const;

/** Returns the refusal for what a guard, the body or the store threw. */
export function toRefusal(error: unknown): ReceiverRefusal {
  if (error instanceof ReceiverRefusal) return error;
  if (error instanceof BodyError) {
    return new ReceiverRefusal(error.status, answerOfBody[error.status], error.message);
  }
  if (!(error instanceof ReeveError))
    return new ReceiverRefusal(500, 'internal', 'internal error: see the log');
  if (error.http === 400) return new ReceiverRefusal(400, 'malformed', error.message);
  const seconds = Math.max(Math.ceil((error.retryAfterMs ?? 5_000) / 1_000), 1);
  return new ReceiverRefusal(503, 'unavailable', 'the store is not available', {
    'retry-after': String(seconds),
  });
}
