import type { Operation, OperationTarget } from '../../../contract/operation.ts';
import type { ForgeContext } from '../context.ts';
import type { Database } from '../database.ts';
import { ForgeProblem, found } from '../errors.ts';
import { settingsOf } from '../repository-settings.ts';
import type { Permission, RepositoryRow, TeamRow, UserRow } from '../rows.ts';
import { secondsOf } from '../time.ts';
import type { Actor } from './actor.ts';
import { mayReadCode } from './code.ts';
import {
  canSee,
  isOrganizationMember,
  isOrganizationOwner,
  isVisible,
  permissionOf,
  reaches,
  type Unit,
  unitOf,
} from './permissions.ts';
import { accountNamed, Redirect } from './redirects.ts';
import { isPublicOnly } from './scopes.ts';
import type { RepositoryTarget, TeamTarget } from './targets.ts';

/** The target that a request's path names. */
type GuardTarget =
  | (RepositoryTarget & { readonly kind: 'repository' })
  | (TeamTarget & { readonly kind: 'team' })
  | { readonly kind: 'organization'; readonly organization: UserRow }
  | { readonly kind: 'account'; readonly account: UserRow }
  | { readonly kind: 'none' };

/**
 * Runs the checks between that of the token's scopes and the reading of the request's body: target of the path,
 * sign-in, role, disabled operation, archive. Callers can observe the order of the checks, which is the same as in
 * Gitea.
 */
export function guard(
  db: Database,
  operation: Operation,
  params: Readonly<Record<string, string>>,
  actor: Actor,
): GuardTarget {
  guardPublicOnly(operation, actor);
  if (operation.signInFirst) requireUser(actor);
  const target = findTarget(db, operation, params, actor);
  if (operation.archived === 'before-role') guardArchive(target);
  guardRole(db, operation, actor, target);
  if (operation.switchedOff !== undefined) throw new ForgeProblem(403, operation.switchedOff);
  if (operation.archived === 'after-role') guardArchive(target);
  return target;
}

/** Refuses a write to an archived repository, for operations that check this after reading the body. */
export function guardAfterBody(operation: Operation, target: GuardTarget): void {
  if (operation.archived === 'after-body') guardArchive(target);
}

function guardArchive(target: GuardTarget): void {
  if (target.kind !== 'repository' || target.repository.archived_at === 0) return;
  throw new ForgeProblem(423, `${target.owner.name}/${target.repository.name} is archived`);
}

function guardPublicOnly({ publicOnly }: Operation, actor: Actor): void {
  if (publicOnly === undefined || !isPublicOnly(actor.scopes)) return;
  if (publicOnly === 'closed' || actor.user?.visibility !== 'public') {
    throw new ForgeProblem(403, 'this token is limited to public resources');
  }
}

function findTarget(
  db: Database,
  operation: Operation,
  params: Readonly<Record<string, string>>,
  actor: Actor,
): GuardTarget {
  switch (operation.target) {
    case 'instance':
      return { kind: 'none' };
    case 'team': {
      const target = findTeam(db, Number(params.id));
      guardPublic(target.organization, actor);
      return { kind: 'team', ...target };
    }
    case 'account': {
      const account = accountNamed(db, params.username ?? '', actor.user);
      guardPublic(account, actor);
      return { kind: 'account', account };
    }
    case 'organization': {
      const organization = accountNamed(db, params.org ?? '', actor.user);
      if (organization.type !== 'organization') throw new ForgeProblem(404, 'not found');
      guardPublic(organization, actor);
      return { kind: 'organization', organization };
    }
    default: {
      const target = findRepository(db, params.owner ?? '', params.repo ?? '', actor.user);
      guardUnits(operation, target.repository);
      return { kind: 'repository', ...inUnit(db, operation, params, actor.user, target) };
    }
  }
}

function guardPublic(account: UserRow, actor: Actor): void {
  if (isPublicOnly(actor.scopes) && account.visibility !== 'public')
    throw new ForgeProblem(403, 'token is public-only');
}

