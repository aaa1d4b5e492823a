import type { BranchProtection } from '../../contract/resources/protections.ts';
import { compileForgeGlob } from '../../patterns/glob.ts';
import { createUnlimitedMeter } from '../../patterns/meter.ts';
import { Re2Compiler } from '../../patterns/re2.ts';
import { permissionOf, reaches } from '../platform/access/permissions.ts';
import type { Database } from '../platform/database.ts';
import type { RepositoryRow, Seconds, UserRow } from '../platform/rows.ts';

/** The five allowlists of a rule, each with people and teams. */
export const ruleLists = ['push', 'force_push', 'merge', 'approvals', 'bypass'] as const;
export type RuleList = (typeof ruleLists)[number];

type RuleFlag = {
  [K in keyof BranchProtection]-?: boolean extends NonNullable<BranchProtection[K]> ? K : never;
}[keyof BranchProtection];

/** Settings of a rule other than name and priority; people and teams by id. */
export type RuleTerms = Readonly<Record<RuleFlag, boolean>> & {
  readonly users: Readonly<Record<RuleList, readonly number[]>>;
  readonly teams: Readonly<Record<RuleList, readonly number[]>>;
  /** Patterns of required status checks; null if never set. */
  readonly status_check_contexts: readonly string[] | null;
  readonly required_approvals: number;
  readonly protected_file_patterns: string;
  readonly unprotected_file_patterns: string;
};

