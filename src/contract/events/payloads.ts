import { z } from 'zod';
import { Commit } from '../resources/branches.ts';
import { Comment } from '../resources/comments.ts';
import { Issue } from '../resources/issues.ts';
import { PullRequest } from '../resources/pulls.ts';
import { Release } from '../resources/releases.ts';
import { Repository } from '../resources/repositories.ts';
import { Organization, User } from '../resources/users.ts';
import { flag, instant, int, resource, text } from '../shape.ts';
import type { Family } from './event-families.ts';

const from = resource({}, { from: text });
/** Present only with `edited`. Label lists are always empty: compare with the snapshot instead. */
const Changes = resource({}, { title: from, body: from, ref: from });

const subjectEvent = {
  action: text,
  number: int,
  repository: Repository,
  sender: User,
};
const pullEvent = {
  ...subjectEvent,
  pull_request: PullRequest,
};
const extraOfPull = {
  changes: Changes,
  /** Head commits before and after a push (`synchronized`), since 1.27. */
  before: text,
  after: text,
  requested_reviewer: User,
  review: resource({}, { type: text, content: text }),
  commit_id: text,
  /** Set if catch-up created the event because the delivery was missed. */
  caught_up: flag,
};
const PullRequestPayload = resource(pullEvent, extraOfPull);
const CommentPayload = resource(
  { action: text, issue: Issue, comment: Comment, repository: Repository, sender: User },
  { pull_request: PullRequest, changes: Changes, is_pull: flag, caught_up: flag },
);

const Package = resource(
  { id: int, type: text, name: text, version: text },
  { owner: User, repository: Repository, creator: User, html_url: text, created_at: instant },
);

const Workflow = resource(
  { name: text },
  {
    id: text,
    path: text,
    state: text,
    url: text,
    html_url: text,
    badge_url: text,
    created_at: instant,
    updated_at: instant,
    deleted_at: instant,
  },
);
const WorkflowRun = resource(
  { id: int, head_sha: text, status: text },
  {
    url: text,
    html_url: text,
    display_title: text,
    path: text,
    event: text,
    run_attempt: int,
    run_number: int,
    head_branch: text,
    conclusion: text,
    actor: User,
    trigger_actor: User,
    /** Since 1.27; null for a first attempt. */
    previous_attempt_url: text,
    pull_requests: z.array(resource({}, { id: int, number: int, url: text })),
    repository: Repository,
    head_repository: Repository,
    started_at: instant,
    completed_at: instant,
  },
);
const WorkflowJob = resource(
  { id: int, name: text, status: text },
  {
    url: text,
    html_url: text,
    run_id: int,
    run_url: text,
    labels: z.array(text),
    run_attempt: int,
    head_sha: text,
    head_branch: text,
    conclusion: text,
    runner_id: int,
    runner_name: text,
    steps: z.array(
      resource(
        { name: text },
        { number: int, status: text, conclusion: text, started_at: instant, completed_at: instant },
      ),
    ),
    created_at: instant,
    started_at: instant,
    completed_at: instant,
  },
);

/** Events of Forgejo's Actions; the fields of the run differ between its releases. */
const ActionRun = resource(
  {
    action: text,
    run: resource({ id: int }, { title: text, status: text, event: text, repository: Repository }),
  },
  { prior_status: text, sender: User },
);

const inRepository = { repository: Repository, sender: User };

/**
 * Shape of `event` for the kinds of a family: the payload of a delivery as documented for Gitea. Fields that only some
 * activities or forges send may be missing; a condition must check them with `has()`, otherwise it fails.
 */
export const payloadShapes: Readonly<Record<Family, z.ZodObject>> = {
  pull_request: PullRequestPayload,
  pull_request_review: PullRequestPayload,
  issues: resource({ ...subjectEvent, issue: Issue }, { changes: Changes, commit_id: text, caught_up: flag }),
  issue_comment: CommentPayload,
  pull_request_comment: CommentPayload,
  push: resource(
    { ref: text, before: text, after: text, repository: Repository, sender: User },
    {
      compare_url: text,
      commits: z.array(Commit),
      /** Total number of commits; `commits` is truncated at 5 (Forgejo 15). */
      total_commits: int,
      head_commit: Commit,
      pusher: User,
      caught_up: flag,
    },
  ),
  create: resource({ ref: text, ref_type: text, ...inRepository }, { sha: text, caught_up: flag }),
  delete: resource({ ref: text, ref_type: text, ...inRepository }, { pusher_type: text, caught_up: flag }),
  fork: resource({ forkee: Repository, ...inRepository }, {}),
  /** `organization` is the owner in the format of an account, even if the owner is a user. */
  repository: resource({ action: text, ...inRepository }, { organization: User }),
  release: resource({ action: text, release: Release, ...inRepository }, {}),
  wiki: resource({ action: text, page: text, ...inRepository }, { comment: text }),
  package: resource({ action: text, package: Package, sender: User }, { organization: Organization }),
  status: resource(
    { sha: text, state: text, ...inRepository },
    {
      commit: Commit,
      context: text,
      description: text,
      id: int,
      target_url: text,
      created_at: instant,
      updated_at: instant,
      caught_up: flag,
    },
  ),
  workflow_run: resource(
    { action: text, workflow_run: WorkflowRun, ...inRepository },
    { workflow: Workflow, organization: Organization },
  ),
  workflow_job: resource(
    { action: text, workflow_job: WorkflowJob, ...inRepository },
    { organization: Organization },
  ),
  action_run_failure: ActionRun,
  action_run_recover: ActionRun,
  action_run_success: ActionRun,
};
