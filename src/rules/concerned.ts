import { concernsPulls } from '../contract/events/concerns.ts';
import type { Family } from '../contract/events/event-families.ts';
import type { LoadedRule } from './rule.ts';

/** Says whether a rule runs for the pull requests that events of a family concern, and not for what the events are about. */
export function runsForConcerned(
  { each }: { readonly each?: LoadedRule['each'] | undefined },
  family: Family,
): boolean {
  return each?.kind === 'pull_request' && concernsPulls(family);
}
