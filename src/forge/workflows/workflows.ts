import { parse } from 'yaml';
import { isRecord } from '../../contract/events/payload-members.ts';
import { toOrganization, toUser } from '../accounts/users-rows.ts';
import { repositoryAddress } from '../code/commits-rows.ts';
import { userNamed } from '../platform/access/redirects.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import type { CommitData } from '../platform/git/commit.ts';
import { readBranch, readTag } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { findEntry, readBlob, readTree } from '../platform/git/tree.ts';
import { defineHandlers, type Reply } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import type { UserRow } from '../platform/rows.ts';
import { secondsOf, toInstant } from '../platform/time.ts';
import { toRepository } from '../repositories/repositories-rows.ts';
import {
  toWorkflow,
  toWorkflowJob,
  toWorkflowRuns,
  type WorkflowJobRow,
  type WorkflowRunRow,
} from './workflows-rows.ts';
import { requireActions, type WorkflowTarget } from './workflows-service.ts';

async function findFile(call: WorkflowTarget, commit: CommitData, name: string): Promise<WorkflowFile> {
  const git = call.context.git.open(call.repository.id);
  const files = await listWorkflowFiles(git, commit.id);
  return found(
    files.find((file) => file.name === name),
    `workflow "${name}" doesn't exist`,
  );
}

/**
 * Returns the last commit of the default branch, or ends the request with 404 if the branch does not exist, where Gitea
 * responds with 500.
 */
async function defaultTip({ context, repository }: WorkflowTarget): Promise<CommitData> {
  const git = context.git.open(repository.id);
  return found(await readBranch(git, repository.default_branch), 'the default branch does not exist');
}

async function describeFile(call: WorkflowTarget, commit: CommitData, file: WorkflowFile) {
  const { title } = await readWorkflowFile(call.context.git.open(call.repository.id), file);
  return toWorkflow(call.context, call, { ...file, title, commit });
}

type RunFilter = {
  readonly event?: string | undefined;
  readonly branch?: string | undefined;
  readonly status?: readonly string[] | undefined;
  readonly actor?: string | undefined;
  readonly head_sha?: string | undefined;
};

/** Filter values and the states they select: the status of a run, or the conclusion of a completed one. */
const statusWords: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ['pending', 'waiting', 'requested', 'action_required'].map((word) => [word, ['waiting']]),
  ),
  queued: ['queued'],
  in_progress: ['in_progress'],
  completed: ['success', 'failure', 'skipped', 'cancelled'],
  failure: ['failure'],
  success: ['success'],
  skipped: ['skipped'],
  neutral: ['skipped'],
  cancelled: ['cancelled'],
  timed_out: ['cancelled'],
};

function statesOf(words: readonly string[]): readonly string[] {
  return words.flatMap((word) => {
    const states = Object.hasOwn(statusWords, word) ? statusWords[word] : undefined;
    if (states === undefined) throw new ForgeProblem(400, `invalid status ${word}`);
    return states;
  });
}

type RunListing = WorkflowTarget & {
  readonly query: RunFilter;
  readonly page: PageRange;
  readonly reply: Reply;
};

function listRuns(call: RunListing, workflowId?: string) {
  const { context, query, page, reply, repository } = call;
  // Gitea responds with 500 for an unknown account.
  const actor = query.actor ? found(userNamed(context.db, query.actor), 'user does not exist').id : undefined;
  const states = statesOf(query.status ?? []);
  const conditions = [
    ['repo_id = ?', repository.id],
    ['workflow_id = ?', workflowId],
    ['event = ?', query.event],
    ['ref = ?', query.branch && `refs/heads/${query.branch}`],
    ['actor_id = ?', actor],
    ['sha = ?', query.head_sha],
    [
      `(CASE status WHEN 'completed' THEN conclusion ELSE status END) IN (SELECT value FROM json_each(?))`,
      states.length > 0 ? JSON.stringify(states) : undefined,
    ],
  ].filter((pair): pair is [string, string | number] => Boolean(pair[1]));
  const from = `FROM workflow_runs WHERE ${conditions.map(([sql]) => sql).join(' AND ')}`;
  const values = conditions.map(([, value]) => value);
  const total = context.db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, ...values)?.count ?? 0;
  const rows = context.db.all<WorkflowRunRow>(
    `SELECT * ${from} ORDER BY id DESC LIMIT ? OFFSET ?`,
    ...values,
    page.limit,
    page.offset,
  );
  reply.total(total);
  return { workflow_runs: toWorkflowRuns(context, call, rows), total_count: total };
}

