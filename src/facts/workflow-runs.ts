import { z } from 'zod';
import { unsupportedReason } from '../client/capabilities.ts';
import { operations } from '../contract/operations.ts';
import type { WorkflowRun } from '../contract/resources/workflows.ts';
import { int, list, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { type AskContext, defineFact } from './fact.ts';
import { repositoryParams } from './where.ts';

/** One run of a workflow that was started by hand. */
const DispatchedRun = z.object({
  /** Greater than that of earlier runs. */
  id: int,
  /** Branch or tag, as far as the forge shows it: `main`, `refs/tags/v1`. */
  ref: text,
  /** `queued`, `waiting`, `in_progress`, `completed`. */
  status: text,
  /** Of a completed run: `success`, `failure`, `cancelled`, `skipped`; empty otherwise. */
  conclusion: text,
  /** The account that started it; 0 if the forge does not show it. */
  actor_id: int,
});
export type DispatchedRun = z.output<typeof DispatchedRun>;

/** More than this many pages of runs are not searched for one. */
const maxPages = 20;

/** Runs of a workflow that were started by hand or through the API, newest first. */
export const workflowRuns = defineFact({
  name: 'workflow_runs',
  meaning:
    'Runs of a workflow (`deploy.yml`) that were started by hand or through the API, newest first: those among the newest 50 such runs of the repository; `*` stands for all workflows. With `deploy.yml>123`, all its runs with an id above 123.',
  shows: 'repository',
  visibleTo: 'code',
  shape: list(DispatchedRun),
  of: ['repository', 'pull_request', 'issue', 'branch'],
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

/** Forges that know no filter by event return all runs. The path is `deploy.yml@refs/heads/main`, on Forgejo `deploy.yml`. */
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
