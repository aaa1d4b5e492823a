import type { EditUserSettings } from '../../contract/resources/account-settings.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { UserRow } from '../core/rows.ts';
import { secondsOf } from '../core/time.ts';
import { defineHandlers } from '../http/handler.ts';
import { assertPersonalTexts } from './users.ts';

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

/** The pages have one language, one theme and one style of differences: these names are kept for clients alone. */
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