/** Returns the full name of a ref and its commit. A ref without a kind is a branch. */
async function findTarget({ context, repository }: WorkflowTarget, ref: string) {
  const git = context.git.open(repository.id);
  const tag = /^refs\/tags\/(.+)$/s.exec(ref)?.[1];
  const name = tag ?? ref.replace(/^refs\/heads\//, '');
  const commit = tag === undefined ? await readBranch(git, name) : await readTag(git, name);
  const full = tag === undefined ? `refs/heads/${name}` : ref;
  return { ref: full, commit: found(commit, `ref "${ref}" doesn't exist`) };
}

type Dispatch = {
  readonly ref: string;
  readonly commit: CommitData;
  readonly file: WorkflowFile;
  readonly text: WorkflowText;
  readonly inputs: Readonly<Record<string, string>>;
};

function insertRun(call: WorkflowTarget & { readonly caller: UserRow }, dispatch: Dispatch): WorkflowRunRow {
  const { db, clock } = call.context;
  const { lastId } = db.run(
    `INSERT INTO workflow_runs (repo_id, number, workflow_id, ref, sha, title, event, actor_id, inputs, created_at)
     SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4, ?5, 'workflow_dispatch', ?6, ?7, ?8
     FROM workflow_runs WHERE repo_id = ?1`,
    call.repository.id,
    dispatch.file.name,
    dispatch.ref,
    dispatch.commit.id,
    dispatch.commit.message.split('\n')[0] ?? '',
    call.caller.id,
    JSON.stringify(dispatch.inputs),
    secondsOf(clock()),
  );
  for (const { name, labels, isBlocked } of dispatch.text.jobs) {
    const sql = 'INSERT INTO workflow_jobs (run_id, name, labels, status) VALUES (?, ?, ?, ?)';
    db.run(sql, lastId, name, JSON.stringify(labels), isBlocked ? 'waiting' : 'queued');
  }
  return found(db.get<WorkflowRunRow>('SELECT * FROM workflow_runs WHERE id = ?', lastId));
}

/** Emits the events of the jobs, then of the run. */
function emitRun(
  call: WorkflowTarget & { readonly caller: UserRow },
  run: WorkflowRunRow,
  workflow: object,
): void {
  const { context, repository, owner, caller } = call;
  const surroundings = () => ({
    ...(owner.type === 'organization' ? { organization: toOrganization(context, owner) } : {}),
    repository: toRepository(context, repository, { owner, viewer: undefined, permission: 'owner' }),
    sender: toUser(context, caller, undefined),
  });
  const jobs = context.db.all<WorkflowJobRow>(
    'SELECT * FROM workflow_jobs WHERE run_id = ? ORDER BY id',
    run.id,
  );
  for (const job of jobs) {
    const workflow_job = () => toWorkflowJob(context, call, run, job);
    const payload = () => ({ action: job.status, workflow_job: workflow_job(), ...surroundings() });
    context.emit({ type: 'workflow_job', repository, owner, payload });
  }
  context.emit({
    type: 'workflow_run',
    repository,
    owner,
    payload: () => ({
      action: 'requested',
      workflow,
      workflow_run: toWorkflowRuns(context, call, [run])[0],
      ...surroundings(),
    }),
  });
}

/** Handlers for workflows and their runs. All runs were dispatched: this forge has no CI of its own. */
export const workflowHandlers = defineHandlers({
  async listWorkflows(call) {
    requireActions(call);
    const commit = await defaultTip(call);
    const files = await listWorkflowFiles(call.context.git.open(call.repository.id), commit.id);
    const workflows = await Promise.all(files.map((file) => describeFile(call, commit, file)));
    return { workflows, total_count: workflows.length };
  },

  async getWorkflow(call) {
    requireActions(call);
    const commit = await defaultTip(call);
    return await describeFile(call, commit, await findFile(call, commit, call.params.workflow_id));
  },

  async dispatchWorkflow(call) {
    requireActions(call);
    const { context, body, params, query, reply, owner, repository } = call;
    const { ref, commit } = await findTarget(call, body.ref);
    const file = await findFile(call, commit, params.workflow_id);
    const text = await readWorkflowFile(context.git.open(repository.id), file);
    if (text.inputs === undefined) {
      throw new ForgeProblem(422, `workflow "${file.name}" has no workflow_dispatch event trigger`);
    }
    // Inputs that the workflow does not define are dropped.
    const inputs = Object.fromEntries(
      Object.entries(text.inputs).map(([name, value]) => [name, body.inputs?.[name] ?? value]),
    );
    const workflow = await describeFile(call, commit, file);
    const run = context.db.transaction(() => {
      const inserted = insertRun(call, { ref, commit, file, text, inputs });
      emitRun(call, inserted, workflow);
      return inserted;
    });
    if (!query.return_run_details) return undefined;
    reply.status(200);
    const address = repositoryAddress(context.rootUrl(), owner.name, repository.name);
    return {
      workflow_run_id: run.id,
      run_url: `${address.api}/actions/runs/${run.id}`,
      html_url: `${address.html}/actions/runs/${run.id}`,
    };
  },

  listWorkflowRuns(call) {
    requireActions(call);
    return listRuns(call);
  },

  async listRunsOfWorkflow(call) {
    requireActions(call);
    const { context, params, repository } = call;
    const sql = 'SELECT 1 AS one FROM workflow_runs WHERE repo_id = ? AND workflow_id = ? LIMIT 1';
    const hasRun = context.db.get(sql, repository.id, params.workflow_id) !== undefined;
    if (!hasRun) await findFile(call, await defaultTip(call), params.workflow_id);
    return listRuns(call, params.workflow_id);
  },

  getWorkflowRun(call) {
    requireActions(call);
    const sql = 'SELECT * FROM workflow_runs WHERE id = ? AND repo_id = ?';
    const run = found(call.context.db.get<WorkflowRunRow>(sql, call.params.run, call.repository.id));
    return found(toWorkflowRuns(call.context, call, [run])[0]);
  },
});

/** Workflow folders by precedence: files in the second folder count only if the first folder does not exist. */
const folders = ['.gitea/workflows', '.github/workflows'] as const;
/** Maximum size of a workflow file, larger than any file written by hand. */
const maxBytes = 1024 * 1024;
const maxJobs = 256;

type WorkflowFile = { readonly folder: string; readonly name: string; readonly blobId: string };

type WorkflowJob = { readonly name: string; readonly labels: readonly string[]; readonly isBlocked: boolean };

/** Parsed parts of a workflow file that a dispatch needs. */
type WorkflowText = {
  /** Empty if the file has no title. */
  readonly title: string;
  /** Default values of the inputs; undefined if the workflow has no manual trigger. */
  readonly inputs: Readonly<Record<string, string>> | undefined;
  readonly jobs: readonly WorkflowJob[];
};

/** Returns the workflow files of a commit in git's order. */
async function listWorkflowFiles(git: GitRepository, commitId: string): Promise<readonly WorkflowFile[]> {
  for (const folder of folders) {
    const entry = await findEntry(git, commitId, folder);
    if (entry?.kind !== 'dir') continue;
    const entries = (await readTree(git, entry.id)) ?? [];
    return entries
      .filter(({ name, kind }) => kind === 'file' && /\.ya?ml$/.test(name))
      .map(({ name, id }) => ({ folder, name, blobId: id }));
  }
  return [];
}

/** Parses a workflow file. A file that is not a workflow has neither title nor jobs, and no manual trigger. */
async function readWorkflowFile(git: GitRepository, file: WorkflowFile): Promise<WorkflowText> {
  const content = (await readBlob(git, file.blobId, maxBytes))?.content;
  return parseWorkflow(content?.toString('utf8') ?? '');
}

function parseWorkflow(text: string): WorkflowText {
  let said: unknown;
  try {
    said = parse(text, { maxAliasCount: 100, logLevel: 'silent' });
  } catch {
    said = undefined;
  }
  if (!isRecord(said)) return { title: '', inputs: undefined, jobs: [] };
  return {
    title: typeof said.name === 'string' ? said.name : '',
    inputs: inputsOf(said.on),
    jobs: jobsOf(said.jobs),
  };
}

function inputsOf(on: unknown): Readonly<Record<string, string>> | undefined {
  if (on === 'workflow_dispatch') return {};
  if (Array.isArray(on)) return on.includes('workflow_dispatch') ? {} : undefined;
  if (!isRecord(on) || !('workflow_dispatch' in on)) return undefined;
  const { workflow_dispatch } = on;
  const inputs =
    isRecord(workflow_dispatch) && isRecord(workflow_dispatch.inputs) ? workflow_dispatch.inputs : {};
  return Object.fromEntries(
    Object.entries(inputs).map(([name, input]) => [name, isRecord(input) ? String(input.default ?? '') : '']),
  );
}

function jobsOf(jobs: unknown): readonly WorkflowJob[] {
  if (!isRecord(jobs)) return [];
  return Object.entries(jobs)
    .slice(0, maxJobs)
    .map(([key, job]) => {
      const { name, needs, 'runs-on': runsOn } = isRecord(job) ? job : {};
      const labels = Array.isArray(runsOn) ? runsOn : runsOn === undefined ? [] : [runsOn];
      return {
        name: typeof name === 'string' ? name : key,
        labels: labels.filter((label): label is string => typeof label === 'string'),
        isBlocked: needs !== undefined,
      };
    });
}

type TaskRow = WorkflowRunRow & {
  readonly task_id: number;
  readonly job_name: string;
  readonly job_status: string;
};

/**
 * Handlers for tasks, which are jobs that a runner has taken. Until then, jobs of this forge are queued or wait for
 * other jobs.
 */
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
