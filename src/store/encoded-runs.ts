import { type RuleResults, ruleResultsOf } from '../engine/incidents/rule-failures.ts';
import type { Run } from '../engine/record.ts';

/** A run that is encoded outside the transaction: a run that is not plain data must fail before any write. */
export type EncodedRun = {
  readonly id: string;
  readonly startedAt: string;
  readonly json: string;
  readonly item: string | undefined;
  readonly results: RuleResults;
};

/** Encodes runs for storage. */
export function encodeRuns(runs: readonly Run[], repositoryId?: number): readonly EncodedRun[] {
  return runs.map((run) => ({
    id: run.id,
    startedAt: run.trigger.at,
    json: JSON.stringify(run),
    item: run.trigger.item,
    results: ruleResultsOf(run, { repositoryId }),
  }));
}
