import { loadUsers, toUser } from '../accounts/users-rows.ts';
import { repositoryAddress } from '../code/commits-rows.ts';
import type { ForgeContext } from '../platform/context.ts';
import { type CommitData, instantOf } from '../platform/git/commit.ts';
import type { RepositoryRow, Seconds, UserRow } from '../platform/rows.ts';
import { toInstant, yearOne } from '../platform/time.ts';
import { toRepository } from '../repositories/repositories-rows.ts';

/** A run of a workflow. */
export type WorkflowRunRow = {
  readonly id: number;
  readonly repo_id: number;
  /** Sequence number within the repository. */
  readonly number: number;
  readonly workflow_id: string;
  /** Full name of the ref. */
  readonly ref: string;
  readonly sha: string;
  readonly title: string;
  readonly event: string;
  readonly actor_id: number;
  /** JSON object of the inputs by name. */
  readonly inputs: string;
  readonly status: string;
  /** Empty until the run is completed. */
  readonly conclusion: string;
  readonly created_at: Seconds;
  readonly started_at: Seconds;
  readonly completed_at: Seconds;
};

export type WorkflowJobRow = {
  readonly id: number;
  readonly run_id: number;
  readonly name: string;
  /** JSON list of runner labels. */
  readonly labels: string;
  readonly status: string;
};

type WorkflowPlace = { readonly repository: RepositoryRow; readonly owner: UserRow };

/**
 * Returns a workflow file of the default branch as the API shows it. Its dates are those of the branch's last commit.
 */
export function toWorkflow(
  context: ForgeContext,
  { repository, owner }: WorkflowPlace,
  file: {
    readonly folder: string;
    readonly name: string;
    readonly title: string;
    readonly commit: CommitData;
  },
) {
  const address = repositoryAddress(context.rootUrl(), owner.name, repository.name);
  const name = encodeURIComponent(file.name);
  const branch = encodeURIComponent(repository.default_branch);
  return {
    id: file.name,
    name: file.title || file.name,
    path: `${file.folder}/${file.name}`,
    state: 'active',
    created_at: instantOf(file.commit.author),
    updated_at: instantOf(file.commit.author),
    url: `${address.api}/actions/workflows/${name}`,
    html_url: `${address.html}/src/branch/${repository.default_branch}/${file.folder}/${name}`,
    badge_url: `${address.html}/actions/workflows/${name}/badge.svg?branch=${branch}`,
    deleted_at: yearOne,
  };
}

/** Returns runs of one repository as the API shows them, in the order given. */
export function toWorkflowRuns(
  context: ForgeContext,
  { repository, owner }: WorkflowPlace,
  rows: readonly WorkflowRunRow[],
) {
  const address = repositoryAddress(context.rootUrl(), owner.name, repository.name);
  const home = toRepository(context, repository, { owner, viewer: undefined, permission: 'none' });
  const users = loadUsers(
    context,
    rows.map(({ actor_id }) => actor_id),
  );
  return rows.map((row) => {
    const user = users.get(row.actor_id);
    const actor = user ? toUser(context, user, undefined) : null;
    return {
      id: row.id,
      url: `${address.api}/actions/runs/${row.id}`,
      previous_attempt_url: null,
      html_url: `${address.html}/actions/runs/${row.id}`,
      display_title: row.title,
      path: `${row.workflow_id}@${row.ref}`,
      event: row.event,
      run_attempt: 1,
      run_number: row.number,
      head_sha: row.sha,
      ...branchOf(row),
      status: row.status,
      actor,
      trigger_actor: actor,
      repository: home,
      ...(row.conclusion === '' ? {} : { conclusion: row.conclusion }),
      pull_requests: [],
      started_at: toInstant(row.started_at),
      completed_at: toInstant(row.completed_at),
    };
  });
}

/** Returns a job of a run as webhooks carry it. */
export function toWorkflowJob(
  context: ForgeContext,
  { repository, owner }: WorkflowPlace,
  run: WorkflowRunRow,
  job: WorkflowJobRow,
) {
  const address = repositoryAddress(context.rootUrl(), owner.name, repository.name);
  return {
    id: job.id,
    url: `${address.api}/actions/jobs/${job.id}`,
    html_url: `${address.html}/actions/runs/${run.id}/jobs/${job.id}`,
    run_id: run.id,
    run_url: `${address.api}/actions/runs/${run.id}`,
    name: job.name,
    // The cast is safe: the dispatch writes this column.
    labels: JSON.parse(job.labels) as string[],
    run_attempt: 1,
    head_sha: run.sha,
    ...branchOf(run),
    status: job.status,
    steps: [],
    created_at: toInstant(run.created_at),
    started_at: toInstant(0),
    completed_at: toInstant(0),
  };
}

/** Returns the branch of a run; absent for a tag. */
function branchOf({ ref }: WorkflowRunRow): { head_branch?: string } {
  return ref.startsWith('refs/heads/') ? { head_branch: ref.slice('refs/heads/'.length) } : {};
}
