import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs } from '../row-fields.ts';
import { flag, int, list, resource, text } from '../shape.ts';

/** An e-mail address of an account; `user_id` and `username` are set only in administrators' searches. */
export const Email = resource(
  { email: text },
  { verified: flag, primary: flag, user_id: int, username: text },
);

const UserSettings = resource(
  {},
  {
    full_name: text,
    website: text,
    description: text,
    location: text,
    language: text,
    theme: text,
    diff_view_style: text,
    hide_email: flag,
    hide_activity: flag,
  },
);

/** A merge patch of the caller's own settings. */
export const EditUserSettings = z.strictObject({
  /** At most 100 characters. */
  full_name: text.optional(),
  /** An http or https URL, or empty. */
  website: text.optional(),
  /** At most 255 characters. */
  description: text.optional(),
  /** At most 50 characters. */
  location: text.optional(),
  language: text.optional(),
  theme: text.optional(),
  diff_view_style: text.optional(),
  /** Shows the no-reply address instead of the account's own address. */
  hide_email: flag.optional(),
  /** Shows activities and the heat map only to the account itself and to administrators. */
  hide_activity: flag.optional(),
});
export type EditUserSettings = z.output<typeof EditUserSettings>;

/** E-mail addresses and settings of the caller. */
export const accountSettingsOperations = {
  listEmails: defineOperation({
    id: 'user.list-emails',
    meaning: 'Lists the e-mail addresses of the caller, in the order in which they were added.',
    method: 'GET',
    path: '/user/emails',
    ...callerAs('self'),
    success: 200,
    response: list(Email),
    errors: [403],
    publicOnly: 'closed',
    source: 'routers/api/v1/user/email.go ListEmails',
  }),
  addEmails: defineOperation({
    id: 'user.add-emails',
    meaning: 'Adds e-mail addresses, all or none, and lists all of them. An address belongs to one account.',
    method: 'POST',
    path: '/user/emails',
    ...callerAs('self'),
    body: z.strictObject({ emails: z.array(text).optional() }),
    success: 201,
    response: list(Email),
    errors: [403, 422],
    publicOnly: 'closed',
    source: 'routers/api/v1/user/email.go AddEmail',
  }),
  deleteEmails: defineOperation({
    id: 'user.delete-emails',
    meaning: 'Deletes e-mail addresses, all or none; the primary one cannot be deleted.',
    method: 'DELETE',
    path: '/user/emails',
    ...callerAs('self'),
    body: z.strictObject({ emails: z.array(text).optional() }),
    success: 204,
    errors: [403, 404, 422],
    publicOnly: 'closed',
    baseline: { 'primary address': 500 },
    source: 'routers/api/v1/user/email.go DeleteEmail',
  }),
  getUserSettings: defineOperation({
    id: 'user.get-settings',
    meaning: "Returns the caller's settings.",
    method: 'GET',
    path: '/user/settings',
    ...callerAs('self'),
    success: 200,
    response: UserSettings,
    errors: [403],
    publicOnly: 'closed',
    source: 'routers/api/v1/user/settings.go GetUserSettings',
  }),
  editUserSettings: defineOperation({
    id: 'user.edit-settings',
    meaning: "Updates the caller's settings; absent members are unchanged.",
    method: 'PATCH',
    path: '/user/settings',
    ...callerAs('self'),
    body: EditUserSettings,
    success: 200,
    response: UserSettings,
    errors: [403, 422],
    publicOnly: 'closed',
    source: 'routers/api/v1/user/settings.go UpdateUserSettings',
  }),
} as const;
