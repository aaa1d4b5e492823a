import { ForgeProblem } from '../platform/errors.ts';
import { isAncestor } from '../platform/git/history.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import type { PullRow, UserRow } from '../platform/rows.ts';
import { findUnverified, listChangedPaths } from './enforcement.ts';
import {
  type BranchRule,
  compileFilePatterns,
  createForgeGlob,
  findBranchRule,
  mayBypass,
  mayMerge,
  type RulePlace,
} from './protections-service.ts';
import { combineStates, latestStatuses } from './statuses-service.ts';

type Merging = RulePlace & {
  readonly git: GitRepository;
  readonly pull: PullRow;
  readonly user: UserRow;
  /** Whether the caller requests a merge even if conditions are not met. */
  readonly isForced: boolean;
  readonly style: string;
};

/** Ends the request with 405 if an account may not merge into this branch at all. */
export function guardMerger(place: RulePlace, user: UserRow, branch: string): void {
  const rule = findBranchRule(place.db, place.repository.id, branch);
  if (!mayMerge(place, rule, user)) throw new ForgeProblem(405, 'User not allowed to merge PR');
}

/** Ends the request with 405 if the base's rule is not met and the merging account may not bypass it. */
export async function guardConditions(merging: Merging): Promise<void> {
  const rule = findBranchRule(merging.db, merging.repository.id, merging.pull.base_branch);
  const unmet = rule && (await unmetCondition(merging, rule));
  if (!rule) return;
  const isPassed = unmet === undefined || (merging.isForced && mayBypass(merging, rule, merging.user));
  if (!isPassed) throw new ForgeProblem(405, `not ready to merge: ${unmet}`);
  if (rule.require_signed_commits) await guardSignatures(merging);
}

/**
 * Ends the request with 405 if signatures prevent the merge. A fast-forward only needs signed commits; any other merge
 * needs a signing key, which the forge does not have.
 */
async function guardSignatures({ db, git, pull, style }: Merging): Promise<void> {
  const isKept = style === 'fast-forward-only' || style === 'merge';
  if (isKept && (await findUnverified({ db, git }, pull.merge_base, pull.head_sha))) {
    throw new ForgeProblem(405, 'the branch requires signed commits but not all head commits are verified');
  }
  if (style !== 'fast-forward-only') throw new ForgeProblem(405, 'wont sign: nokey');
}

/**
 * Returns the first condition of a rule that a pull request does not meet, as text; undefined if all conditions are
 * met.
 */
async function unmetCondition(
  { git, ...place }: Omit<Merging, 'user' | 'isForced' | 'style'>,
  rule: BranchRule,
): Promise<string | undefined> {
  const { pull } = place;
  if (rule.enable_status_check && !passesChecks(place, rule))
    return 'a required status check is not successful';
  if (countApprovals(place, rule) < rule.required_approvals) return 'it does not have enough approvals';
  if (rule.block_on_rejected_reviews && hasOfficial(place, 'REQUEST_CHANGES')) return 'changes are requested';
  if (rule.block_on_official_review_requests && hasOfficial(place, 'REQUEST_REVIEW')) {
    return 'an official review is still requested';
  }
  if (rule.block_on_outdated_branch && !(await isAncestor(git, pull.base_sha, pull.head_sha))) {
    return 'the head branch is behind the base branch';
  }
  const isProtected = compileFilePatterns(rule.protected_file_patterns);
  const held = isProtected && (await listChangedPaths(git, pull.merge_base, pull.head_sha)).find(isProtected);
  return held === undefined ? undefined : `it changes the protected file ${held}`;
}

type MergePlace = RulePlace & { readonly pull: PullRow };

/**
 * Returns whether the required status checks have passed. Every pattern must match a status, and all matched statuses
 * must have passed. Without patterns, all statuses count.
 */
function passesChecks({ db, repository, pull }: MergePlace, rule: BranchRule): boolean {
  const statuses = latestStatuses(db, repository.id, pull.head_sha);
  const patterns = rule.status_check_contexts ?? [];
  if (patterns.length === 0) return combineStates(statuses.map(({ state }) => state)) === 'success';
  const matchers = patterns.flatMap((pattern) => createForgeGlob(pattern, '') ?? []);
  const areMet = matchers.every((matches) => statuses.some(({ context }) => matches(context)));
  const asked = statuses.filter(({ context }) => matchers.some((matches) => matches(context)));
  return areMet && combineStates(asked.map(({ state }) => state)) === 'success';
}

function countApprovals({ db, pull }: MergePlace, rule: BranchRule): number {
  const sql = `SELECT count(*) AS count FROM reviews WHERE issue_id = ? AND type = 'APPROVED' AND official = 1
    AND dismissed = 0 AND (? = 0 OR stale = 0)`;
  return db.get<{ count: number }>(sql, pull.issue_id, rule.ignore_stale_approvals)?.count ?? 0;
}

function hasOfficial({ db, pull }: MergePlace, type: 'REQUEST_CHANGES' | 'REQUEST_REVIEW'): boolean {
  const sql = `SELECT 1 AS one FROM reviews WHERE issue_id = ? AND type = ? AND official = 1 AND dismissed = 0 LIMIT 1`;
  return db.get(sql, pull.issue_id, type) !== undefined;
}
