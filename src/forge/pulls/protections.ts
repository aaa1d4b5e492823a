import { operations } from '../../contract/operations.ts';
import type { CreateBranchProtection, EditBranchProtection } from '../../contract/resources/protections.ts';
import { asWritten } from '../../contract/written-texts.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import { secondsOf, toInstant } from '../platform/time.ts';
import {
  keepReaders,
  keepWriters,
  namesAmong,
  type Readers,
  readersOf,
  teamIds,
  userIds,
} from './allowlists.ts';
import {
  type BranchRule,
  idsOf,
  isPattern,
  loadBranchRules,
  loadRules,
  type RuleList,
  type RulePlace,
  type RuleTerms,
  readBranchRule,
  ruleLists,
  type TagRuleRow,
} from './protections-service.ts';

type ProtectionRequest = RepositoryTarget & { readonly context: ForgeContext };

/** Handlers for branch protections. They send no webhook events. */
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

type RequestedTerms = EditBranchProtection | CreateBranchProtection;
type Allowlists = Pick<RuleTerms, 'users' | 'teams'>;

/** Returns the settings of a new rule. A dependent flag counts only if the flag it depends on is set. */
function newTerms(place: RulePlace, asked: CreateBranchProtection): RuleTerms {
  const isOn = (flag: boolean | undefined): boolean => flag === true;
  const push = isOn(asked.enable_push);
  const pushList = push && isOn(asked.enable_push_whitelist);
  const force = push && isOn(asked.enable_force_push);
  const forceList = force && isOn(asked.enable_force_push_allowlist);
  const bypass = isOn(asked.enable_bypass_allowlist);
  const wanted: RequestedTerms = bypass
    ? asked
    : { ...asked, bypass_allowlist_usernames: [], bypass_allowlist_teams: [] };
  return {
    ...keepLists(place, noLists, wantedLists(place, noLists, wanted)),
    enable_push: push,
    enable_push_whitelist: pushList,
    push_whitelist_deploy_keys: pushList && isOn(asked.push_whitelist_deploy_keys),
    enable_force_push: force,
    enable_force_push_allowlist: forceList,
    force_push_allowlist_deploy_keys: forceList && isOn(asked.force_push_allowlist_deploy_keys),
    enable_merge_whitelist: isOn(asked.enable_merge_whitelist),
    enable_bypass_allowlist: bypass,
    enable_status_check: isOn(asked.enable_status_check),
    status_check_contexts: asked.status_check_contexts ?? null,
    required_approvals: Math.max(0, asked.required_approvals ?? 0),
    enable_approvals_whitelist: isOn(asked.enable_approvals_whitelist),
    block_on_rejected_reviews: isOn(asked.block_on_rejected_reviews),
    block_on_official_review_requests: isOn(asked.block_on_official_review_requests),
    block_on_outdated_branch: isOn(asked.block_on_outdated_branch),
    dismiss_stale_approvals: isOn(asked.dismiss_stale_approvals),
    ignore_stale_approvals: isOn(asked.ignore_stale_approvals),
    require_signed_commits: isOn(asked.require_signed_commits),
    protected_file_patterns: asked.protected_file_patterns ?? '',
    unprotected_file_patterns: asked.unprotected_file_patterns ?? '',
    block_admin_merge_override: isOn(asked.block_admin_merge_override),
  };
}

/**
 * Returns the settings of a rule after an edit. The flags of the push allowlist are read only together with
 * `enable_push: true`, those of the force-push list only with `enable_force_push: true`; `false` clears its dependent
 * settings.
 */
function editedTerms(place: RulePlace, before: RuleTerms, asked: EditBranchProtection): RuleTerms {
  const { required_approvals = -1 } = asked;
  const bypass = asked.enable_bypass_allowlist ?? before.enable_bypass_allowlist;
  const wanted = wantedLists(place, before, asked);
  const kept = keepLists(place, before, bypass ? wanted : withoutBypass(wanted));
  return {
    ...before,
    ...definedOf(plainMembers(asked)),
    ...pushFlags(before, asked),
    ...forcePushFlags(before, asked),
    ...kept,
    enable_bypass_allowlist: bypass,
    required_approvals: required_approvals >= 0 ? required_approvals : before.required_approvals,
  };
}

