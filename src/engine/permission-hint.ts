import type { Action } from '../actions/action.ts';
import { type ErrorCode, messageOf, ReeveError } from '../platform/errors.ts';

/** What a person can do about a write that the forge refused, where its own words do not say it. */
const hints: Partial<Record<ErrorCode, string>> = {
  'forge-not-found':
    'it is gone, or the account cannot see it: check the name in the rule and the account’s access',
  'forge-conflict': 'something else changed it meanwhile: the next event or sweep plans it anew',
  'forge-refused': 'the forge does not take these values: compare them with the action’s reference page',
  'forge-moved': 'the repository was renamed: what is missing is planned again under its new name',
};

/**
 * Returns what went wrong with a write: the forge's status and words, and what to do about it. `forbidden`: why it may be 403
 * in spite of enough access.
 */
export function withPermissionHint(
  error: unknown,
  needs: Action['needs'] | undefined,
  forbidden?: string,
): string {
  const message = messageOf(error);
  if (!(error instanceof ReeveError)) return message;
  // Without a status the refusal is our own, and says why itself.
  if (error.status === 403 && needs) {
    const scopes = needs.scopes.map((scope) => `write:${scope}`).join(', ');
    const words = `${message}; it needs ${needs.access} access and a token with ${scopes}`;
    return forbidden === undefined ? words : `${words}, and ${forbidden}`;
  }
  const more = error.status === undefined && error.code !== 'forge-moved' ? undefined : hints[error.code];
  return more === undefined ? message : `${message}; ${more}`;
}
