import type { Change } from '../actions/change.ts';
import { ReeveError } from '../errors.ts';
import { RunBudget } from '../expressions/budget/budget.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { pullRequest } from '../facts/pull-request.ts';
import { budgetSourceOf } from '../rules/budget-source.ts';
import { evaluateRule } from '../rules/evaluate.ts';
import type { LoadedRule } from '../rules/rule.ts';
import type { Proposal } from './proposal.ts';
import type { RunInput } from './run-input.ts';

/** What a step wants of a target now: the change, or why there is none to make. */
export type Reconsidered =
  | { readonly change: Change }
  /** `polls`: what it waits for comes without an event on some forges. */
  | { readonly why: string; readonly polls: boolean };

/** Plans a step again from facts that know nothing yet, its conditions included, and returns what it wants of a target. */
export type Reconsider = (proposal: Proposal, target: string, facts: Facts) => Promise<Reconsidered>;

/**
 * Reads the head of a pull request before any other fact if a rule depends on it: what the other facts say then holds for
 * that commit or a newer one, and the forge refuses what is sent for a head that has moved.
 */
export async function readHeadFirst(rules: readonly LoadedRule[], facts: Facts): Promise<void> {
  const pins = rules.some(({ steps }) => steps.some(({ action }) => action.pinsHead));
  if (!pins || facts.subject.kind !== 'pull_request') return;
  // A fact that cannot be read fails where it is needed.
  await facts.ask(requestOf(pullRequest)).catch(() => {});
}

/** Creates the function for one run. Without an event or item (`input` undefined), conditions are not evaluated again. */
export function createReconsider(input: Pick<RunInput, 'event' | 'item' | 'now'> | undefined): Reconsider {
  return async (proposal, target, facts) => {
    const { rule, step: name, action, context } = proposal;
    await readHeadFirst([rule], facts);
    let given = proposal.arguments;
    let isAwaiting = false;
    if (input !== undefined) {
      // Bounded like a run of its own: it happens at most twice for each of the few changes that end a run.
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
    const change = changes.find((one) => one.target === target);
    if (change === undefined) return unwanted('it is no longer wanted', isAwaiting);
    if (change.already) return unwanted('already in the desired state');
    const needed = change.needs && changes.find((one) => one.target === change.needs);
    if (needed && !needed.already) return unwanted(`it goes only together with ${needed.target}`, isAwaiting);
    return change.waits ? unwanted(change.waits.why, change.waits.polls) : { change };
  };
}

function unwanted(why: string, polls = false): Reconsidered {
  return { why, polls };
}

/**
 * Says whether the forge refused a change for what is there, so that it is planned anew: something else changed meanwhile, or,
 * where an action knows refusals that are results, what it asked for does not work. Forges answer 500 for some of these.
 */
export function mayPlanAgain(error: unknown, wanted: readonly Proposal[]): error is ReeveError {
  if (!(error instanceof ReeveError)) return false;
  if (error.code === 'forge-conflict') return true;
  return isOddRefusal(error) && wanted.some(({ action }) => action.refused !== undefined);
}

function isOddRefusal({ status }: ReeveError): boolean {
  return status === 422 || status === 500;
}

/** Returns why a change that was refused twice is a result of its step; undefined if it is a failure. */
export async function resultOfRefusal(
  error: ReeveError,
  change: Change,
  [proposal]: readonly Proposal[],
): Promise<string | undefined> {
  return isOddRefusal(error) ? proposal?.action.refused?.(change, proposal.context) : undefined;
}
