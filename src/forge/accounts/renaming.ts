import type { ForgeContext } from '../core/context.ts';
import type { Database } from '../core/database.ts';
import { ForgeProblem } from '../core/errors.ts';
import type { UserRow } from '../core/rows.ts';
import { secondsOf } from '../core/time.ts';
import { assertNameIsFree } from './users.ts';

/**
 * Gives a person or an organization another name; the old name redirects until another account takes it. Nothing
 * moves on disk. Ends the request with 422 where the name is taken or unusable.
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

/** The name of its account begins the name of a topic that was pushed for review. */
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

/** Removes the redirect of a name: another account has it now. */
export function freeName({ db }: Pick<ForgeContext, 'db'>, name: string): void {
  db.run('DELETE FROM account_redirects WHERE lower_name = ?', name.toLowerCase());
}
