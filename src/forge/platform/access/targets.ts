import type { ForgeContext } from '../context.ts';
import { found } from '../errors.ts';
import { settingsOf } from '../repository-settings.ts';
import type { IssueRow, Permission, PullRow, RepositoryRow, TeamRow, UserRow } from '../rows.ts';

/** The repository that a request's path names, with the caller's permission. */
export type RepositoryTarget = {
  readonly repository: RepositoryRow;
  readonly owner: UserRow;
  readonly permission: Permission;
};

/** The team that a request's path names, with its organization. */
export type TeamTarget = { readonly team: TeamRow; readonly organization: UserRow };

type IssueCall = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly params: { readonly index: number };
};

/**
 * Returns the issue or pull request in the path. Ends the request with 404 if there is none or its unit is disabled.
 */
export function findIssue({ context, repository, params }: IssueCall): IssueRow {
  const sql = 'SELECT * FROM issues WHERE repo_id = ? AND number = ?';
  const issue = found(context.db.get<IssueRow>(sql, repository.id, params.index));
  const { has_issues, has_pull_requests } = settingsOf(repository);
  const isOn = issue.is_pull ? has_pull_requests : has_issues;
  return found(isOn ? issue : undefined);
}

/** The issue side and the pull-request side of one pull request. */
export type FoundPull = { readonly issue: IssueRow; readonly pull: PullRow };

/** Returns both sides of a pull request by its number, or ends the request with 404. */
export function findPull({ db }: ForgeContext, { repository }: RepositoryTarget, number: number): FoundPull {
  const pull = found(
    db.get<PullRow>('SELECT * FROM pulls WHERE repo_id = ? AND number = ?', repository.id, number),
    `pull request does not exist [index: ${number}]`,
  );
  return { pull, issue: found(db.get<IssueRow>('SELECT * FROM issues WHERE id = ?', pull.issue_id)) };
}
