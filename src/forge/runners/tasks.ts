import type { WorkflowRunRow } from '../core/rows.ts';
import { toInstant } from '../core/time.ts';
import { defineHandlers } from '../http/handler.ts';
import { repositoryAddress } from '../views/commit.ts';
import { requireActions } from './workflows.ts';

type TaskRow = WorkflowRunRow & {
  readonly task_id: number;
  readonly job_name: string;
  readonly job_status: string;
};

/** Handlers for tasks: jobs that a runner took. Jobs of this forge are queued or wait for others until one does. */
export const taskHandlers = defineHandlers({
  listTasks(call) {
    requireActions(call);
    const { context, repository, owner, page } = call;
    const { db } = context;
    const from = `FROM workflow_jobs j JOIN workflow_runs w ON w.id = j.run_id
      WHERE w.repo_id = ? AND j.status NOT IN ('queued', 'waiting')`;
    const count = db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, repository.id);
    const rows = db.all<TaskRow>(
      `SELECT w.*, j.id AS task_id, j.name AS job_name, j.status AS job_status ${from}
       ORDER BY j.id DESC LIMIT ? OFFSET ?`,
      repository.id,
      page.limit,
      page.offset,
    );
    const { html } = repositoryAddress(context.rootUrl(), owner.name, repository.name);
    const tasks = rows.map((row) => ({
      id: row.task_id,
      name: row.job_name,
      head_branch: row.ref.replace(/^refs\/(heads|tags)\//, ''),
      head_sha: row.sha,
      run_number: row.number,
      event: row.event,
      display_title: row.title,
      status: row.job_status,
      workflow_id: row.workflow_id,
      url: `${html}/actions/runs/${row.id}`,
      created_at: toInstant(row.created_at),
      updated_at: toInstant(row.completed_at || row.started_at),
      run_started_at: toInstant(row.started_at),
    }));
    const total = count?.count ?? 0;
    call.reply.total(total);
    return { workflow_runs: tasks, total_count: total };
  },
});
