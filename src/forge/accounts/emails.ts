import type { Database } from '../core/database.ts';
import { ForgeProblem } from '../core/errors.ts';
import type { UserRow } from '../core/rows.ts';
import { defineHandlers } from '../http/handler.ts';
import { isEmail, isEmailTaken } from './users.ts';

type EmailRow = { readonly id: number; readonly email: string; readonly is_primary: number };

/** Gitea has no limit; this one keeps an account from filling the table. */
const maxAddresses = 200;

function listAddresses(db: Database, user: UserRow) {
  const sql = 'SELECT id, email, is_primary FROM email_addresses WHERE user_id = ? ORDER BY id';
  return db.all<EmailRow>(sql, user.id).map(({ email, is_primary }) => ({
    email,
    // No mail is sent, so no address waits for a confirmation.
    verified: true,
    primary: is_primary === 1,
    user_id: 0,
    username: '',
  }));
}

function addAddress(db: Database, user: UserRow, email: string): void {
  if (!isEmail(email)) throw new ForgeProblem(422, `Email address ${JSON.stringify(email)} invalid`);
  if (isEmailTaken(db, email)) throw new ForgeProblem(422, `Email address has been used: ${email}`);
  const sql =
    'INSERT INTO email_addresses (user_id, email, lower_email, is_primary) VALUES (?1, ?2, lower(?2), 0)';
  db.run(sql, user.id, email);
}

function removeAddress(db: Database, user: UserRow, email: string): void {
  const sql =
    'SELECT id, email, is_primary FROM email_addresses WHERE user_id = ? AND lower_email = lower(?)';
  const row = db.get<EmailRow>(sql, user.id, email);
  if (!row) throw new ForgeProblem(404, `Email address does not exist [email: ${email}]`);
  if (row.is_primary)
    throw new ForgeProblem(422, `Primary email address cannot be deleted [email: ${email}]`);
  db.run('DELETE FROM email_addresses WHERE id = ?', row.id);
}

/** Handlers for the caller's e-mail addresses. */
export const emailHandlers = defineHandlers({
  listEmails: ({ context, caller }) => listAddresses(context.db, caller),

  addEmails({ context: { db }, caller, body }) {
    const emails = body.emails ?? [];
    if (emails.length === 0) throw new ForgeProblem(422, 'Email list empty');
    return db.transaction(() => {
      if (listAddresses(db, caller).length + emails.length > maxAddresses) {
        throw new ForgeProblem(422, `an account has at most ${maxAddresses} addresses`);
      }
      for (const email of emails) addAddress(db, caller, email);
      return listAddresses(db, caller);
    });
  },

  deleteEmails({ context: { db }, caller, body }) {
    db.transaction(() => {
      for (const email of body.emails ?? []) removeAddress(db, caller, email);
    });
    return undefined;
  },
});
