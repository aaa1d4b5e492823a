import type { AnyInput, Operation } from '../contract/operation.ts';
import { ReeveError } from '../platform/errors.ts';
import type { Redact } from '../platform/redactor.ts';
import { type ForgeAnswer, parseAnswer } from './answer.ts';
import { normalizeAnswer } from './normalize.ts';

/** Returns the body of a call as JSON, validated strictly against the row; undefined for an operation without a body. */
export function encodeBody(operation: Operation, input: AnyInput): string | undefined {
  if (operation.body === undefined) return undefined;
  const checked = operation.body.safeParse(input.body ?? {});
  if (!checked.success) {
    const issue = checked.error.issues[0];
    throw new ReeveError(
      'internal',
      `${operation.id}: invalid request at ${issue?.path.join('.')}: ${issue?.message}`,
    );
  }
  return JSON.stringify(checked.data);
}

/** Returns an answer as the row's shape reads it. Throws `forge-unexpected` for an answer of another shape. */
export function readAnswer(operation: Operation, answer: ForgeAnswer, redact: Redact): unknown {
  // 205 has a body that fetch does not return; callers that need it read the resource again.
  if (operation.response === undefined || answer.status === 205) return undefined;
  const where = `${operation.method} ${operation.path}`;
  const said = answer.status === 204 ? undefined : bodyOf(operation, answer, redact);
  const parsed = operation.response.safeParse(said);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new ReeveError(
    'forge-unexpected',
    `${where}: unexpected answer at ${issue?.path.join('.')}: ${issue?.message}`,
  );
}

function bodyOf(operation: Operation, answer: ForgeAnswer, redact: Redact): unknown {
  if (operation.media === 'text') return answer.text;
  const where = `${operation.method} ${operation.path}`;
  return normalizeAnswer(operation, parseAnswer(answer.text, where, redact));
}
