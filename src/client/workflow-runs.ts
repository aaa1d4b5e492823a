import { isRecord } from '../contract/events/payload-members.ts';

/** Forgejo's states of a run, in the baseline's two members. */
const states: Readonly<Record<string, { readonly status: string; readonly conclusion?: string }>> = {
  waiting: { status: 'queued' },
  blocked: { status: 'waiting' },
  running: { status: 'in_progress' },
  success: { status: 'completed', conclusion: 'success' },
  failure: { status: 'completed', conclusion: 'failure' },
  cancelled: { status: 'completed', conclusion: 'cancelled' },
  skipped: { status: 'completed', conclusion: 'skipped' },
};

/** Normalizes an answer about workflow runs to the baseline's form: Forgejo's runs have other members and states. */
export function normalizeWorkflowRuns(answer: unknown): unknown {
  if (!isRecord(answer)) return answer;
  const { workflow_runs } = answer;
  if (Array.isArray(workflow_runs)) return { ...answer, workflow_runs: workflow_runs.map(normalizeRun) };
  return normalizeRun(answer);
}

function normalizeRun(run: unknown): unknown {
  // Only Forgejo's runs have this member.
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