/** One rule for the branches of a repository. */
export type BranchRule = RuleTerms & {
  readonly id: number;
  readonly repo_id: number;
  readonly rule_name: string;
  readonly priority: number;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

type BranchRuleRow = Pick<
  BranchRule,
  'id' | 'repo_id' | 'rule_name' | 'priority' | 'created_at' | 'updated_at'
> & {
  /** JSON of `RuleTerms`. */
  readonly terms: string;
};

/** Returns the rules of a repository in order of precedence: by priority, plain names before patterns, then by age. */
export function loadBranchRules(db: Database, repositoryId: number): readonly BranchRule[] {
  const rows = db.all<BranchRuleRow>('SELECT * FROM branch_protections WHERE repo_id = ?', repositoryId);
  return rows.map(toRule).sort(byPrecedence);
}

/** Returns the effective rule of a branch: the first that matches. Rules are never combined. */
export function findBranchRule(db: Database, repositoryId: number, branch: string): BranchRule | undefined {
  return matchingRule(loadBranchRules(db, repositoryId), branch);
}

/** Returns the first rule of a sorted list that matches a branch. */
export function matchingRule(rules: readonly BranchRule[], branch: string): BranchRule | undefined {
  return rules.find((rule) => matchesRule(rule.rule_name, branch));
}

/** Returns the rule with exactly this name. */
export function readBranchRule(db: Database, repositoryId: number, name: string): BranchRule | undefined {
  const sql = 'SELECT * FROM branch_protections WHERE repo_id = ? AND rule_name = ?';
  const row = db.get<BranchRuleRow>(sql, repositoryId, name);
  return row && toRule(row);
}

function toRule({ terms, ...row }: BranchRuleRow): BranchRule {
  // The cast is safe: the handlers of `protections.ts` write this column.
  return { ...(JSON.parse(terms) as RuleTerms), ...row };
}

function byPrecedence(one: BranchRule, other: BranchRule): number {
  return (
    one.priority - other.priority ||
    Number(isPattern(one.rule_name)) - Number(isPattern(other.rule_name)) ||
    one.created_at - other.created_at ||
    one.id - other.id
  );
}

/** Returns whether a rule's name is a pattern rather than a branch name. */
export function isPattern(ruleName: string): boolean {
  return /[*?\\[\]{}]/.test(ruleName);
}

/**
 * Returns whether a rule's name matches a branch. A plain name ignores case, a pattern does not; an invalid pattern is
 * compared literally.
 */
function matchesRule(ruleName: string, branch: string): boolean {
  if (!isPattern(ruleName)) return ruleName.toLowerCase() === branch.toLowerCase();
  return createForgeGlob(ruleName, '/')?.(branch) ?? ruleName === branch;
}

/** Returns the matcher of a forge glob; undefined for an invalid one. */
export function createForgeGlob(
  pattern: string,
  separator: '/' | '' | '/.',
): ((text: string) => boolean) | undefined {
  const matches = compileForgeGlob(pattern, separator);
  const meter = createUnlimitedMeter();
  return matches && ((text) => matches(text, meter));
}

/**
 * Returns a matcher for file patterns, which are separated by `;` and ignore case; invalid ones are skipped. Undefined
 * if no pattern remains.
 */
export function compileFilePatterns(patterns: string): ((path: string) => boolean) | undefined {
  const matchers = patterns
    .toLowerCase()
    .split(';')
    .map((pattern) => pattern.trim())
    .flatMap((pattern) => (pattern === '' ? [] : [createForgeGlob(pattern, '/.')]))
    .filter((matcher) => matcher !== undefined);
  if (matchers.length === 0) return undefined;
  return (path) => {
    const wanted = path.trim().toLowerCase();
    return matchers.some((matches) => matches(wanted));
  };
}

/** The repository that a rule belongs to. */
export type RulePlace = {
  readonly db: Database;
  readonly repository: RepositoryRow;
  readonly owner: UserRow;
};

/** Returns whether an account may write code, regardless of rules. */
function mayWrite({ db, repository, owner }: RulePlace, user: UserRow): boolean {
  return reaches(permissionOf(db, user, repository, owner, 'code'), 'write');
}

function isAdmin({ db, repository, owner }: RulePlace, user: UserRow): boolean {
  return reaches(permissionOf(db, user, repository, owner), 'admin');
}

/** Returns whether an account is a member of any of these teams. */
function isInTeams(db: Database, user: UserRow, teamIds: readonly number[]): boolean {
  if (teamIds.length === 0) return false;
  const sql =
    'SELECT 1 AS one FROM team_members WHERE user_id = ? AND team_id IN (SELECT value FROM json_each(?)) LIMIT 1';
  return db.get(sql, user.id, JSON.stringify(teamIds)) !== undefined;
}

function isListed(db: Database, rule: BranchRule, list: RuleList, user: UserRow): boolean {
  return rule.users[list].includes(user.id) || isInTeams(db, user, rule.teams[list]);
}

/** Returns whether an account may push to branches that this rule protects. */
export function mayPush(place: RulePlace, rule: BranchRule, user: UserRow): boolean {
  if (!rule.enable_push) return false;
  return rule.enable_push_whitelist ? isListed(place.db, rule, 'push', user) : mayWrite(place, user);
}

/** Returns whether an account may force-push to branches that this rule protects. */
export function mayForcePush(place: RulePlace, rule: BranchRule, user: UserRow): boolean {
  if (!rule.enable_force_push || !mayPush(place, rule, user)) return false;
  return !rule.enable_force_push_allowlist || isListed(place.db, rule, 'force_push', user);
}

/** Returns whether an account may merge into a branch; without a rule, every account with write access may. */
export function mayMerge(place: RulePlace, rule: BranchRule | undefined, user: UserRow): boolean {
  if (!rule?.enable_merge_whitelist) return mayWrite(place, user);
  // An account needs write access to be listed, but stays listed after losing it.
  const isNamed = rule.users.merge.includes(user.id) && mayWrite(place, user);
  return isNamed || isInTeams(place.db, user, rule.teams.merge);
}

/** Returns whether an account may merge even if a rule's conditions are not met. */
export function mayBypass(place: RulePlace, rule: BranchRule, user: UserRow): boolean {
  if (isAdmin(place, user) && !rule.block_admin_merge_override) return true;
  return rule.enable_bypass_allowlist && isListed(place.db, rule, 'bypass', user);
}

/** Returns whether an account's review counts as a required approval. */
export function isOfficialReviewer(place: RulePlace, rule: BranchRule | undefined, user: UserRow): boolean {
  if (!rule?.enable_approvals_whitelist) return mayWrite(place, user);
  return isListed(place.db, rule, 'approvals', user);
}

export type TagRuleRow = {
  readonly id: number;
  readonly repo_id: number;
  readonly name_pattern: string;
  /** Accounts and teams as JSON lists of ids. */
  readonly whitelist_users: string;
  readonly whitelist_teams: string;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

export function loadRules(db: Database, repositoryId: number): readonly TagRuleRow[] {
  return db.all<TagRuleRow>('SELECT * FROM tag_protections WHERE repo_id = ? ORDER BY id', repositoryId);
}

export function idsOf(list: string): readonly number[] {
  // The cast is safe: the handlers of `protections.ts` write this column.
  return JSON.parse(list) as number[];
}

export function hasTagRules(db: Database, repositoryId: number): boolean {
  return db.get('SELECT 1 AS one FROM tag_protections WHERE repo_id = ? LIMIT 1', repositoryId) !== undefined;
}

/**
 * Returns whether an account may create, change or delete a tag: either no rule matches the tag, or a matching rule
 * lists the account.
 */
export function mayControlTag(
  { db, repository }: Omit<RulePlace, 'owner'>,
  tag: string,
  user: UserRow,
): boolean {
  const matching = loadRules(db, repository.id).filter((rule) => matchesTag(rule.name_pattern, tag));
  return (
    matching.length === 0 ||
    matching.some(
      (rule) =>
        idsOf(rule.whitelist_users).includes(user.id) || isInTeams(db, user, idsOf(rule.whitelist_teams)),
    )
  );
}

/**
 * Returns whether a tag rule's pattern matches a tag. Text between slashes is an unanchored regular expression, matched
 * in linear time; anything else is a glob whose `*` also matches slashes. An invalid pattern matches every tag; in
 * Gitea, it makes every change of a tag fail.
 */
function matchesTag(pattern: string, tag: string): boolean {
  if (pattern.length >= 2 && pattern.startsWith('/') && pattern.endsWith('/')) {
    return compileExpression(pattern.slice(1, -1))?.(tag) ?? true;
  }
  return createForgeGlob(pattern, '')?.(tag) ?? true;
}

/**
 * Compiles a regular expression; undefined if invalid. Like Gitea, this forge stores invalid patterns, and refuses
 * changes of tags because of them.
 */
function compileExpression(text: string): ((tag: string) => boolean) | undefined {
  const compiled = new Re2Compiler().compile(text);
  return 'matches' in compiled ? (tag) => compiled.matches(tag, createUnlimitedMeter()) : undefined;
}
