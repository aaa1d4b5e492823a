import { z } from 'zod';
import { unsupportedReason } from '../client/capabilities.ts';
import type { Client } from '../client/client.ts';
import { operations } from '../contract/operations.ts';
import type { Branch } from '../contract/resources/branches.ts';
import { CommitStatus } from '../contract/resources/statuses.ts';
import type { WorkflowRun } from '../contract/resources/workflows.ts';
import { int, list, text } from '../contract/shape.ts';
import type { Matcher } from '../patterns/automaton.ts';
import { compileForgeGlob } from '../patterns/glob.ts';
import type { Meter } from '../patterns/meter.ts';
import { ReeveError } from '../platform/errors.ts';
import { type AskContext, defineFact, requestOf } from './fact.ts';
import { head as headRow } from './head.ts';
import { baseBranch } from './pull-request.ts';
import { ways } from './ways.ts';
import { repositoryParams } from './where.ts';

/** The newest status of every context of the subject's newest commit. */
export const statuses = defineFact({
  name: 'statuses',
  meaning:
    "The newest status of every `context` of the subject's newest commit (`head`); the member `status` is success, pending, failure, error, warning or skipped.",
  shows: 'repository',
  visibleTo: 'code',
  shape: list(CommitStatus),
  of: ['pull_request', 'branch', 'repository'],
  changes: [ways.pushed, ways.ran, ways.reported],
  needs: { access: 'reader', scopes: ['repository'] },
  isPolled: true,
  requests: 2,
  example: 'statuses.all(s, s.status == "success")',
  async ask({ client, subject, ask }) {
    const { sha } = await ask(requestOf(headRow));
    return readNewestStatuses(client, { ...repositoryParams(subject), sha });
  },
});

/** Reads the newest status of every context of a commit. */
export async function readNewestStatuses(
  client: Client,
  params: { readonly owner: string; readonly repo: string; readonly sha: string },
): Promise<CommitStatus[]> {
  const newest = new Map<string, CommitStatus>();
  // Uses the full list and keeps the newest status of each context: the total of the combined-status endpoint covers
  // only the current page, so the number of pages would be unknown.
  for await (const one of client.items(operations.listStatuses, { params })) {
    const context = one.context ?? '';
    const known = newest.get(context);
    if (known === undefined || one.id > known.id) newest.set(context, one);
  }
  return [...newest.values()];
}

const RequiredCheck = z.object({
  /** The required context as configured on the base branch (a glob). */
  context: text,
  state: z.enum(['success', 'pending', 'failure']),
});
type RequiredCheck = z.output<typeof RequiredCheck>;

/**
 * Context of the status that a merge queue writes on the heads of its pull requests. A required check depends on this
 * status only if its context is exactly this name.
 */
export const queueContext = 'reeve/queue';
/** Prefixes of the contexts that rules of the operator, of organizations and of repositories write by default. */
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
  changes: [ways.pushed, ways.ran, ways.reported, ways.retargeted, ways.protected],
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
    const judged = judgeRequiredChecks(base, await ask(requestOf(statuses)), meter);
    return judged.map(({ context, state }) => ({ context, state }));
  },
});

/**
 * A required check with `unpassed`, the matching statuses that have not passed; empty if no status matches the check.
 */
type JudgedCheck<Status = CommitStatus> = RequiredCheck & { readonly unpassed: readonly Status[] };

/** The members of a status that decide whether it has passed. */
type JudgedStatus = {
  readonly context?: string | null | undefined;
  readonly status?: string | null | undefined;
};

/**
 * Returns the checks that a branch requires, evaluated as the forge does for a merge, but stricter: Reeve's own
 * statuses do not satisfy a glob that matches every name. Forges ignore invalid globs; if all are invalid, nothing
 * passes.
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
  const globs = contexts.flatMap((glob) => {
    const matches = compileForgeGlob(glob, '');
    return matches === undefined ? [] : [{ glob, matches }];
  });
  return globs.length > 0 ? judgeContexts(globs, all, meter) : contexts.map((context) => judge(context, []));
}

/** Returns for each glob the statuses of its contexts, judged as required checks are. */
export function judgeContexts<Status extends JudgedStatus>(
  globs: readonly { readonly glob: string; readonly matches: Matcher }[],
  all: readonly Status[],
  meter: Meter,
): readonly JudgedCheck<Status>[] {
  const others = all.filter(({ context }) => context !== queueContext);
  return globs.map(({ glob, matches }) => {
    const candidates = glob === queueContext ? all : others;
    const found = candidates.filter((status) => matches(status.context ?? '', meter));
    return judge(glob, isForAnyName(glob) ? forAnyName(found) : found);
  });
}

/** Returns whether a glob contains no literal letter or digit outside character classes (`[a-z]`). */
function isForAnyName(context: string): boolean {
  return !/[\p{L}\p{N}]/u.test(context.replace(/\[[^\]]*\]/g, ''));
}

