import { reaches } from '../platform/access/permissions.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import { settingsOf } from '../platform/repository-settings.ts';

/** Owner of secrets or variables: a repository or an account. */
export type NamedHolder = { readonly column: 'repo_id' | 'owner_id'; readonly id: number };

type OfOrganization = { readonly organization: { readonly id: number } };
type OfRepository = { readonly repository: { readonly id: number } };
type OfCaller = { readonly caller: { readonly id: number } };

/** Returns the owner that a request's path names. */
export const holders = {
  organization: ({ organization }: OfOrganization): NamedHolder => ({
    column: 'owner_id',
    id: organization.id,
  }),
  repository: ({ repository }: OfRepository): NamedHolder => ({ column: 'repo_id', id: repository.id }),
  caller: ({ caller }: OfCaller): NamedHolder => ({ column: 'owner_id', id: caller.id }),
};

/** Ends the request with 400 if a secret or variable cannot have this name. */
export function assertActionName(name: string): void {
  const isUsable = /^[a-z_][a-z0-9_]*$/i.test(name) && !/^(git(ea|hub)_|ci$)/i.test(name);
  // The limit is that of the column in Gitea.
  if (!isUsable || name.length > 255) throw new ForgeProblem(400, 'invalid variable or secret name');
}

const longestDescription = 4096;

/** Returns a description truncated to the stored length, counted in characters. */
export function toStoredDescription(text = ''): string {
  const isShort = text.length <= longestDescription;
  return isShort ? text : [...text].slice(0, longestDescription).join('');
}

export type WorkflowTarget = RepositoryTarget & { readonly context: ForgeContext };

/** Ends the request with 403 if Actions are disabled, except for administrators of the repository. */
export function requireActions({ repository, permission }: WorkflowTarget): void {
  if (settingsOf(repository).has_actions || reaches(permission, 'admin')) return;
  throw new ForgeProblem(403, 'user should have specific read permission or be a repo admin or a site admin');
}
