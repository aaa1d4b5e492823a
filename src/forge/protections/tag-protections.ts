import { operations } from '../../contract/operations.ts';
import { asWritten } from '../../contract/written-texts.ts';
import { createUnlimitedMeter } from '../../patterns/meter.ts';
import { Re2Compiler } from '../../patterns/re2.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import type { Database } from '../core/database.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { Seconds, UserRow } from '../core/rows.ts';
import { secondsOf, toInstant } from '../core/time.ts';
import { defineHandlers } from '../http/handler.ts';
import { namesAmong, type Readers, readersOf, teamIds, userIds } from './allowlists.ts';
import { isInTeams, type RulePlace } from './branch-access.ts';
import { createForgeGlob } from './branch-rules.ts';

type TagRuleRow = {
  readonly id: number;
  readonly repo_id: number;
  readonly name_pattern: string;
  /** JSON lists of ids. */
  readonly whitelist_users: string;
  readonly whitelist_teams: string;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};
type TagProtectionRequest = RepositoryTarget & { readonly context: ForgeContext };

/** Handlers for the rules of tags. */
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

function loadRules(db: Database, repositoryId: number): readonly TagRuleRow[] {
  return db.all<TagRuleRow>('SELECT * FROM tag_protections WHERE repo_id = ? ORDER BY id', repositoryId);
}

function findRule({ context, repository }: TagProtectionRequest, id: number): TagRuleRow {
  const sql = 'SELECT * FROM tag_protections WHERE id = ? AND repo_id = ?';
  return found(context.db.get<TagRuleRow>(sql, id, repository.id));
}

function idsOf(list: string): readonly number[] {
  // The column holds what the handlers above wrote.
  return JSON.parse(list) as number[];
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

export function hasTagRules(db: Database, repositoryId: number): boolean {
  return db.get('SELECT 1 AS one FROM tag_protections WHERE repo_id = ? LIMIT 1', repositoryId) !== undefined;
}

/** Returns whether an account may make, change or remove a tag: no rule matches it, or one that does names the account. */
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
 * Between slashes stands a regular expression of linear time, anchored nowhere; anything else is a glob whose `*` crosses
 * slashes. A broken pattern matches every tag: on Gitea it breaks every change of tags.
 */
function matchesTag(pattern: string, tag: string): boolean {
  if (pattern.length >= 2 && pattern.startsWith('/') && pattern.endsWith('/')) {
    return compileExpression(pattern.slice(1, -1))?.(tag) ?? true;
  }
  return createForgeGlob(pattern, '')?.(tag) ?? true;
}

/** Gitea stores what it cannot read; so do we, and refuse. */
function compileExpression(text: string): ((tag: string) => boolean) | undefined {
  const compiled = new Re2Compiler().compile(text);
  return 'matches' in compiled ? (tag) => compiled.matches(tag, createUnlimitedMeter()) : undefined;
}