/**
 * Returns all statuses if at least one of them was not written by a rule of Reeve; otherwise only those that have not
 * passed.
 */
function forAnyName<Status extends JudgedStatus>(found: readonly Status[]): readonly Status[] {
  const isForeign = ({ context }: JudgedStatus): boolean =>
    !ownSpaces.some((space) => context?.toLowerCase().startsWith(space));
  const unpassed = found.filter(({ status }) => status !== 'success' && status !== 'skipped');
  return found.some(isForeign) ? found : unpassed;
}

function judge<Status extends JudgedStatus>(context: string, found: readonly Status[]): JudgedCheck<Status> {
  const unpassed = found.filter(({ status }) => status !== 'success' && status !== 'skipped');
  const hasFailed = unpassed.some(({ status }) => ['error', 'failure', 'warning'].includes(status ?? ''));
  const isPassed = found.length > 0 && unpassed.length === 0;
  return { context, state: hasFailed ? 'failure' : isPassed ? 'success' : 'pending', unpassed };
}

/** A manually started run of a workflow. */
const DispatchedRun = z.object({
  /** Greater than the ids of earlier runs. */
  id: int,
  /** Branch or tag, if the forge shows it, for example `main` or `refs/tags/v1`. */
  ref: text,
  /** One of `queued`, `waiting`, `in_progress`, `completed`. */
  status: text,
  /** Result of a completed run: `success`, `failure`, `cancelled`, `skipped`; empty otherwise. */
  conclusion: text,
  /** Id of the account that started the run; 0 if the forge does not show it. */
  actor_id: int,
});
export type DispatchedRun = z.output<typeof DispatchedRun>;

/** Maximum number of pages searched for a run. */
const maxPages = 20;

/** Runs of a workflow that were started manually or through the API, newest first. */
export const workflowRuns = defineFact({
  name: 'workflow_runs',
  meaning:
    'Runs of a workflow (`deploy.yml`) that were started by hand or through the API, newest first: those among the newest 50 such runs of the repository; `*` stands for all workflows. With `deploy.yml>123`, all its runs with an id above 123.',
  shows: 'repository',
  visibleTo: 'code',
  shape: list(DispatchedRun),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.elsewhere],
  needs: { access: 'reader', scopes: ['repository'] },
  argument: 'workflow',
  examineArgument: (argument) =>
    parseWorkflow(argument) === undefined ? 'name the file of a workflow, such as deploy.yml' : undefined,
  requests: 1,
  example: 'workflow_runs("deploy.yml").filter(r, r.status != "completed").size() == 0',
  async ask({ client, subject }, argument = '') {
    const { workflow, after } = parseWorkflow(argument) ?? { workflow: argument, after: undefined };
    await requireRuns(client);
    const params = repositoryParams(subject);
    const query = { event: 'workflow_dispatch' };
    const found: DispatchedRun[] = [];
    for await (const { page, items } of client.pages(operations.listWorkflowRuns, { params, query })) {
      for (const run of items) {
        if (after !== undefined && run.id <= after) return found;
        if (isRunOf(run, workflow)) found.push(toDispatchedRun(run));
      }
      if (after === undefined) return found;
      if (page >= maxPages) {
        throw new ReeveError('forge-paging', `more than ${maxPages} pages of workflow runs after ${after}`);
      }
    }
    return found;
  },
});

async function requireRuns(client: AskContext['client']): Promise<void> {
  const why = unsupportedReason(await client.capabilities(), ['workflow_runs']);
  if (why !== undefined) throw new ReeveError('forge-not-found', why);
}

function parseWorkflow(argument: string): { workflow: string; after: number | undefined } | undefined {
  const [, workflow, after] = /^(\*|[\w.-]+\.ya?ml)(?:>(\d+))?$/.exec(argument) ?? [];
  if (workflow === undefined) return undefined;
  return { workflow, after: after === undefined ? undefined : Number(after) };
}

/**
 * Returns whether a run is a manual run of a workflow. Forges without an event filter return all runs. The path is
 * `deploy.yml@refs/heads/main`, on Forgejo `deploy.yml`.
 */
function isRunOf({ event, path }: WorkflowRun, workflow: string): boolean {
  const [file = ''] = (path ?? '').split('@');
  return event === 'workflow_dispatch' && (workflow === '*' || file.split('/').at(-1) === workflow);
}

function toDispatchedRun(run: WorkflowRun): DispatchedRun {
  const [, ref = run.head_branch ?? ''] = (run.path ?? '').split(/@(.*)/s);
  const { id, status, conclusion } = run;
  const actor = run.trigger_actor ?? run.actor;
  return { id, ref, status: status ?? '', conclusion: conclusion ?? '', actor_id: actor?.id ?? 0 };
}
