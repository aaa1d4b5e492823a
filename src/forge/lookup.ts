import type { Operation } from '../contract/operation.ts';
import { isOrganizationOwner, isVisible, permissionOf, reaches } from './access.ts';
import type { Actor } from './actor.ts';
import type { Database } from './database.ts';
import { ForgeProblem, found } from './errors.ts';
import type { RepositoryTarget } from './handler.ts';
import type { Permission, RepositoryRow, UserRow } from './rows.ts';
import { lackingScopes } from './scopes.ts';
import { settingsOf } from './settings.ts';

/** Thrown where the path names a repository by an old name: the request is answered with 301. */
export class Moved extends Error {
  readonly owner: string;
  readonly repository: string;

  constructor(owner: string, repository: string) {
    super(`moved to ${owner}/${repository}`);
    this.owner = owner;
    this.repository = repository;
  }
}

/** What the path of a request names. */
export type Target =
  | (RepositoryTarget & { readonly kind: 'repository' })
  | { readonly kind: 'organization'; readonly organization: UserRow }
  | { readonly kind: 'account'; readonly account: UserRow }
  | { readonly kind: 'none' };

/**
 * Walks the checks that stand before a request's body: scope of the token, what the path names, whether somebody is
 * signed in, the role, the archive. Their order is visible to callers; it is that of the baseline.
 */
export function guard(
  db: Database,
  operation: Operation,
  params: Readonly<Record<string, string>>,
  actor: Actor,
): Target {
  guardScopes(operation, actor);
  // The group of one's own things asks for somebody before it looks anything up.
  if (/^\/user(\/|$)/.test(operation.path)) requireUser(actor);
  const target = findTarget(db, operation, params, actor);
  guardRole(db, operation, actor, target);
  const isArchived = target.kind === 'repository' && target.repository.archived_at > 0;
  if (isArchived && operation.errors.includes(423) && !bindsFirst(operation)) throw archived(target);
  return target;
}

/** Refuses what the archive forbids after the body was read: protections are checked in this order. */
export function guardAfterBody(operation: Operation, target: Target): void {
  const isArchived = target.kind === 'repository' && target.repository.archived_at > 0;
  if (isArchived && operation.errors.includes(423) && bindsFirst(operation)) throw archived(target);
}

function bindsFirst(operation: Operation): boolean {
  return /\/(branch|tag)_protections/.test(operation.path);
}

function archived(target: { repository: RepositoryRow; owner: UserRow }): ForgeProblem {
  return new ForgeProblem(423, `${target.owner.name}/${target.repository.name} is archived`);
}

const closedToPublicOnly = /^\/(notifications|user\/(hooks|applications|settings|emails|actions))/;

function guardScopes(operation: Operation, actor: Actor): void {
  if (!actor.scopes) return;
  const lacking = lackingScopes(operation, actor.scopes);
  if (lacking.length > 0) {
    const scopes = lacking.join(', ');
    throw new ForgeProblem(403, `token does not have at least one of required scope(s): ${scopes}`);
  }
  if (actor.scopes.includes('public-only') && closedToPublicOnly.test(operation.path)) {
    throw new ForgeProblem(403, 'this token is limited to public resources');
  }
}

function findTarget(
  db: Database,
  operation: Operation,
  params: Readonly<Record<string, string>>,
  actor: Actor,
): Target {
  const isPublicOnly = actor.scopes?.includes('public-only') === true;
  if (params.owner !== undefined && params.repo !== undefined) {
    const target = findRepository(db, params.owner, params.repo, actor.user);
    if (isPublicOnly && target.repository.is_private) throw new ForgeProblem(404, 'not found');
    guardUnits(operation, target.repository);
    return { kind: 'repository', ...target };
  }
  if (params.org !== undefined) {
    const organization = userNamed(db, params.org);
    if (organization?.type !== 'organization') throw new ForgeProblem(404, 'not found');
    if (isPublicOnly && organization.visibility !== 'public')
      throw new ForgeProblem(403, 'token is public-only');
    return { kind: 'organization', organization };
  }
  if (params.username !== undefined && operation.path.startsWith('/users/')) {
    return { kind: 'account', account: found(userNamed(db, params.username)) };
  }
  return { kind: 'none' };
}

