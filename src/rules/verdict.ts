import type { Read } from './expressions/part.ts';
import type { Evidence } from './expressions/types.ts';
import type { Level, LoadedRule } from './rule.ts';

export type { Evidence as Finding };

/** Why a rule was not considered, and what that means in words. */
const skipReasons = {
  kind: 'it listens to other events',
  filter: 'its branches, tags or paths leave this out',
  scope: 'its `in` leaves this repository out',
  grant: 'the operator does not let its file do this',
  own: 'Reeve’s own account did this',
  gone: 'the comment or review that it is about is not there any more',
  'too old': 'the comment or review that it announces is older than the delivery lifetime',
  'not recoverable': 'the event was found by catching up, which does not tell what the rule names',
} as const;
export type SkipReason = keyof typeof skipReasons;

/** Returns why a rule was skipped or failed, for people: the reason as recorded, and what it means. */
export function wordsOf({ verdict, reason }: Judgement): string | undefined {
  if (verdict !== 'skipped' || reason === undefined) return reason;
  // A run of another version of this program may know other reasons.
  return isSkipReason(reason) ? `${reason}: ${skipReasons[reason]}` : reason;
}

/** Returns why every one of these rules was skipped, in words, if it is the same for all; otherwise undefined. */
export function commonSkip(verdicts: readonly Judgement[]): string | undefined {
  const [reason, ...others] = new Set(
    verdicts.map(({ verdict, reason }) => (verdict === 'skipped' ? reason : undefined)),
  );
  return reason !== undefined && others.length === 0 && isSkipReason(reason)
    ? skipReasons[reason]
    : undefined;
}

function isSkipReason(reason: string): reason is SkipReason {
  return Object.hasOwn(skipReasons, reason);
}

/** A rule's answer. */
type Judgement = {
  readonly verdict: 'matched' | 'unmatched' | 'failed' | 'skipped';
  /** For `skipped` a SkipReason; for `failed` what could not be known. */
  readonly reason?: string;
};

/** A rule's answer, with its evidence. */
export type Verdict = Judgement & {
  readonly rule: string;
  readonly source: string;
  /** The commit the rule file was read from; empty for files of the operator's folder. */
  readonly commit: string;
  readonly line: number;
  /** Code of the error that made it fail, where that is one of ours: with `forge-…`, `reason` may repeat a forge's answer. */
  readonly code?: string;
  /** Origin of the rule, and the revision of its file; absent in runs of earlier versions. */
  readonly level?: Level;
  readonly revision?: string;
  readonly findings: readonly Evidence[];
};

/** Returns the name of a rule from its identity (`source path#rule name`). */
export function nameOfRule(rule: string): string {
  return rule.slice(rule.lastIndexOf('#') + 1);
}

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