/** Returns the fields that do not depend on other fields. */
function plainMembers(asked: EditBranchProtection) {
  return {
    enable_merge_whitelist: asked.enable_merge_whitelist,
    enable_status_check: asked.enable_status_check,
    status_check_contexts: asked.status_check_contexts,
    enable_approvals_whitelist: asked.enable_approvals_whitelist,
    block_on_rejected_reviews: asked.block_on_rejected_reviews,
    block_on_official_review_requests: asked.block_on_official_review_requests,
    block_on_outdated_branch: asked.block_on_outdated_branch,
    dismiss_stale_approvals: asked.dismiss_stale_approvals,
    ignore_stale_approvals: asked.ignore_stale_approvals,
    require_signed_commits: asked.require_signed_commits,
    protected_file_patterns: asked.protected_file_patterns,
    unprotected_file_patterns: asked.unprotected_file_patterns,
    block_admin_merge_override: asked.block_admin_merge_override,
  };
}

type Defined<T> = { [K in keyof T]?: NonNullable<T[K]> };

function definedOf<T extends object>(members: T): Defined<T> {
  // The cast is safe: all remaining fields have a value.
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>;
}

function pushFlags(before: RuleTerms, asked: EditBranchProtection): Partial<RuleTerms> {
  if (asked.enable_push === undefined) return {};
  const list = asked.enable_push && (asked.enable_push_whitelist ?? before.enable_push_whitelist);
  const keys = asked.enable_push_whitelist === true ? asked.push_whitelist_deploy_keys : undefined;
  return {
    enable_push: asked.enable_push,
    enable_push_whitelist: list,
    push_whitelist_deploy_keys: list && (keys ?? before.push_whitelist_deploy_keys),
  };
}

function forcePushFlags(before: RuleTerms, asked: EditBranchProtection): Partial<RuleTerms> {
  if (asked.enable_force_push === undefined) return {};
  const isListed = asked.enable_force_push_allowlist;
  const list = asked.enable_force_push && (isListed ?? before.enable_force_push_allowlist);
  const keys = isListed === true ? asked.force_push_allowlist_deploy_keys : undefined;
  return {
    enable_force_push: asked.enable_force_push,
    enable_force_push_allowlist: list,
    force_push_allowlist_deploy_keys: list && (keys ?? before.force_push_allowlist_deploy_keys),
  };
}

const none: Readonly<Record<RuleList, readonly number[]>> = {
  push: [],
  force_push: [],
  merge: [],
  approvals: [],
  bypass: [],
};
const noLists: Allowlists = { users: none, teams: none };

function withoutBypass({ users, teams }: Allowlists): Allowlists {
  return { users: { ...users, bypass: [] }, teams: { ...teams, bypass: [] } };
}

/**
 * Returns the allowlists after an edit. A given list, even an empty one, replaces the old one. As in Gitea, all
 * accounts and teams are looked up before anything changes.
 */
function wantedLists(place: RulePlace, before: Allowlists, asked: RequestedTerms): Allowlists {
  const people: Record<RuleList, readonly string[] | undefined> = {
    push: asked.push_whitelist_usernames,
    force_push: asked.force_push_allowlist_usernames,
    merge: asked.merge_whitelist_usernames,
    approvals: asked.approvals_whitelist_username,
    bypass: asked.bypass_allowlist_usernames,
  };
  const teams: Record<RuleList, readonly string[] | undefined> = {
    push: asked.push_whitelist_teams,
    force_push: asked.force_push_allowlist_teams,
    merge: asked.merge_whitelist_teams,
    approvals: asked.approvals_whitelist_teams,
    bypass: asked.bypass_allowlist_teams,
  };
  return {
    users: perList((list) => (people[list] ? userIds(place, people[list]) : before.users[list])),
    teams: perList((list) => (teams[list] ? teamIds(place, teams[list]) : before.teams[list])),
  };
}

/**
 * Returns the allowlists without newly listed accounts and teams that lack the required access; they are silently
 * omitted.
 */
