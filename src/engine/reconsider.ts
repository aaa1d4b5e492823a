import type { Change } from '../actions/change.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { pullRequest } from '../facts/pull-request.ts';
import { ReeveError } from '../platform/errors.ts';
import { evaluateRule } from '../rules/evaluate.ts';
import { RunBudget } from '../rules/expressions/budget.ts';
import { budgetSourceOf, type LoadedRule } from '../rules/rule.ts';
import type { Proposal } from './proposal.ts';
import type { RunInput } from './run-context.ts';
import { type HeadPin, isPinned, judgeJointly, type OpenPulls, pinHead } from './same-commit.ts';

/** Result of planning a step again: the change, or why there is no change. */
export type Reconsidered =
  /** `others`: other pull requests share the commit about which the change decides. */
  | { readonly change: Change; readonly others?: true }
  /** `polls`: the change waits for a state that some forges change without an event. */
  | { readonly why: string; readonly polls: boolean }
  /** The head moved during the evaluation, so the evaluation has to be repeated. */
  | { readonly moved: true };

/**
 * Plans a step again from an empty fact cache, with its conditions, and returns the step's change for a target. `pin`
 * is the head for which the conditions were evaluated; they still hold if the head has not moved. If `pin` is absent,
 * conditions are evaluated again.
 */
export type Reconsider = (
  proposal: Proposal,
  target: string,
  facts: Facts,
  pin?: HeadPin,
) => Promise<Reconsidered>;

/**
 * Reads the head before any other fact if a rule depends on the head. The other facts then belong to that commit or a
 * newer one. If the forge does not itself refuse requests for a head that has moved, returns the head for later
 * comparison.
 */
export async function readHeadFirst(
  rules: readonly LoadedRule[],
  facts: Facts,
  pulls?: OpenPulls,
): Promise<HeadPin | undefined> {
  const actions = rules.flatMap(({ steps }) => steps.map(({ action }) => action));
  if (actions.some(({ ofCommit }) => ofCommit)) return pinHead(facts, pulls);
  if (!actions.some(({ pinsHead }) => pinsHead) || facts.subject.kind !== 'pull_request') return undefined;
  // An error is ignored here: a fact that cannot be read fails where it is used.
  await facts.ask(requestOf(pullRequest)).catch(() => {});
  return undefined;
}

/**
 * Creates the function for one run. Without an event or item (`input` is undefined), conditions are not evaluated
 * again.
 */
export function createReconsider(input: RunInput | undefined): Reconsider {
  return async (proposal, target, facts, known) => {
    const { rule, step: name, action, context } = proposal;
    const pulls = input?.pulls;
    const pin = known ?? (await readHeadFirst([rule], facts, pulls));
    let given = proposal.arguments;
    let isAwaiting = false;
    if (input !== undefined && known === undefined) {
      // A separate budget, as for a run of its own: this happens at most a few times, and only for the few changes with
      // `reconsiders`.
      const meter = new RunBudget([budgetSourceOf(rule)]).meterFor(budgetSourceOf(rule), rule.name);
      const {
        verdict,
        steps,
        retry,
        awaitsChecks = false,
      } = await evaluateRule(rule, {
        ...input,
        facts,
        meter,
        isBeforeWrite: true,
      });
      const step = steps.find((one) => one.step.name === name);
      if (verdict.verdict === 'failed') throw retry ?? new Error(verdict.reason ?? 'its rule failed');
      if (step?.state !== 'ready') return unwanted('its conditions no longer hold', awaitsChecks);
      given = step.arguments;
      isAwaiting = awaitsChecks;
    }
    const changes = await action.plan(given, facts, context);
    const own = changes.find((one) => one.target === target);
    if (own === undefined) return unwanted('it is no longer wanted', isAwaiting);
    if (action.ofCommit && pin && own.input.params?.sha !== pin.sha) return { moved: true };
    const judged = { rule, step: name, action, context };
    const { change, others, hasMoved } = await judgeJointly(own, judged, { facts, pulls, isAnew: true });
    if (hasMoved) return { moved: true };
    if (change.already) return unwanted('already in the desired state');
    const needed = change.needs && changes.find((one) => one.target === change.needs);
    if (needed && !needed.already)
      return unwanted(`it requires ${needed.target}, which has not been made`, isAwaiting);
    if (change.waits) return unwanted(change.waits.why, change.waits.polls);
    // Read last, so that no evaluated fact can belong to another commit.
    if (action.ofCommit && pin && !(await isPinned(pin, facts, pulls))) return { moved: true };
    return others.length > 0 ? { change, others: true } : { change };
  };
}

function unwanted(why: string, polls = false): Reconsidered {
  return { why, polls };
}

/**
 * Returns whether a refused change should be planned again: because the state has changed in the meantime, or because
 * an action treats this refusal as a result. Some forges return 500 in these cases.
 */
export function mayPlanAgain(error: unknown, wanted: readonly Proposal[]): error is ReeveError {
  if (!(error instanceof ReeveError)) return false;
  if (error.code === 'forge-conflict') return true;
  return isOddRefusal(error) && wanted.some(({ action }) => action.refused !== undefined);
}

function isOddRefusal({ status }: ReeveError): boolean {
  return status === 422 || status === 500;
}

/** Returns why the second refusal of a change is a result of the step; undefined if it is a failure. */
export async function resultOfRefusal(
  error: ReeveError,
  change: Change,
  [proposal]: readonly Proposal[],
): Promise<string | undefined> {
  return isOddRefusal(error) ? proposal?.action.refused?.(change, proposal.context) : undefined;
}
