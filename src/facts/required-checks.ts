import { z } from 'zod';
import type { Branch } from '../contract/resources/branches.ts';
import type { CommitStatus } from '../contract/resources/statuses.ts';
import { list, text } from '../contract/shape.ts';
import { compileForgeGlob } from '../patterns/forge-glob.ts';
import type { Meter } from '../patterns/meter.ts';
import { baseBranch } from './base-branch.ts';
import { defineFact, requestOf } from './fact.ts';
import { statuses as statusesRow } from './statuses.ts';

const RequiredCheck = z.object({
  /** The context that the base branch requires, as it is written there: a glob. */
  context: text,
  state: z.enum(['success', 'pending', 'failure']),
});
type RequiredCheck = z.output<typeof RequiredCheck>;

/** The checks that the base branch requires, with their state on the head. */
export const requiredChecks = defineFact({
  name: 'required_checks',
  meaning:
    'The contexts that the base branch requires, each with its `state` on the head commit: `success`, `pending` or `failure`. A context is a glob and needs at least one status; without one it is pending. Skipped counts as success. A broken glob is left out, as the forge leaves it out; if all are broken, all are pending. If the branch requires checks and names no context, all statuses count, under the context `*`. Empty if the branch requires none.',
  shows: 'repository',
  visibleTo: 'code',
  shape: list(RequiredCheck),
  of: ['pull_request'],
  needs: { access: 'reader', scopes: ['repository'] },
  isPolled: true,
  requests: 3,
  example: 'required_checks.all(c, c.state == "success")',
  complete: (written) =>
    typeof written === 'object' && written !== null && !Array.isArray(written)
      ? Object.entries(written).map(([context, state]) => ({ context, state }))
      : written,
  async ask({ ask, meter }) {
    const base = await ask(requestOf(baseBranch));
    if (!base.enable_status_check) return [];
    const judged = judgeRequiredChecks(base, await ask(requestOf(statusesRow)), meter);
    return judged.map(({ context, state }) => ({ context, state }));
  },
});

/** `unpassed`: the statuses that the check matches and that have not passed; none if it matches no status. */
type JudgedCheck = RequiredCheck & { readonly unpassed: readonly CommitStatus[] };

/**
 * Returns the checks that a branch requires, as the forge decides on a merge. Forges leave out globs that they cannot read;
 * if they can read none, nothing passes.
 */
export function judgeRequiredChecks(
  base: Branch,
  all: readonly CommitStatus[],
  meter: Meter,
): readonly JudgedCheck[] {
  if (!base.enable_status_check) return [];
  const contexts = base.status_check_contexts ?? [];
  if (contexts.length === 0) return [judge('*', all)];
  const judged = contexts.flatMap((context) => {
    const matches = compileForgeGlob(context, '');
    if (matches === undefined) return [];
    return [
      judge(
        context,
        all.filter((status) => matches(status.context ?? '', meter)),
      ),
    ];
  });
  return judged.length > 0 ? judged : contexts.map((context) => judge(context, []));
}

function judge(context: string, found: readonly CommitStatus[]): JudgedCheck {
  const unpassed = found.filter(({ status }) => status !== 'success' && status !== 'skipped');
  const hasFailed = unpassed.some(({ status }) => ['error', 'failure', 'warning'].includes(status ?? ''));
  const isPassed = found.length > 0 && unpassed.length === 0;
  return { context, state: hasFailed ? 'failure' : isPassed ? 'success' : 'pending', unpassed };
}