function keepLists(place: RulePlace, before: Allowlists, wanted: Allowlists): Allowlists {
  const readers = readersOf(place);
  return {
    users: perList((list) => keepWriters(place, before.users[list], wanted.users[list])),
    teams: perList((list) => keepReaders(readers.teams, before.teams[list], wanted.teams[list])),
  };
}

function perList(idsOf: (list: RuleList) => readonly number[]): Record<RuleList, readonly number[]> {
  // The cast is safe: the object has one entry per list.
  return Object.fromEntries(ruleLists.map((list) => [list, idsOf(list)])) as Record<
    RuleList,
    readonly number[]
  >;
}

type TagProtectionRequest = RepositoryTarget & { readonly context: ForgeContext };

/** Handlers for tag protections. */
export const tagProtectionHandlers = defineHandlers({
  listTagProtections(call) {
    const readers = readersOf(toTagRulePlace(call));
    return loadRules(call.context.db, call.repository.id).map((row) => toTagProtection(row, readers));
  },

  getTagProtection(call) {
    return toTagProtection(findRule(call, call.params.id), readersOf(toTagRulePlace(call)));
  },

  createTagProtection(call) {
    const { context, repository, body } = call;
    const place = toTagRulePlace(call);
    const pattern = asWritten(operations.createTagProtection, 'name_pattern', body.name_pattern ?? '');
    if (pattern === '') throw new ForgeProblem(400, 'name_pattern are empty');
    if (!body.whitelist_usernames?.length && !body.whitelist_teams?.length) {
      throw new ForgeProblem(400, 'both whitelist_usernames and whitelist_teams are empty');
    }
    return context.db.transaction(() => {
      const same = 'SELECT 1 AS one FROM tag_protections WHERE repo_id = ? AND name_pattern = ?';
      if (context.db.get(same, repository.id, pattern)) {
        throw new ForgeProblem(403, 'Tag protection already exist');
      }
      const now = secondsOf(context.clock());
      const { lastId } = context.db.run(
        `INSERT INTO tag_protections (repo_id, name_pattern, whitelist_users, whitelist_teams, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?)`,
        repository.id,
        pattern,
        JSON.stringify(userIds(place, body.whitelist_usernames)),
        JSON.stringify(teamIds(place, body.whitelist_teams)),
        now,
        now,
      );
      return toTagProtection(findRule(call, lastId), readersOf(place));
    });
  },

  editTagProtection(call) {
    const { context, body } = call;
    const place = toTagRulePlace(call);
    return context.db.transaction(() => {
      const rule = findRule(call, call.params.id);
      const { whitelist_usernames: users, whitelist_teams: teams } = body;
      context.db.run(
        `UPDATE tag_protections SET name_pattern = ?, whitelist_users = ?, whitelist_teams = ?, updated_at = ?
         WHERE id = ?`,
        body.name_pattern ?? rule.name_pattern,
        users ? JSON.stringify(userIds(place, users)) : rule.whitelist_users,
        teams ? JSON.stringify(teamIds(place, teams)) : rule.whitelist_teams,
        secondsOf(context.clock()),
        rule.id,
      );
      return toTagProtection(findRule(call, rule.id), readersOf(place));
    });
  },

  deleteTagProtection(call) {
    const rule = findRule(call, call.params.id);
    call.context.db.run('DELETE FROM tag_protections WHERE id = ?', rule.id);
    return undefined;
  },
});

function toTagRulePlace({ context, repository, owner }: TagProtectionRequest): RulePlace {
  return { db: context.db, repository, owner };
}

function findRule({ context, repository }: TagProtectionRequest, id: number): TagRuleRow {
  const sql = 'SELECT * FROM tag_protections WHERE id = ? AND repo_id = ?';
  return found(context.db.get<TagRuleRow>(sql, id, repository.id));
}

function toTagProtection(row: TagRuleRow, { people, teams }: Readers) {
  return {
    id: row.id,
    name_pattern: row.name_pattern,
    whitelist_usernames: namesAmong(people, idsOf(row.whitelist_users)),
    whitelist_teams: namesAmong(teams, idsOf(row.whitelist_teams)),
    created_at: toInstant(row.created_at),
    updated_at: toInstant(row.updated_at),
  };
}
