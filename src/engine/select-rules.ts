import { eventFamilies } from '../contract/events/event-families.ts';
import type { Event } from '../contract/events/events.ts';
import type { Facts } from '../facts/fact.ts';
import { LimitExceeded, type Meter } from '../patterns/meter.ts';
import { failRule, skipRule } from '../rules/evaluate.ts';
import { limits, RunBudget } from '../rules/expressions/budget.ts';
import { hasWideObject } from '../rules/expressions/values.ts';
import { isInScope, skipReason } from '../rules/match.ts';
import { budgetSourceOf, type LoadedRule, type RuleSet, runsForConcerned } from '../rules/rule.ts';
import { needsEvent, type SkipReason, type Verdict } from '../rules/verdict.ts';
import type { EventCause } from './bounds/consequences.ts';
import { isGrantedAt } from './bounds/grants.ts';

/** A rule that the event or item concerns, with the meter that its expressions and patterns are charged to. */
export type Considered = { readonly rule: LoadedRule; readonly meter: Meter };
/** The rules that are evaluated, and the verdicts on those that need not be. */
export type Selection = { readonly considered: readonly Considered[]; readonly decided: readonly Verdict[] };

/** What the selection of rules depends on; the engine documents each member with its input. */
type SelectionInput = {
  readonly rules: RuleSet;
  readonly event?: Event | undefined;
  readonly facts: Facts;
  readonly account?: { readonly id: number } | undefined;
  readonly explainAll?: boolean | undefined;
  readonly cause?: EventCause | undefined;
};

/**
 * Returns the rules that a run evaluates. Their filters and scopes are charged to the budget of the run, which the rest of
 * the run continues to spend; a rule whose filter exceeds it has failed.
 */
export function selectRules({ event, rules, facts, account, explainAll, cause }: SelectionInput): Selection {
  if (event === undefined) {
    return select(rules.rules, (rule, meter) => {
      if (needsEvent(rule)) return 'not recoverable';
      if (!isInScope(rule, facts.subject, meter)) return 'scope';
      return isGrantedAt(rule, facts.subject) ? undefined : 'grant';
    });
  }
  const { family } = event;
  // Rules for the pull requests that an event concerns run with these as their subjects, and only with these.
  const isItem = family !== undefined && facts.subject.kind !== eventFamilies[family].subject;
  const listening =
    family === undefined
      ? []
      : rules.listeningTo(family).filter((rule) => runsForConcerned(rule, family) === isItem);
  const own = account !== undefined && event.sender?.id === account.id;
  const selection = select(explainAll ? rules.rules : listening, (rule, meter) =>
    own && (cause === undefined || cause.rules.includes(rule.id))
      ? 'own'
      : (skipReason(rule, event, meter) ?? (isGrantedAt(rule, facts.subject) ? undefined : 'grant')),
  );
  if (selection.considered.length === 0 || !hasWideObject(event.payload)) return selection;
  const failed = selection.considered.map(({ rule }) => failRule(rule, tooWide));
  return { considered: [], decided: [...selection.decided, ...failed] };
}

const tooWide = `too large to judge: the event has an object with more than ${limits.members} members`;

function select(
  rules: readonly LoadedRule[],
  reasonAgainst: (rule: LoadedRule, meter: Meter) => SkipReason | undefined,
): Selection {
  const budget = new RunBudget(rules.map(budgetSourceOf));
  const considered: Considered[] = [];
  const decided: Verdict[] = [];
  for (const rule of rules) {
    const meter = budget.meterFor(budgetSourceOf(rule), rule.name);
    try {
      const reason = reasonAgainst(rule, meter);
      if (reason === undefined) considered.push({ rule, meter });
      else decided.push(skipRule(rule, reason));
    } catch (error) {
      if (!(error instanceof LimitExceeded)) throw error;
      decided.push(failRule(rule, error.message));
    }
  }
  return { considered, decided };
}
