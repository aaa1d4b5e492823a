import type { NamedSecrets } from '../actions/secrets.ts';
import { ReeveError } from '../platform/errors.ts';
import { withPermissionHint } from './permission-hint.ts';
import type { PlannedChange, Proposal } from './proposal.ts';
import type { Outcome } from './record.ts';

/** What becomes of the changes of a plan, change by change. */
export interface Outcomes {
  /** Notes the result of a change. */
  settle(planned: PlannedChange, status: Outcome['status'], error?: string): void;
  /** Notes that a change was applied, and what the answer says about its result. */
  settleApplied(planned: PlannedChange, made: Outcome['made']): void;
  /** Notes that a change failed; the later changes of its steps are not made. */
  fail(planned: PlannedChange, error: unknown): void;
  /** Notes that a change was made, and not where it was planned. */
  failMisplaced(planned: PlannedChange, why: string): void;
  /** Says whether all steps that propose the change have failed before. */
  isInFailedStep(planned: PlannedChange): boolean;
  /** Says whether an earlier change of every rule that proposes the change has failed. */
  isInFailedRule(planned: PlannedChange): boolean;
  has(planned: PlannedChange): boolean;
  /** Returns the outcomes of these changes, in order. */
  of(changes: readonly PlannedChange[]): readonly Outcome[];
  /** Returns the first error after which a later attempt, planned anew, may succeed. */
  retry(): ReeveError | undefined;
  /** Says whether the forge answered that the repository has another name now. */
  isMoved(): boolean;
}

/** Creates the outcomes of one plan, empty. Values of `secrets` are removed from all errors. */
export function createOutcomes(secrets: NamedSecrets | undefined): Outcomes {
  const outcomes = new Map<string, Outcome>();
  const failedSteps = new Set<Proposal>();
  const failedRules = new Set<string>();
  let retry: ReeveError | undefined;
  let isMoved = false;
  const redact = (text: string): string => secrets?.redact(text) ?? text;

  const settle: Outcomes['settle'] = ({ id, proposals }, status, error) => {
    if (status === 'failed') for (const { rule } of proposals) failedRules.add(rule.id);
    outcomes.set(id, { change: id, status, ...(error === undefined ? {} : { error: redact(error) }) });
  };

  return {
    settle,
    settleApplied: ({ id }, made) =>
      void outcomes.set(id, { change: id, status: 'applied', ...(made === undefined ? {} : { made }) }),
    failMisplaced(planned, why) {
      settle(planned, 'failed', `${planned.change.target}: ${why}`);
      for (const proposal of planned.proposals) failedSteps.add(proposal);
      const outcome = outcomes.get(planned.id);
      if (outcome) outcomes.set(planned.id, { ...outcome, misplaced: true });
    },
    fail(planned, error) {
      const needs = planned.proposals[0]?.action.needs;
      const { target, forbidden } = planned.change;
      settle(planned, 'failed', `${target}: ${withPermissionHint(error, needs, forbidden)}`);
      for (const proposal of planned.proposals) failedSteps.add(proposal);
      if (!(error instanceof ReeveError)) return;
      if (error.code === 'forge-moved') isMoved = true;
      if (!error.keepsWork) return;
      const { code, retryAfterMs, status } = error;
      retry ??= new ReeveError(code, redact(error.message), { retryAfterMs, status });
    },
    isInFailedStep: ({ proposals }) => proposals.every((proposal) => failedSteps.has(proposal)),
    isInFailedRule: ({ proposals }) => proposals.every(({ rule }) => failedRules.has(rule.id)),
    has: ({ id }) => outcomes.has(id),
    of: (changes) => changes.flatMap(({ id }) => outcomes.get(id) ?? []),
    retry: () => retry,
    isMoved: () => isMoved,
  };
}
