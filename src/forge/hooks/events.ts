import { toUser } from '../accounts/users-rows.ts';
import { type CommentRow, toComment } from '../issues/comments-rows.ts';
import { toIssue } from '../issues/issues-rows.ts';
import { permissionOf } from '../platform/access/permissions.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { IssueRow, RepositoryRow, UserRow } from '../platform/rows.ts';
import { toPull } from '../pulls/pulls-rows.ts';
import { toRepository } from '../repositories/repositories-rows.ts';
import { commentPayload, issuePayload, type PayloadChanges, pullPayload } from './payloads.ts';

/** An issue or pull request, with its repository and the acting account. */
export type IssueScene = {
  readonly issueId: number;
  readonly repository: RepositoryRow;
  readonly owner: UserRow;
  readonly actor: UserRow;
};

type IssueChange = {
  /** Event type within the kind; absent for the kind itself (`issues`, `pull_request`). */
  readonly topic?: 'assign' | 'label' | 'milestone';
  readonly action: string;
  readonly changes?: PayloadChanges;
  /** Id of the commit, set if a commit message or the merge of a pull request closed or reopened the issue. */
  readonly commitId?: string | undefined;
  /** Omits the labels from the payload. */
  readonly hidesLabels?: boolean;
};

/** Emits an event of an issue or pull request in its current state. */
export function emitIssue(context: ForgeContext, scene: IssueScene, news: IssueChange): void {
  const issue = readIssue(context, scene.issueId);
  const kind = issue.is_pull ? 'pull_request' : 'issue';
  const plain = issue.is_pull ? 'pull_request' : 'issues';
  const { repository, owner } = scene;
  context.emit({
    type: news.topic === undefined ? plain : `${kind}_${news.topic}`,
    repository,
    owner,
    payload() {
      const event = {
        action: news.action,
        number: issue.number,
        changes: news.changes,
        commitId: news.commitId,
        ...surroundings(context, scene),
      };
      const told = {
        ...(news.hidesLabels ? { labels: [] } : {}),
        // A deleted pull request has no lines to count.
        ...(news.action === 'deleted' && issue.is_pull ? uncounted : {}),
      };
      return issue.is_pull
        ? pullPayload({
            ...event,
            pullRequest: { ...toPull(context, issue, asActor(scene)), ...told },
          })
        : issuePayload({ ...event, issue: { ...toIssue(context, issue, asActor(scene)), ...told } });
    },
  });
}

/** Emits an event of a comment; for a deleted comment, pass its last row. */
export function emitComment(
  context: ForgeContext,
  scene: IssueScene,
  news: { comment: CommentRow; action: 'created' | 'edited' | 'deleted'; changes?: { body: string } },
): void {
  const issue = readIssue(context, scene.issueId);
  const { repository, owner } = scene;
  context.emit({
    type: issue.is_pull ? 'pull_request_comment' : 'issue_comment',
    repository,
    owner,
    payload: () =>
      commentPayload({
        action: news.action,
        issue: toIssue(context, issue, asActor(scene)),
        pullRequest: issue.is_pull ? toPull(context, issue, asActor(scene)) : undefined,
        comment: toComment(context, news.comment, issue, asActor(scene)),
        changes: news.changes && { ...news.changes },
        ...surroundings(context, scene),
      }),
  });
}

/** Fields that omit the line counts from a payload. */
const uncounted = { additions: undefined, deletions: undefined, changed_files: undefined };

/**
 * Returns the repository with the actor as the viewer: a payload shows what the actor can see, regardless of the
 * reader's access, as in Gitea.
 */
function asActor({ repository, owner, actor }: IssueScene) {
  return { repository, owner, viewer: actor };
}

/** Returns the repository and the sender of a payload. The repository includes the actor's permissions. */
function surroundings(context: ForgeContext, { repository, owner, actor }: IssueScene) {
  const permission = permissionOf(context.db, actor, repository, owner);
  return {
    repository: toRepository(context, repository, { owner, viewer: undefined, permission }),
    sender: toUser(context, actor, undefined),
  };
}

function readIssue(context: ForgeContext, id: number): IssueRow {
  const issue = context.db.get<IssueRow>('SELECT * FROM issues WHERE id = ?', id);
  if (!issue) throw new TypeError(`issue ${id} is missing while its event is sent`);
  return issue;
}

/** A pull request with its repository and the acting account. */
export type PullContext = {
  readonly repository: RepositoryRow;
  readonly owner: UserRow;
  readonly actor: UserRow;
};

type PullEvent = {
  /** Event type, such as `pull_request_sync`. */
  readonly type: string;
  readonly action: string;
  readonly changes?: PayloadChanges | undefined;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly requestedReviewer?: UserRow | undefined;
  readonly review?: { readonly type: string; readonly content: string } | undefined;
  readonly commitId?: string | undefined;
};

/** Emits an event of the pull request family, with the current state of the pull request. */
export function emitPull(context: ForgeContext, place: PullContext, issueId: number, event: PullEvent): void {
  const { repository, owner, actor } = place;
  const { type, requestedReviewer, ...rest } = event;
  context.emit({
    type,
    repository,
    owner,
    payload: () => {
      const { db } = context;
      const issue = db.get<IssueRow>('SELECT * FROM issues WHERE id = ?', issueId);
      if (!issue) throw new TypeError(`issue ${issueId} is missing while its event is sent`);
      const permission = permissionOf(db, actor, repository, owner);
      return pullPayload({
        ...rest,
        number: issue.number,
        pullRequest: toPull(context, issue, { repository, owner, viewer: actor }),
        requestedReviewer: requestedReviewer && toUser(context, requestedReviewer, undefined),
        repository: toRepository(context, repository, { owner, viewer: undefined, permission }),
        sender: toUser(context, actor, undefined),
      });
    },
  });
}
