import { permissionOf } from '../access/permissions.ts';
import type { ForgeContext } from '../core/context.ts';
import type { IssueRow } from '../core/issue-rows.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';
import { toPull } from '../views/pull.ts';
import { toRepository } from '../views/repository.ts';
import { toUser } from '../views/user.ts';
import { type PayloadChanges, pullPayload } from './payloads.ts';

/** Where a pull request stands and who does something to it. */
export type PullContext = {
  readonly repository: RepositoryRow;
  readonly owner: UserRow;
  readonly actor: UserRow;
};

type PullEvent = {
  /** The Event-Type, such as `pull_request_sync`. */
  readonly type: string;
  readonly action: string;
  readonly changes?: PayloadChanges | undefined;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly requestedReviewer?: UserRow | undefined;
  readonly review?: { readonly type: string; readonly content: string } | undefined;
  readonly commitId?: string | undefined;
};

/** Emits an event of the pull request family, as the pull request is in the database now. */
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
      if (!issue) throw new TypeError(`issue ${issueId} is gone while its event is sent`);
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
