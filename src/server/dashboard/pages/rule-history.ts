import type { Run } from '../../../engine/record.ts';
import type { Verdict } from '../../../rules/verdict.ts';
import type { DashboardData } from '../data.ts';

/** Runs that are searched for rules: a run is one text, and no index knows its rules. */
export const searchedRuns = 200;

/** One evaluation of a rule. */
export type RuleEvaluation = { readonly run: Run; readonly verdict: Verdict };

/** What the newest runs say of rules. `isWhole`: there are no others. */
export type RuleHistory = {
  /** Returns the evaluations of a rule, newest first. */
  readonly of: (id: string) => readonly RuleEvaluation[];
  readonly isWhole: boolean;
};

/** Reads the evaluations of all rules in the newest runs. Runs in which a rule was not considered do not count. */
export async function readRuleHistory(store: Pick<DashboardData['store'], 'listRuns'>): Promise<RuleHistory> {
  const { items, next } = await store.listRuns({ limit: searchedRuns });
  const found = new Map<string, RuleEvaluation[]>();
  for (const run of items) {
    for (const verdict of run.rules) {
      if (verdict.verdict === 'skipped') continue;
      const known = found.get(verdict.rule);
      if (known === undefined) found.set(verdict.rule, [{ run, verdict }]);
      else if (known.at(-1)?.run !== run) known.push({ run, verdict });
    }
  }
  return { of: (id) => found.get(id) ?? [], isWhole: next === undefined };
}
