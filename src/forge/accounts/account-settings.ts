import type { EditUserSettings } from '../../contract/resources/account-settings.ts';
import type { Database } from '../platform/database.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { assertPersonalTexts, isEmail, isEmailTaken } from './users-service.ts';

function toUserSettings(user: UserRow) {
  return {
    full_name: user.full_name,
    website: user.website,
    description: user.description,
    location: user.location,
    language: user.language,
    theme: user.theme,
    diff_view_style: user.diff_view_style,
    hide_email: user.keep_email_private === 1,
    hide_activity: user.keep_activity_private === 1,
  };
}

/**
 * Maximum length of the values of `language`, `theme` and `diff_view_style`. The forge's own pages have only one
 * language, theme and diff style; the values are stored for API clients.
 */
const longestName = 255;

function assertNames(edit: EditUserSettings): void {
  for (const member of ['language', 'theme', 'diff_view_style'] as const) {
    if ((edit[member]?.length ?? 0) > longestName)
      throw new ForgeProblem(422, `[${member}]: MaxSize(${longestName})`);
  }
}

/** Handlers for the caller's own settings. */
export const userSettingsHandlers = defineHandlers({
  getUserSettings: ({ caller }) => toUserSettings(caller),

  editUserSettings({ context, caller, body }) {
    assertPersonalTexts(body);
    assertNames(body);
    context.db.run(
      `UPDATE users SET full_name = ?, website = ?, description = ?, location = ?, language = ?, theme = ?,
         diff_view_style = ?, keep_email_private = ?, keep_activity_private = ?, updated_at = ? WHERE id = ?`,
      body.full_name ?? caller.full_name,
      body.website ?? caller.website,
      body.description ?? caller.description,
      body.location ?? caller.location,
      body.language ?? caller.language,
      body.theme ?? caller.theme,
      body.diff_view_style ?? caller.diff_view_style,
      body.hide_email ?? caller.keep_email_private,
      body.hide_activity ?? caller.keep_activity_private,
      secondsOf(context.clock()),
      caller.id,
    );
    return toUserSettings(found(context.db.get<UserRow>('SELECT * FROM users WHERE id = ?', caller.id)));
  },
});

type EmailRow = { readonly id: number; readonly email: string; readonly is_primary: number };

/**
 * Maximum number of e-mail addresses per account. Gitea has no limit; this limit keeps one account from filling the
 * table.
 */
const maxAddresses = 200;

function listAddresses(db: Database, user: UserRow) {
  const sql = 'SELECT id, email, is_primary FROM email_addresses WHERE user_id = ? ORDER BY id';
  return db.all<EmailRow>(sql, user.id).map(({ email, is_primary }) => ({
    email,
    // No mail is sent, so no address requires confirmation.
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