/** Narrows the permission to the unit of the operation; an unreadable unit counts as disabled. */
function inUnit(
  db: Database,
  operation: Operation,
  params: Readonly<Record<string, string>>,
  caller: UserRow | undefined,
  target: RepositoryTarget,
): RepositoryTarget {
  const number = Number(params.index);
  const sql = 'SELECT is_pull FROM issues WHERE repo_id = ? AND number = ?';
  const issue = Number.isSafeInteger(number)
    ? db.get<{ is_pull: number }>(sql, target.repository.id, number)
    : undefined;
  const unit = unitOf(operation, issue?.is_pull === 1);
  if (unit === undefined) return target;
  const permission = permissionOf(db, caller, target.repository, target.owner, unit);
  // Disabled releases stay accessible to administrators, as in Gitea.
  const isOff =
    unit === 'releases' &&
    !settingsOf(target.repository).has_releases &&
    !reaches(target.permission, 'admin');
  if (permission !== 'none' && !isOff) {
    // Everything in a pull request except its discussion counts as code.
    const isShown = operation.target !== 'pulls' || mayReadCode(db, caller, target.repository.id);
    if (!isShown) throw new ForgeProblem(403, 'user should have read access to the code');
    return { ...target, permission };
  }
  if (unit !== 'code' && unit !== 'releases') throw new ForgeProblem(404, 'not found');
  throw new ForgeProblem(403, `user should have read access to the ${unit}`);
}

/**
 * Returns a repository that the caller may see, with the caller's permission for it, or for one unit of it. Ends the
 * request with 404, or throws `Redirect` for a former name.
 */
export function findRepository(
  db: Database,
  ownerName: string,
  name: string,
  caller: UserRow | undefined,
  unit?: Unit,
): RepositoryTarget {
  const owner = accountNamed(db, ownerName, caller);
  const repository =
    db.get<RepositoryRow>(
      'SELECT * FROM repositories WHERE owner_id = ? AND lower_name = ?',
      owner.id,
      name.toLowerCase(),
    ) ?? moved(db, owner, name);
  if (!canSee(db, caller, repository, owner)) throw new ForgeProblem(404, 'not found');
  return { repository, owner, permission: permissionOf(db, caller, repository, owner, unit) };
}

function moved(db: Database, owner: UserRow, oldName: string): never {
  const now = db.get<{ owner: string; name: string }>(
    `SELECT u.name AS owner, r.name AS name FROM redirects d JOIN repositories r ON r.id = d.repo_id
     JOIN users u ON u.id = r.owner_id WHERE d.owner_id = ? AND d.lower_name = ?`,
    owner.id,
    oldName.toLowerCase(),
  );
  if (now) throw new Redirect([owner.name, oldName], [now.owner, now.name], 301);
  throw new ForgeProblem(404, 'not found');
}

/** Ends the request with 404 if the unit is disabled, as if it did not exist. */
function guardUnits(operation: Operation, repository: RepositoryRow): void {
  const { has_issues, has_pull_requests, has_wiki, external_wiki } = settingsOf(repository);
  const isOff: Partial<Record<OperationTarget, boolean>> = {
    wiki: !has_wiki || external_wiki !== undefined,
    issues: !has_issues,
    pulls: !has_pull_requests,
    'issues-or-pulls': !has_issues && !has_pull_requests,
  };
  if (isOff[operation.target]) throw new ForgeProblem(404, 'not found');
}

function requireUser(actor: Actor): void {
  if (!actor.user) throw new ForgeProblem(401, 'token is required');
}

const needed: Readonly<Record<string, Permission>> = { writer: 'write', admin: 'admin', owner: 'owner' };

function guardRole(db: Database, operation: Operation, actor: Actor, target: GuardTarget): void {
  const { access, method } = operation;
  const mayBeAnonymous = access === 'anyone' || (access === 'reader' && method === 'GET');
  if (!mayBeAnonymous && !operation.roleFirst) requireUser(actor);
  if (access === 'site' && !actor.user?.is_admin)
    throw new ForgeProblem(403, 'user should be the site admin');
  if (target.kind === 'repository' && !reaches(target.permission, needed[access] ?? 'read')) {
    throw new ForgeProblem(403, `user should be ${access} of the repository`);
  }
  if (target.kind === 'organization') guardOrganization(db, operation, target.organization, actor.user);
  if (target.kind === 'team' && actor.user) guardTeam(db, operation, target, actor.user);
  if (target.kind === 'account') guardAccount(db, operation, target.account, actor.user);
  if (!mayBeAnonymous) requireUser(actor);
  if (operation.passwordOnly && !actor.isBasic) throw new ForgeProblem(401, 'auth required');
}

