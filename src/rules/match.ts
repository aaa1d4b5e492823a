import type { Event } from '../contract/events.ts';
import { ReeveError } from '../errors.ts';
import type { LoadedRule } from './rule.ts';
import type { SkipReason } from './verdict.ts';

/**
 * Returns why a rule does not consider an event, or undefined where it does: `kind` (another family or activity), `filter`
 * (branches and tags, read from the payload), `scope` (its `in`). Filters on paths need a fact; `evaluateRule` asks it.
 */
export function skipReason(_rule: LoadedRule, _event: Event): SkipReason | undefined {
  throw new ReeveError('internal', 'skipReason is not there yet');
}
