import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import { secondsOf, toInstant } from '../core/time.ts';
import { defineHandlers } from '../http/handler.ts';
import { namesAmong, type Readers, readersOf } from './allowlists.ts';
import type { RulePlace } from './branch-access.ts';
import { editedTerms, newTerms } from './branch-rule-terms.ts';
import {
  type BranchRule,
  isPattern,
  loadBranchRules,
  type RuleTerms,
  readBranchRule,
} from './branch-rules.ts';

type ProtectionRequest = RepositoryTarget & { readonly context: ForgeContext };

/** Handlers of branch protections. They send no webhook events. */
export const protectionHandlers = defineHandlers({
  listBranchProtections(call) {
    const place = toRulePlace(call);
    const readers = readersOf(place);
    return loadBranchRules(place.db, place.repository.id).map((rule) => toProtection(rule, readers));
  },

  getBranchProtection(call) {
    return show(toRulePlace(call), call.params.name);
  },

  createBranchProtection(call) {
    const place = toRulePlace(call);
    const name = call.body.rule_name || call.body.branch_name || '';
    if (name === '') throw new ForgeProblem(400, 'both rule_name and branch_name are empty');
    return place.db.transaction(() => {
      if (readBranchRule(place.db, place.repository.id, name)) {
        throw new ForgeProblem(403, 'Branch protection already exist');
      }
      const now = secondsOf(call.context.clock());
      place.db.run(
        `INSERT INTO branch_protections (repo_id, rule_name, priority, terms, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?)`,
        place.repository.id,
        name,
        call.body.priority || lowestPriority(place) + 1,
        JSON.stringify(newTerms(place, call.body)),
        now,
        now,
      );
      return show(place, name);
    });
  },

  editBranchProtection(call) {
    const place = toRulePlace(call);
    const { name } = call.params;
    return place.db.transaction(() => {
      const rule = found(readBranchRule(place.db, place.repository.id, name));
      place.db.run(
        'UPDATE branch_protections SET priority = ?, terms = ?, updated_at = ? WHERE id = ?',
        call.body.priority ?? rule.priority,
        JSON.stringify(editedTerms(place, termsOf(rule), call.body)),
        secondsOf(call.context.clock()),
        rule.id,
      );
      return show(place, name);
    });
  },

  deleteBranchProtection({ context, repository, params }) {
    const rule = found(readBranchRule(context.db, repository.id, params.name));
    context.db.run('DELETE FROM branch_protections WHERE id = ?', rule.id);
    return undefined;
  },

  orderBranchProtections({ context, repository, body }) {
    const sql = 'UPDATE branch_protections SET priority = ? WHERE id = ? AND repo_id = ?';
    context.db.transaction(() => {
      for (const [at, id] of (body.ids ?? []).entries()) context.db.run(sql, at + 1, id, repository.id);
    });
    return undefined;
  },
});

function toRulePlace({ context, repository, owner }: ProtectionRequest): RulePlace {
  return { db: context.db, repository, owner };
}

function lowestPriority({ db, repository }: RulePlace): number {
  const sql = 'SELECT coalesce(max(priority), 0) AS lowest FROM branch_protections WHERE repo_id = ?';
  return db.get<{ lowest: number }>(sql, repository.id)?.lowest ?? 0;
}

function termsOf(rule: BranchRule): RuleTerms {
  const { id, repo_id, rule_name, priority, created_at, updated_at, ...terms } = rule;
  return terms;
}

function show(place: RulePlace, name: string) {
  const rule = found(readBranchRule(place.db, place.repository.id, name));
  return toProtection(rule, readersOf(place));
}

function toProtection(rule: BranchRule, { people, teams }: Readers) {
  return {
    branch_name: isPattern(rule.rule_name) ? '' : rule.rule_name,
    rule_name: rule.rule_name,
    priority: rule.priority,
    enable_push: rule.enable_push,
    enable_push_whitelist: rule.enable_push_whitelist,
    push_whitelist_usernames: namesAmong(people, rule.users.push),
    push_whitelist_teams: namesAmong(teams, rule.teams.push),
    push_whitelist_deploy_keys: rule.push_whitelist_deploy_keys,
    enable_force_push: rule.enable_force_push,
    enable_force_push_allowlist: rule.enable_force_push_allowlist,
    force_push_allowlist_usernames: namesAmong(people, rule.users.force_push),
    force_push_allowlist_teams: namesAmong(teams, rule.teams.force_push),
    force_push_allowlist_deploy_keys: rule.force_push_allowlist_deploy_keys,
    enable_merge_whitelist: rule.enable_merge_whitelist,
    merge_whitelist_usernames: namesAmong(people, rule.users.merge),
    merge_whitelist_teams: namesAmong(teams, rule.teams.merge),
    enable_bypass_allowlist: rule.enable_bypass_allowlist,
    bypass_allowlist_usernames: namesAmong(people, rule.users.bypass),
    bypass_allowlist_teams: namesAmong(teams, rule.teams.bypass),
    enable_status_check: rule.enable_status_check,
    status_check_contexts: rule.status_check_contexts && [...rule.status_check_contexts],
    required_approvals: rule.required_approvals,
    enable_approvals_whitelist: rule.enable_approvals_whitelist,
    approvals_whitelist_username: namesAmong(people, rule.users.approvals),
    approvals_whitelist_teams: namesAmong(teams, rule.teams.approvals),
    block_on_rejected_reviews: rule.block_on_rejected_reviews,
    block_on_official_review_requests: rule.block_on_official_review_requests,
    block_on_outdated_branch: rule.block_on_outdated_branch,
    dismiss_stale_approvals: rule.dismiss_stale_approvals,
    ignore_stale_approvals: rule.ignore_stale_approvals,
    require_signed_commits: rule.require_signed_commits,
    protected_file_patterns: rule.protected_file_patterns,
    unprotected_file_patterns: rule.unprotected_file_patterns,
    block_admin_merge_override: rule.block_admin_merge_override,
    created_at: toInstant(rule.created_at),
    updated_at: toInstant(rule.updated_at),
  };
}