function guardOrganization(
  db: Database,
  operation: Operation,
  organization: UserRow,
  user: UserRow | undefined,
): void {
  const { access } = operation;
  const isHiddenFirst = operation.hiddenFirst ?? (access !== 'owner' && access !== 'member');
  if (isHiddenFirst && !isVisible(db, organization, user)) throw new ForgeProblem(404, 'not found');
  if (user?.is_admin) return;
  if (access === 'owner' && !(user && isOrganizationOwner(db, organization, user)))
    throw new ForgeProblem(403, 'Must be an organization owner');
  if (access === 'member' && !(user && isOrganizationMember(db, organization, user)))
    throw new ForgeProblem(403, 'Must be an organization member');
}

function guardAccount(db: Database, operation: Operation, account: UserRow, user: UserRow | undefined): void {
  if (operation.access === 'self') {
    if (!user?.is_admin && user?.id !== account.id) {
      throw new ForgeProblem(403, 'doer should be the site admin or be same as the contextUser');
    }
  } else if (operation.access !== 'site' && !isVisible(db, account, user)) {
    throw new ForgeProblem(404, 'not found');
  }
}

/** Returns a team with its organization, or ends the request with 404. */
function findTeam(db: Database, id: number): TeamTarget {
  const known = Number.isSafeInteger(id) ? id : 0;
  const team = found(db.get<TeamRow>('SELECT * FROM teams WHERE id = ?', known));
  const organization = found(db.get<UserRow>('SELECT * FROM users WHERE id = ?', team.org_id));
  return { team, organization };
}

/** Returns whether a person is a member of a team. */
export function isInTeam(db: Database, team: TeamRow, user: UserRow): boolean {
  const sql = 'SELECT 1 AS one FROM team_members WHERE team_id = ? AND user_id = ?';
  return db.get(sql, team.id, user.id) !== undefined;
}

/**
 * Returns an SQL condition for a team's access to a repository. A team for all repositories includes every repository
 * of its organization, without rows in `team_repositories`.
 */
export const teamHasRepository = (team: string, repository: string) =>
  `(${team}.includes_all_repositories = 1 OR EXISTS (
    SELECT 1 FROM team_repositories x WHERE x.team_id = ${team}.id AND x.repo_id = ${repository}.id))`;

/** Adds a repository of the organization to a team. The team's members watch the repository from then on. */
export function addTeamRepository(
  { db, clock }: Pick<ForgeContext, 'db' | 'clock'>,
  team: Pick<TeamRow, 'id'>,
  repository: Pick<RepositoryRow, 'id'>,
): void {
  const sql = 'INSERT INTO team_repositories (team_id, repo_id) VALUES (?, ?) ON CONFLICT DO NOTHING';
  db.run(sql, team.id, repository.id);
  db.run(
    'INSERT INTO watches (user_id, repo_id, created_at) SELECT user_id, ?, ? FROM team_members WHERE team_id = ? ON CONFLICT DO NOTHING',
    repository.id,
    secondsOf(clock()),
    team.id,
  );
}

/**
 * Ends the request if a person lacks access to a team. Organization owners and team members may read everything. Others
 * may read what the team's visibility allows, and see the members only if they belong to the organization.
 */
function guardTeam(db: Database, operation: Operation, target: TeamTarget, user: UserRow): void {
  const { team, organization } = target;
  if (user.is_admin) return;
  if (operation.access === 'owner') {
    if (!isOrganizationOwner(db, organization, user))
      throw new ForgeProblem(403, 'Must be an organization owner');
    return;
  }
  if (isOrganizationOwner(db, organization, user) || isInTeam(db, team, user)) return;
  const isColleague = isOrganizationMember(db, organization, user);
  const isRead = operation.method === 'GET';
  if (!isRead || !canReadTeam(db, target, user)) {
    throw isColleague ? new ForgeProblem(403, 'Must be a team member') : new ForgeProblem(404, 'not found');
  }
  if (operation.access === 'member' && !isColleague)
    throw new ForgeProblem(403, 'Must be an organization member');
}

/** Returns whether a person may know that a team exists. */
export function showsTeam(db: Database, target: TeamTarget, user: UserRow): boolean {
  const isOwn = isOrganizationOwner(db, target.organization, user) || isInTeam(db, target.team, user);
  return isOwn || canReadTeam(db, target, user);
}

/**
 * Returns whether a person outside a team may read it. A public team is readable for everyone who sees the
 * organization, a limited team for the organization's members, and a private team only for its own members.
 */
function canReadTeam(db: Database, { team, organization }: TeamTarget, user: UserRow): boolean {
  if (team.visibility === 'public') return isVisible(db, organization, user);
  return team.visibility === 'limited' && isOrganizationMember(db, organization, user);
}
