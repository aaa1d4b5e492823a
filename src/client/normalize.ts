import { isRecord } from '../contract/events/payload-members.ts';
import type { Operation } from '../contract/operation.ts';

const rules: Readonly<Record<NonNullable<Operation['normalize']>, (answer: unknown) => unknown>> = {
  runners: normalizeRunners,
  contents: normalizeContents,
  compare: normalizeCompare,
  'workflow-runs': normalizeWorkflowRuns,
};

/** Returns a response in Gitea's form, for any forge. */
export function normalizeAnswer({ normalize }: Operation, answer: unknown): unknown {
  return normalize === undefined ? answer : rules[normalize](answer);
}

type FileEntry = { readonly filename: string; readonly status?: unknown };

/**
 * Returns the response to a comparison with its files, for every forge: Gitea (1.26, 1.27) lists files only per commit,
 * Forgejo also for the whole comparison. Files combined from commits include all that differ, and also those that one
 * commit added and another deleted.
 */
export function normalizeCompare(answer: unknown): unknown {
  if (!isRecord(answer)) return answer;
  if (Array.isArray(answer.files) || !Array.isArray(answer.commits)) return answer;
  const files = new Map<string, FileEntry>();
  // Newest first: the newest commit determines the status of a file.
  for (const commit of answer.commits as readonly unknown[]) {
    for (const file of filesOf(commit)) if (!files.has(file.filename)) files.set(file.filename, file);
  }
  return { ...answer, files: [...files.values()] };
}

function filesOf(commit: unknown): readonly FileEntry[] {
  if (!isRecord(commit) || !Array.isArray(commit.files)) return [];
  return commit.files.filter(
    (file): file is FileEntry => isRecord(file) && typeof file.filename === 'string',
  );
}

/**
 * Normalizes a response about files to Gitea's names: Forgejo calls the time of an entry's last commit
 * `last_commit_when`. Source: Forgejo `services/repository/files/content.go`.
 */
function normalizeContents(answer: unknown): unknown {
  return Array.isArray(answer) ? answer.map(normalizeEntry) : normalizeEntry(answer);
}

function normalizeEntry(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null || !('last_commit_when' in entry)) return entry;
  const { last_commit_when: at, ...rest } = entry;
  return { last_committer_date: at, ...rest };
}

/**
 * Normalizes a response about runners to Gitea's form: Forgejo returns a bare list, labels as texts, and `idle` or
 * `active` for an online runner.
 */
function normalizeRunners(answer: unknown): unknown {
  if (Array.isArray(answer)) return { runners: answer.map(normalizeRunner) };
  return isRecord(answer) && 'status' in answer ? normalizeRunner(answer) : answer;
}

function normalizeRunner(runner: unknown): unknown {
  if (!isRecord(runner)) return runner;
  const { status, labels } = runner;
  return {
    ...runner,
    ...((status === 'idle' || status === 'active') && { status: 'online', busy: status === 'active' }),
    ...(Array.isArray(labels) && {
      labels: labels.map((label: unknown) => (typeof label === 'string' ? { name: label } : label)),
    }),
  };
}

/** Forgejo's run states, as Gitea's two fields. */
const states: Readonly<Record<string, { readonly status: string; readonly conclusion?: string }>> = {
  waiting: { status: 'queued' },
  blocked: { status: 'waiting' },
  running: { status: 'in_progress' },
  success: { status: 'completed', conclusion: 'success' },
  failure: { status: 'completed', conclusion: 'failure' },
  cancelled: { status: 'completed', conclusion: 'cancelled' },
  skipped: { status: 'completed', conclusion: 'skipped' },
};

/** Normalizes a response about workflow runs to Gitea's form: Forgejo's runs have other fields and states. */
export function normalizeWorkflowRuns(answer: unknown): unknown {
  if (!isRecord(answer)) return answer;
  const { workflow_runs } = answer;
  if (Array.isArray(workflow_runs)) return { ...answer, workflow_runs: workflow_runs.map(normalizeRun) };
  return normalizeRun(answer);
}

function normalizeRun(run: unknown): unknown {
  // Only Forgejo's runs have this field.
  if (!isRecord(run) || !('index_in_repo' in run)) return run;
  const state = typeof run.status === 'string' && Object.hasOwn(states, run.status) ? states[run.status] : {};
  return {
    ...run,
    ...state,
    run_number: run.index_in_repo,
    display_title: run.title,
    path: run.workflow_id,
    head_sha: run.commit_sha,
    head_branch: run.prettyref,
    event: run.trigger_event || run.event,
    actor: run.trigger_user,
    trigger_actor: run.trigger_user,
    started_at: run.started,
    completed_at: run.stopped,
  };
}
