import { permissionOf, reaches } from '../access/permissions.ts';
import type { Database } from '../core/database.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';
import type { BranchRule, RuleList } from './branch-rules.ts';

/** Where a rule is in force. */
export type RulePlace = {
  readonly db: Database;
  readonly repository: RepositoryRow;
  readonly owner: UserRow;
};

/** Returns whether an account may write code, rules aside. */
function mayWrite({ db, repository, owner }: RulePlace, user: UserRow): boolean {
  return reaches(permissionOf(db, user, repository, owner, 'code'), 'write');
}

function isAdmin({ db, repository, owner }: RulePlace, user: UserRow): boolean {
  return reaches(permissionOf(db, user, repository, owner), 'admin');
}

/** Returns whether an account is in one of these teams. */
export function isInTeams(db: Database, user: UserRow, teamIds: readonly number[]): boolean {
  if (teamIds.length === 0) return false;
  const sql =
    'SELECT 1 AS one FROM team_members WHERE user_id = ? AND team_id IN (SELECT value FROM json_each(?)) LIMIT 1';
  return db.get(sql, user.id, JSON.stringify(teamIds)) !== undefined;
}

function isListed(db: Database, rule: BranchRule, list: RuleList, user: UserRow): boolean {
  return rule.users[list].includes(user.id) || isInTeams(db, user, rule.teams[list]);
}

/** Returns whether an account may push to branches of this rule. */
export function mayPush(place: RulePlace, rule: BranchRule, user: UserRow): boolean {
  if (!rule.enable_push) return false;
  return rule.enable_push_whitelist ? isListed(place.db, rule, 'push', user) : mayWrite(place, user);
}

/** Returns whether an account may rewrite branches of this rule. */
export function mayForcePush(place: RulePlace, rule: BranchRule, user: UserRow): boolean {
  if (!rule.enable_force_push || !mayPush(place, rule, user)) return false;
  return !rule.enable_force_push_allowlist || isListed(place.db, rule, 'force_push', user);
}

/** Returns whether an account may merge into a branch; without a rule, every writer may. */
export function mayMerge(place: RulePlace, rule: BranchRule | undefined, user: UserRow): boolean {
  if (!rule?.enable_merge_whitelist) return mayWrite(place, user);
  // An account is listed while it may write, and stays on the list when it may not any more.
  const isNamed = rule.users.merge.includes(user.id) && mayWrite(place, user);
  return isNamed || isInTeams(place.db, user, rule.teams.merge);
}

/** Returns whether an account may merge although a rule's conditions are not met. */
export function mayBypass(place: RulePlace, rule: BranchRule, user: UserRow): boolean {
  if (isAdmin(place, user) && !rule.block_admin_merge_override) return true;
  return rule.enable_bypass_allowlist && isListed(place.db, rule, 'bypass', user);
}

/** Returns whether an account's review counts where approvals are required. */
export function isOfficialReviewer(place: RulePlace, rule: BranchRule | undefined, user: UserRow): boolean {
  if (!rule?.enable_approvals_whitelist) return mayWrite(place, user);
  return isListed(place.db, rule, 'approvals', user);
}
