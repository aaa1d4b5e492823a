import type { BranchProtection } from '../../contract/resources/protections.ts';
import { compileForgeGlob } from '../../patterns/forge-glob.ts';
import { createUnlimitedMeter } from '../../patterns/meter.ts';
import type { Database } from '../core/database.ts';
import type { Seconds } from '../core/rows.ts';

/** The five lists of people and teams that a rule has. */
export const ruleLists = ['push', 'force_push', 'merge', 'approvals', 'bypass'] as const;
export type RuleList = (typeof ruleLists)[number];

type RuleFlag = {
  [K in keyof BranchProtection]-?: boolean extends NonNullable<BranchProtection[K]> ? K : never;
}[keyof BranchProtection];

/** What a rule says beside name and priority; people and teams by id. */
export type RuleTerms = Readonly<Record<RuleFlag, boolean>> & {
  readonly users: Readonly<Record<RuleList, readonly number[]>>;
  readonly teams: Readonly<Record<RuleList, readonly number[]>>;
  /** Null: never set. */
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

/** Returns the rules of a repository, the one that wins first: by priority, plain names before patterns, then by age. */
export function loadBranchRules(db: Database, repositoryId: number): readonly BranchRule[] {
  const rows = db.all<BranchRuleRow>('SELECT * FROM branch_protections WHERE repo_id = ?', repositoryId);
  return rows.map(toRule).sort(byPrecedence);
}

/** Returns the rule that is in force for a branch: the first that matches, never several combined. */
export function findBranchRule(db: Database, repositoryId: number, branch: string): BranchRule | undefined {
  return matchingRule(loadBranchRules(db, repositoryId), branch);
}

/** Returns the first rule of a sorted list that matches a branch. */
export function matchingRule(rules: readonly BranchRule[], branch: string): BranchRule | undefined {
  return rules.find((rule) => matchesRule(rule.rule_name, branch));
}

/** Returns the rule of exactly this name. */
export function readBranchRule(db: Database, repositoryId: number, name: string): BranchRule | undefined {
  const sql = 'SELECT * FROM branch_protections WHERE repo_id = ? AND rule_name = ?';
  const row = db.get<BranchRuleRow>(sql, repositoryId, name);
  return row && toRule(row);
}

function toRule({ terms, ...row }: BranchRuleRow): BranchRule {
  // The column holds what `saveTerms` wrote.
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

/** Returns whether a rule's name is a pattern rather than the name of a branch. */
export function isPattern(ruleName: string): boolean {
  return /[*?\\[\]{}]/.test(ruleName);
}

/** A plain name ignores case; a pattern does not, and one that is broken stands for itself. */
function matchesRule(ruleName: string, branch: string): boolean {
  if (!isPattern(ruleName)) return ruleName.toLowerCase() === branch.toLowerCase();
  return createForgeGlob(ruleName, '/')?.(branch) ?? ruleName === branch;
}

/** Returns what tells whether a text matches a glob of the forge, undefined for a broken one. */
export function createForgeGlob(
  pattern: string,
  separator: '/' | '' | '/.',
): ((text: string) => boolean) | undefined {
  const matches = compileForgeGlob(pattern, separator);
  const meter = createUnlimitedMeter();
  return matches && ((text) => matches(text, meter));
}

/**
 * Returns a function that tells whether a path is meant by file patterns (`;` between them, without regard to case,
 * broken ones skipped); undefined where there is no pattern at all.
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