/** Returns a repository as the caller may see it. Ends the request with 404, or throws `Moved` for an old name. */
export function findRepository(
  db: Database,
  ownerName: string,
  name: string,
  caller: UserRow | undefined,
): RepositoryTarget {
  const owner = found(userNamed(db, ownerName));
  const repository =
    db.get<RepositoryRow>(
      'SELECT * FROM repositories WHERE owner_id = ? AND lower_name = ?',
      owner.id,
      name.toLowerCase(),
    ) ?? moved(db, owner, name);
  const permission = permissionOf(db, caller, repository, owner);
  if (permission === 'none') throw new ForgeProblem(404, 'not found');
  return { repository, owner, permission };
}

function moved(db: Database, owner: UserRow, oldName: string): never {
  const now = db.get<{ owner: string; name: string }>(
    `SELECT u.name AS owner, r.name AS name FROM redirects d JOIN repositories r ON r.id = d.repo_id
     JOIN users u ON u.id = r.owner_id WHERE d.owner_id = ? AND d.lower_name = ?`,
    owner.id,
    oldName.toLowerCase(),
  );
  if (now) throw new Moved(now.owner, now.name);
  throw new ForgeProblem(404, 'not found');
}

/** Returns the account or organization of this name, in any case of letters. */
export function userNamed(db: Database, name: string): UserRow | undefined {
  return db.get<UserRow>('SELECT * FROM users WHERE lower_name = ?', name.toLowerCase());
}

/** A unit that is switched off answers 404, as if it were not there. */
function guardUnits(operation: Operation, repository: RepositoryRow): void {
  const { has_issues, has_pull_requests } = settingsOf(repository);
  const isAboutIssues = operation.scopes.includes('issue');
  if (isAboutIssues && !has_issues && !has_pull_requests) throw new ForgeProblem(404, 'not found');
  if (operation.id === 'issue.create' && !has_issues) throw new ForgeProblem(404, 'not found');
  if (operation.path.startsWith('/repos/{owner}/{repo}/pulls') && !has_pull_requests) {
    throw new ForgeProblem(404, 'not found');
  }
}

function requireUser(actor: Actor): void {
  if (!actor.user) throw new ForgeProblem(401, 'token is required');
}

const needed: Readonly<Record<string, Permission>> = { writer: 'write', admin: 'admin', owner: 'owner' };

function guardRole(db: Database, operation: Operation, actor: Actor, target: Target): void {
  const { access, method } = operation;
  const mayBeAnonymous = access === 'anyone' || (access === 'reader' && method === 'GET');
  if (!mayBeAnonymous) requireUser(actor);
  if (access === 'site' && !actor.user?.is_admin)
    throw new ForgeProblem(403, 'user should be the site admin');
  if (target.kind === 'repository' && !reaches(target.permission, needed[access] ?? 'read')) {
    throw new ForgeProblem(403, `user should be ${access} of the repository`);
  }
  if (target.kind === 'organization') guardOrganization(db, operation, target.organization, actor.user);
  if (target.kind === 'account') guardAccount(db, operation, target.account, actor.user);
}

function guardOrganization(
  db: Database,
  operation: Operation,
  organization: UserRow,
  user: UserRow | undefined,
): void {
  if (operation.access === 'owner') {
    const isOwner = user !== undefined && isOrganizationOwner(db, organization, user);
    if (!isOwner) throw new ForgeProblem(403, 'Must be an organization owner');
  } else if (!isVisible(db, organization, user)) throw new ForgeProblem(404, 'not found');
}

function guardAccount(db: Database, operation: Operation, account: UserRow, user: UserRow | undefined): void {
  if (operation.access === 'self') {
    if (!user?.is_admin && user?.id !== account.id) {
      throw new ForgeProblem(403, 'doer should be the site admin or be same as the contextUser');
    }
  } else if (!isVisible(db, account, user)) throw new ForgeProblem(404, 'not found');
}
