import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { repositoryAs } from '../row-fields.ts';
import { flag, inRepository, instant, int, pages, resource, text } from '../shape.ts';
import { Repository } from './repositories.ts';
import { User } from './users.ts';

/** A workflow file on the default branch. */
export const Workflow = resource(
  /** File name without its folder. */
  { id: text },
  {
    name: text,
    path: text,
    /** `active` or `disabled_manually`. */
    state: text,
    created_at: instant,
    updated_at: instant,
    deleted_at: instant,
    url: text,
    html_url: text,
    badge_url: text,
  },
);
export type Workflow = z.output<typeof Workflow>;

/** A run of a workflow. The client converts the fields of Forgejo that have a counterpart. */
export const WorkflowRun = resource(
  { id: int },
  {
    url: text,
    html_url: text,
    previous_attempt_url: text,
    display_title: text,
    /** File name and ref, for example `build.yml@refs/heads/main`; only the file name on Forgejo. */
    path: text,
    /** Triggering event, for example `push` or `workflow_dispatch`. */
    event: text,
    run_attempt: int,
    /** Sequence number within the repository. */
    run_number: int,
    head_sha: text,
    head_branch: text,
    /** One of `queued`, `waiting`, `in_progress`, `completed`. */
    status: text,
    /** Result of a completed run: `success`, `failure`, `cancelled`, `skipped`; empty otherwise. */
    conclusion: text,
    actor: User,
    trigger_actor: User,
    repository: Repository,
    head_repository: Repository,
    pull_requests: z.array(resource({}, { id: int, number: int, url: text })),
    started_at: instant,
    completed_at: instant,
  },
);
export type WorkflowRun = z.output<typeof WorkflowRun>;

/** The dispatched run: first Gitea's fields, then Forgejo's. */
const DispatchedRun = resource(
  {},
  { workflow_run_id: int, run_url: text, html_url: text, id: int, run_number: int, jobs: z.array(text) },
);

const actions = '/repos/{owner}/{repo}/actions';
const atWorkflow = z.object({ ...inRepository, workflow_id: text });
const narrowed = {
  ...pages,
  event: text.optional(),
  branch: text.optional(),
  /** May be repeated. */
  status: z.array(text).optional(),
  actor: text.optional(),
  head_sha: text.optional(),
};
const runs = resource({}, { total_count: int, workflow_runs: z.array(WorkflowRun) });
const inFile = 'routers/api/v1/repo/action.go';

/** Workflows of the forge's own CI. Forgejo supports only dispatching and runs. */
export const workflowOperations = {
  listWorkflows: defineOperation({
    id: 'workflow.list',
    meaning: 'Lists the workflows of the default branch, unpaged; not on Forgejo.',
    method: 'GET',
    path: `${actions}/workflows`,
    ...repositoryAs('signed-in'),
    success: 200,
    response: resource({}, { total_count: int, workflows: z.array(Workflow) }),
    errors: [404],
    baseline: { 'empty repository': 500 },
    source: `${inFile} ActionsListRepositoryWorkflows`,
  }),
  getWorkflow: defineOperation({
    id: 'workflow.get',
    meaning: 'Returns a workflow of the default branch by the name of its file; not on Forgejo.',
    method: 'GET',
    path: `${actions}/workflows/{workflow_id}`,
    ...repositoryAs('signed-in'),
    params: atWorkflow,
    success: 200,
    response: Workflow,
    errors: [404],
    source: `${inFile} ActionsGetWorkflow`,
  }),
  dispatchWorkflow: defineOperation({
    id: 'workflow.dispatch',
    meaning:
      'Runs a workflow of `ref` by hand. 204; with `return_run_details` Gitea answers 200 with the run, with `return_run_info` Forgejo 201.',
    method: 'POST',
    path: `${actions}/workflows/{workflow_id}/dispatches`,
    ...repositoryAs('writer'),
    params: atWorkflow,
    query: z.object({ return_run_details: flag.optional() }),
    body: z.strictObject({
      /** Full name of a branch or tag, or short name of a branch. */
      ref: text,
      inputs: z.record(text, text).optional(),
      return_run_info: flag.optional(),
    }),
    success: 204,
    response: DispatchedRun.optional(),
    errors: [403, 404, 422],
    source: `${inFile} ActionsDispatchWorkflow; services/actions/workflow.go`,
  }),
  listWorkflowRuns: defineOperation({
    id: 'workflow-run.list',
    meaning: 'Lists the runs of a repository, newest first.',
    method: 'GET',
    path: `${actions}/runs`,
    ...repositoryAs('signed-in'),
    query: z.object(narrowed),
    success: 200,
    response: runs,
    errors: [400, 404],
    paging: 'link',
    normalize: 'workflow-runs',
    baseline: { 'unknown actor': 500 },
    source: 'routers/api/v1/shared/action.go ListRuns',
  }),
  listRunsOfWorkflow: defineOperation({
    id: 'workflow-run.list-of-workflow',
    meaning: 'Lists the runs of one workflow, newest first; not on Forgejo.',
    method: 'GET',
    path: `${actions}/workflows/{workflow_id}/runs`,
    ...repositoryAs('signed-in'),
    params: atWorkflow,
    query: z.object(narrowed),
    success: 200,
    response: runs,
    errors: [400, 404],
    paging: 'link',
    normalize: 'workflow-runs',
    source: `${inFile} ActionsListWorkflowRuns`,
  }),
  getWorkflowRun: defineOperation({
    id: 'workflow-run.get',
    meaning: 'Returns a run.',
    method: 'GET',
    path: `${actions}/runs/{run}`,
    ...repositoryAs('reader'),
    params: z.object({ ...inRepository, run: int }),
    success: 200,
    response: WorkflowRun,
    errors: [404],
    normalize: 'workflow-runs',
    source: `${inFile} GetWorkflowRun`,
  }),
} as const;

/** A job of a workflow run that a runner has picked up. */
const ActionTask = resource(
  { id: int },
  {
    /** Name of the job. */
    name: text,
    head_branch: text,
    head_sha: text,
    run_number: int,
    event: text,
    display_title: text,
    status: text,
    workflow_id: text,
    /** URL of the page of the run. */
    url: text,
    created_at: instant,
    updated_at: instant,
    run_started_at: instant,
  },
);

export const taskOperations = {
  listTasks: defineOperation({
    id: 'repository-task.list',
    meaning: 'Lists the jobs of a repository that runners took, newest first; `workflow_runs` holds them.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/actions/tasks',
    ...repositoryAs('reader'),
    query: z.object(pages),
    success: 200,
    response: resource({}, { total_count: int, workflow_runs: z.array(ActionTask) }),
    errors: [403, 404],
    paging: 'count',
    source: 'routers/api/v1/repo/action.go ListActionTasks',
  }),
} as const;
