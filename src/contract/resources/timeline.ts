import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { issuesAs } from '../row-fields.ts';
import { flag, inRepository, instant, int, pages, resource, text } from '../shape.ts';
import { Comment } from './comments.ts';
import { Issue } from './issues.ts';
import { Label } from './labels.ts';
import { Milestone } from './milestones.ts';
import { TrackedTime } from './times.ts';
import { Team, User } from './users.ts';

/**
 * An entry in the timeline of an issue or pull request: a comment, a review or an event. `type` determines which fields
 * are set; the others are null, empty or 0.
 */
export const TimelineEntry = resource(
  {
    id: int,
    /**
     * `comment`, `review`, `close`, `reopen`, `merge_pull`, `pull_push`, `review_request`, `dismiss_review`,
     * `assignees`, `label`, `milestone`, `change_title`, `change_target_branch`, `delete_branch`, `lock`, `unlock`,
     * `pin`, `unpin`, and others.
     */
    type: text,
  },
  {
    /** The acting account. */
    user: User,
    /**
     * Text of a comment or review; `1` for an added label; the reason of a lock; JSON (`is_force_push`, `commit_ids`)
     * for a push.
     */
    body: text,
    created_at: instant,
    updated_at: instant,
    html_url: text,
    issue_url: text,
    pull_request_url: text,
    label: Label,
    milestone: Milestone,
    old_milestone: Milestone,
    /** The assignee or the requested reviewer. */
    assignee: User,
    assignee_team: Team,
    /** Whether an assignment was removed or a review request withdrawn. */
    removed_assignee: flag,
    review_id: int,
    old_title: text,
    new_title: text,
    old_ref: text,
    new_ref: text,
    ref_action: text,
    ref_commit_sha: text,
    ref_issue: Issue,
    ref_comment: Comment,
    dependent_issue: Issue,
    tracked_time: TrackedTime,
    resolve_doer: User,
    project_id: int,
    old_project_id: int,
  },
);
export type TimelineEntry = z.output<typeof TimelineEntry>;

/** In Gitea, an entry that refers to a deleted issue is `null`. */
const entries = z
  .array(TimelineEntry.nullable())
  .nullish()
  .transform((found) => (found ?? []).filter((entry) => entry !== null));

export const timelineOperations = {
  listTimeline: defineOperation({
    id: 'issue.list-timeline',
    meaning:
      'Lists comments, reviews and events of an issue or pull request, oldest first; `since` and `before` refer to `updated_at`.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{index}/timeline',
    ...issuesAs('reader'),
    params: z.object({ ...inRepository, index: int }),
    query: z.object({ ...pages, since: instant.optional(), before: instant.optional() }),
    success: 200,
    response: entries,
    errors: [404, 422],
    paging: 'page-count',
    baseline: { 'unknown issue': 500 },
    source: 'routers/api/v1/repo/issue_comment.go ListIssueCommentsAndTimeline',
  }),
} as const;
