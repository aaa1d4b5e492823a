import type { Action } from '../actions/action.ts';
import type { Change } from '../actions/change.ts';

/** Longest part of a condition that a reason repeats. */
const maxWords = 300;

/**
 * Returns why a change is wanted, in the words of the rule: the condition it follows from as it is written in the file,
 * where the action knows it or the step has a `when`; else what the action says itself.
 */
export function reasonOf(action: Action, change: Change, written: unknown): string {
  if (change.already) return change.reason;
  const own = action.words?.(change, written);
  if (own !== undefined) return shortenValue(own);
  const when = typeof written === 'object' && written !== null ? Reflect.get(written, 'when') : undefined;
  return typeof when === 'string'
    ? shortenValue(`${change.reason}, decided by when: ${when}`)
    : change.reason;
}

function shortenValue(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= maxWords ? line : `${line.slice(0, maxWords - 1)}…`;
}
