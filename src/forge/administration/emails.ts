import type { ForgeContext } from '../core/context.ts';
import type { PageRange } from '../core/paging.ts';
import type { Bit } from '../core/rows.ts';
import { defineHandlers, type Reply } from '../http/handler.ts';

type EmailListing = { readonly context: ForgeContext; readonly page: PageRange; readonly reply: Reply };
type FoundEmail = {
  readonly email: string;
  readonly is_primary: Bit;
  readonly user_id: number;
  readonly username: string;
};

/** Addresses with the word in them, in the name or in the full name of their account. */
function searchEmails({ context, page, reply }: EmailListing, word: string) {
  const from = `FROM email_addresses e JOIN users u ON u.id = e.user_id WHERE u.type = 'user' AND (?1 = ''
    OR instr(e.lower_email, ?1) > 0 OR instr(u.lower_name, ?1) > 0 OR instr(lower(u.full_name), ?1) > 0)`;
  const wanted = word.trim().toLowerCase();
  reply.total(context.db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, wanted)?.count ?? 0);
  const rows = context.db.all<FoundEmail>(
    `SELECT e.email, e.is_primary, e.user_id, u.name AS username ${from}
     ORDER BY e.lower_email, e.id LIMIT ?2 OFFSET ?3`,
    wanted,
    page.limit,
    page.offset,
  );
  return rows.map(({ is_primary, ...row }) => ({ ...row, verified: true, primary: is_primary === 1 }));
}

/** Handlers for the addresses of all accounts. */
export const siteEmailHandlers = defineHandlers({
  listSiteEmails: (call) => searchEmails(call, ''),
  searchSiteEmails: (call) => searchEmails(call, call.query.q ?? ''),
});
