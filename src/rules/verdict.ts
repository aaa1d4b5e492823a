import type { Evidence } from './expressions/knowledge.ts';
import type { Level } from './rule.ts';

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
export function wordsOf({ verdict, reason }: Pick<Verdict, 'verdict' | 'reason'>): string | undefined {
  if (verdict !== 'skipped' || reason === undefined) return reason;
  // A run of another version of this program may know other reasons.
  return isSkipReason(reason) ? `${reason}: ${skipReasons[reason]}` : reason;
}

/** Returns why every one of these rules was skipped, in words, if it is the same for all; otherwise undefined. */
export function commonSkip(verdicts: readonly Pick<Verdict, 'verdict' | 'reason'>[]): string | undefined {
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

/** A rule's answer, with its evidence. */
export type Verdict = {
  readonly rule: string;
  readonly source: string;
  /** The commit the rule file was read from; empty for files of the operator's folder. */
  readonly commit: string;
  readonly line: number;
  readonly verdict: 'matched' | 'unmatched' | 'failed' | 'skipped';
  /** For `skipped` a SkipReason; for `failed` what could not be known. */
  readonly reason?: string;
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
