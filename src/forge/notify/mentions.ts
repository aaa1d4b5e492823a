import { isBlockedBy } from '../access/blocks.ts';
import type { ForgeContext } from '../core/context.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';

type MentionContext = { readonly repository: RepositoryRow; readonly owner: UserRow };

/** `@name` and `@organization/team`, standing free: a mail address is no mention. */
const mention = /(?<=\s|^|\(|\[)@([-\w][-.\w]*?(?:\/[-\w][-.\w]*?)?)(?=\s|$|[:,;.?!](?:\s|$)|'|\)|\])/g;

/** A text full of names asks the database for no more than these. */
const maxNames = 50;

/** Returns the names that a text mentions, in lower case, each once: accounts, and teams as `organization/team`. */
export function parseMentions(text: string): readonly string[] {
  const names = [...text.matchAll(mention)].map(([, name = '']) => name.toLowerCase());
  return [...new Set(names)].slice(0, maxNames);
}

/** Returns the ids of those whom a text mentions, whether or not they can read it; never the author's, nor those of accounts that block the author. */
export function findMentioned(
  { db }: ForgeContext,
  place: MentionContext,
  text: string,
  author: UserRow,
): readonly number[] {
  const names = JSON.stringify(parseMentions(text));
  const people = db.all<UserRow>(
    `SELECT * FROM users WHERE lower_name IN (SELECT value FROM json_each(?)) AND type = 'user'
       AND is_active = 1 AND prohibit_login = 0`,
    names,
  );
  const members = db.all<UserRow>(
    `SELECT u.* FROM teams t JOIN team_members m ON m.team_id = t.id JOIN users u ON u.id = m.user_id
     WHERE t.org_id = ?1 AND t.lower_name IN (
         SELECT substr(value, length(?2) + 2) FROM json_each(?3) WHERE value LIKE ?2 || '/%')
       AND (t.includes_all_repositories = 1
         OR EXISTS (SELECT 1 FROM team_repositories r WHERE r.team_id = t.id AND r.repo_id = ?4))
       AND u.is_active = 1 AND u.prohibit_login = 0`,
    place.owner.id,
    place.owner.lower_name,
    names,
    place.repository.id,
  );
  const ids = [...people, ...members].map(({ id }) => id);
  const wanted = [...new Set(ids)].filter((id) => id !== author.id);
  return author.is_admin ? wanted : wanted.filter((id) => !isBlockedBy(db, author, [id]));
}
