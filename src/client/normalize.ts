import type { Operation } from '../contract/operation.ts';
import { normalizeCompare } from './compare.ts';
import { normalizeContents } from './contents.ts';
import { normalizeRunners } from './runners.ts';
import { normalizeWorkflowRuns } from './workflow-runs.ts';

const rules: Readonly<Record<NonNullable<Operation['normalize']>, (answer: unknown) => unknown>> = {
  runners: normalizeRunners,
  contents: normalizeContents,
  compare: normalizeCompare,
  'workflow-runs': normalizeWorkflowRuns,
};

/** Returns an answer in the baseline's form, whichever forge gave it. */
export function normalizeAnswer({ normalize }: Operation, answer: unknown): unknown {
  return normalize === undefined ? answer : rules[normalize](answer);
}
