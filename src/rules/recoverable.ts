import type { Read } from './expressions/interpret/reads.ts';
import type { LoadedRule } from './rule.ts';

/** What the payload of an event has that was found by reading what is, not told by a delivery. */
const recoverable = new Set([
  'action',
  'number',
  'pull_request',
  'issue',
  'ref',
  'ref_type',
  'before',
  'after',
  'repository',
  'caught_up',
]);

const decided = new WeakMap<LoadedRule, boolean>();
const needing = new WeakMap<LoadedRule, boolean>();

/** Returns whether a rule without a schedule names the event or who caused it: it cannot be evaluated for live state alone. */
export function needsEvent(rule: LoadedRule): boolean {
  // The loader has made sure that rules with a schedule look first whether there is an event.
  if (rule.schedules.length > 0 || rule.on.length === 0) return false;
  const known = needing.get(rule);
  if (known !== undefined) return known;
  const answer = readsOf(rule).some(({ root: { name } }) => name === 'event' || name === 'sender');
  needing.set(rule, answer);
  return answer;
}

/**
 * Returns whether a rule can be held against an event that was found by catching up: its expressions name no member of
 * `event` that cannot be found again (`event.changes`, `event.commits`), and not who did it.
 */
export function isRecoverable(rule: LoadedRule): boolean {
  const known = decided.get(rule);
  if (known !== undefined) return known;
  const answer = !readsOf(rule).some(isTold);
  decided.set(rule, answer);
  return answer;
}

function readsOf({ condition, steps }: LoadedRule): readonly Read[] {
  return [
    ...(condition?.reads ?? []),
    ...steps.flatMap(({ condition: ofStep, arguments: given }) => [...(ofStep?.reads ?? []), ...given.reads]),
  ];
}

/** Returns whether a delivery alone tells what is read: who did it, a member of the payload, or the payload as a whole. */
function isTold({ root: { name }, path: [member], isAsked }: Read): boolean {
  if (name === 'sender') return true;
  if (name !== 'event') return false;
  return member === undefined ? !isAsked : !recoverable.has(String(member));
}
