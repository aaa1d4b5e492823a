import type { Permission, RepositoryRow, TeamRow, UserRow } from '../core/rows.ts';

/** The repository that a request's path names, with the caller's permission. */
export type RepositoryTarget = {
  readonly repository: RepositoryRow;
  readonly owner: UserRow;
  readonly permission: Permission;
};

/** The team that a request's path names, with its organization. */
export type TeamTarget = { readonly team: TeamRow; readonly organization: UserRow };
