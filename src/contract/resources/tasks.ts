import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { repositoryAs } from '../row-fields.ts';
import { instant, int, pages, resource, text } from '../shape.ts';

/** A job of a workflow run that a runner took. */
const ActionTask = resource(
  { id: int },
  {
    /** Of the job. */
    name: text,
    head_branch: text,
    head_sha: text,
    run_number: int,
    event: text,
    display_title: text,
    status: text,
    workflow_id: text,
    /** Page of the run. */
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
