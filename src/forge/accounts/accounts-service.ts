import type { ForgeContext } from '../platform/context.ts';
import type { Database } from '../platform/database.ts';
import { ForgeProblem } from '../platform/errors.ts';
import type { RepositoryRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { removeRepository } from '../repositories/repositories-service.ts';
import { assertNameIsFree } from './users-service.ts';

/**
 * Renames a person or an organization; the old name redirects until another account takes it. Nothing moves on disk.
 * Ends the request with 422 if the name is taken or invalid.
 */
export function renameAccount(context: ForgeContext, account: UserRow, name: string): void {
  const { db, clock } = context;
  if (name === account.name) return;
  const lower = name.toLowerCase();
  db.transaction(() => {
    if (lower !== account.lower_name) {
      assertNameIsFree(context, name);
      db.run(
        'INSERT OR REPLACE INTO account_redirects (lower_name, user_id) VALUES (?, ?)',
        account.lower_name,
        account.id,
      );
    } else if (!/^[-_.a-zA-Z0-9]+$/.test(name))
      throw new ForgeProblem(422, `name is invalid [name: ${name}]`);
    freeName(context, name);
    db.run(
      'UPDATE users SET name = ?, lower_name = ?, updated_at = ? WHERE id = ?',
      name,
      lower,
      secondsOf(clock()),
      account.id,
    );
    renameTopics(db, account, lower);
  });
}

/**
 * Renames the topics of an account's open pull requests that were pushed for review, because a topic name starts with
 * the name of the account.
 */
function renameTopics(db: Database, { id, lower_name }: UserRow, lower: string): void {
  const begin = `${lower_name}/`;
  db.run(
    `UPDATE pulls SET head_branch = ? || CASE WHEN substr(head_branch, 1, ?) = ? THEN substr(head_branch, ?) ELSE head_branch END
     WHERE flow = 1 AND is_merged = 0 AND issue_id IN (SELECT id FROM issues WHERE is_pull = 1 AND is_closed = 0 AND poster_id = ?)`,
    `${lower}/`,
    begin.length,
    begin,
    begin.length + 1,
    id,
  );
}

/** Removes the redirect of a name that another account has taken. */
export function freeName({ db }: Pick<ForgeContext, 'db'>, name: string): void {
  db.run('DELETE FROM account_redirects WHERE lower_name = ?', name.toLowerCase());
}

/** Id of the ghost account, which replaces deleted people. It has no password and no URL. */
const ghostId = -1;

function countRepositories({ db }: ForgeContext, owner: UserRow): number {
  const sql = 'SELECT count(*) AS count FROM repositories WHERE owner_id = ?';
  return db.get<{ count: number }>(sql, owner.id)?.count ?? 0;
}

function assertNoPackages({ db }: ForgeContext, owner: UserRow): void {
  if (db.get('SELECT 1 AS one FROM packages WHERE owner_id = ? LIMIT 1', owner.id))
    throw new ForgeProblem(422, `user still has ownership of packages [name: ${owner.name}]`);
}

/** Removes an organization with its teams. Ends the request with 422 while it owns a repository or a package. */
export function removeOrganization(context: ForgeContext, organization: UserRow): void {
  if (countRepositories(context, organization) > 0) {
    throw new ForgeProblem(422, `user still has ownership of repositories [name: ${organization.name}]`);
  }
  assertNoPackages(context, organization);
  removeRow(context, organization);
}

/** Returns whether no active site administrator would be left without this account. */
export function isLastAdministrator(db: ForgeContext['db'], { id, is_admin }: UserRow): boolean {
  const other = 'SELECT 1 AS one FROM users WHERE is_admin = 1 AND is_active = 1 AND id <> ?';
  return is_admin === 1 && db.get(other, id) === undefined;
}

type Removal = { readonly account: UserRow; readonly actor: UserRow; readonly purge: boolean };

/**
 * Removes a person's account. Ends the request with 422 while the account owns a repository or a package, belongs to an
 * organization, or is the last active site administrator. With `purge`, first removes the account's repositories and
 * packages, its memberships, and the organizations that would lose their last owner.
 */
export function removeAccount(context: ForgeContext, { account, actor, purge }: Removal): void {
  const { db } = context;
  if (isLastAdministrator(db, account))
    throw new ForgeProblem(422, `can not delete the last admin user [name: ${account.name}]`);
  db.transaction(() => {
    if (purge) purgeOf(context, account, actor);
    if (countRepositories(context, account) > 0) {
      throw new ForgeProblem(422, `user still has ownership of repositories [name: ${account.name}]`);
    }
    if (db.get('SELECT 1 AS one FROM team_members WHERE user_id = ?', account.id)) {
      throw new ForgeProblem(422, `user still has membership of organizations [name: ${account.name}]`);
    }
    assertNoPackages(context, account);
    removeRow(context, account);
  });
}

function purgeOf(context: ForgeContext, account: UserRow, actor: UserRow): void {
  const { db } = context;
  removeAllRepositories(context, account, actor);
  db.run('DELETE FROM packages WHERE owner_id = ?', account.id);
  const organizations = db.all<UserRow>(
    `SELECT o.* FROM users o WHERE o.id IN (SELECT t.org_id FROM teams t JOIN team_members m ON m.team_id = t.id
       WHERE t.permission = 'owner' AND m.user_id = ?1
       AND NOT EXISTS (SELECT 1 FROM team_members x WHERE x.team_id = t.id AND x.user_id <> ?1))`,
    account.id,
  );
  for (const organization of organizations) {
    removeAllRepositories(context, organization, actor);
    db.run('DELETE FROM packages WHERE owner_id = ?', organization.id);
    removeOrganization(context, organization);
  }
  db.run('DELETE FROM team_members WHERE user_id = ?', account.id);
}

function removeAllRepositories(context: ForgeContext, owner: UserRow, actor: UserRow): void {
  const sql = 'SELECT * FROM repositories WHERE owner_id = ? ORDER BY id';
  for (const repository of context.db.all<RepositoryRow>(sql, owner.id)) {
    removeRepository(context, { repository, owner, actor });
  }
}

/** Removes an account. Its content (issues, comments, merges) then belongs to the ghost account. */
function removeRow({ db }: ForgeContext, account: UserRow): void {
  db.run(
    `INSERT OR IGNORE INTO users (id, type, name, lower_name, is_active, prohibit_login, created_at, updated_at)
     VALUES (?, 'user', 'Ghost', 'ghost', 0, 1, 0, 0)`,
    ghostId,
  );
  const kept = db.all<{ table_name: string; column_name: string }>(
    `SELECT m.name AS table_name, f."from" AS column_name FROM sqlite_master m, pragma_foreign_key_list(m.name) f
     WHERE m.type = 'table' AND f."table" = 'users' AND f.on_delete = 'NO ACTION' AND m.name <> 'repositories'`,
  );
  for (const { table_name, column_name } of kept) {
    db.run(`UPDATE "${table_name}" SET "${column_name}" = ? WHERE "${column_name}" = ?`, ghostId, account.id);
  }
  db.run('DELETE FROM users WHERE id = ?', account.id);
}
