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

/** Context of the status that a merge queue writes on the heads of its pull requests. No check waits for it unless it names it. */
export const queueContext = 'reeve/queue';
/** The beginnings of the names that rules of the operator, of organizations and of repositories write by default. */
const ownSpaces = ['reeve/', 'reeve-org/', 'reeve-repo/'];

/** The checks that the base branch requires, with their state on the head. */
export const requiredChecks = defineFact({
  name: 'required_checks',
  meaning:
    'The contexts that the base branch requires, each with its `state` on the head commit: `success`, `pending` or `failure`. A context is a glob and needs at least one status; without one it is pending. The status `reeve/queue` counts for its own name alone, and a glob for every name (`*`, `*/*`) needs a status that no rule of Reeve wrote. Skipped counts as success. A broken glob is left out, as the forge leaves it out; if all are broken, all are pending. If the branch requires checks and names no context, all statuses count, under the context `*`. Empty if the branch requires none.',
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
 * Returns the checks that a branch requires, as the forge decides on a merge, and stricter: our own statuses do not fulfil a glob for
 * every name. Forges leave out globs that they cannot read; if they can read none, nothing passes.
 */
export function judgeRequiredChecks(
  base: Branch,
  all: readonly CommitStatus[],
  meter: Meter,
): readonly JudgedCheck[] {
  if (!base.enable_status_check) return [];
  const contexts = base.status_check_contexts ?? [];
  const others = all.filter(({ context }) => context !== queueContext);
  if (contexts.length === 0) return [judge('*', forAnyName(others))];
  const judged = contexts.flatMap((context) => {
    const matches = compileForgeGlob(context, '');
    if (matches === undefined) return [];
    const candidates = context === queueContext ? all : others;
    const found = candidates.filter((status) => matches(status.context ?? '', meter));
    return [judge(context, isForAnyName(context) ? forAnyName(found) : found)];
  });
  return judged.length > 0 ? judged : contexts.map((context) => judge(context, []));
}

/** Whether a glob has no letter or digit of a name, those in classes (`[a-z]`) left out. */
function isForAnyName(context: string): boolean {
  return !/[\p{L}\p{N}]/u.test(context.replace(/\[[^\]]*\]/g, ''));
}

/** Returns the statuses, if one of them was not written by a rule of Reeve; otherwise the check has none yet. */
function forAnyName(found: readonly CommitStatus[]): readonly CommitStatus[] {
  const isForeign = ({ context }: CommitStatus): boolean =>
    !ownSpaces.some((space) => context?.toLowerCase().startsWith(space));
  const unpassed = found.filter(({ status }) => status !== 'success' && status !== 'skipped');
  return found.some(isForeign) ? found : unpassed;
}

function judge(context: string, found: readonly CommitStatus[]): JudgedCheck {
  const unpassed = found.filter(({ status }) => status !== 'success' && status !== 'skipped');
  const hasFailed = unpassed.some(({ status }) => ['error', 'failure', 'warning'].includes(status ?? ''));
  const isPassed = found.length > 0 && unpassed.length === 0;
  return { context, state: hasFailed ? 'failure' : isPassed ? 'success' : 'pending', unpassed };
}
