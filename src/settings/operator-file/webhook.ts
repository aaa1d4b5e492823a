import { z } from 'zod';

/** An owner and a repository, as in its address. */
export const fullName = z.string().regex(/^[^/\s]+\/[^/\s]+$/, 'a repository is named owner/name');
/** The name of an account or an organization, as in its address. */
const accountName = z
  .string()
  .regex(/^[\w][\w.-]*$/, 'an account or organization is named as in its address');

const address = z.url({ protocol: /^https?$/, error: 'an address begins with http:// or https://' });

/** `webhook` of the operator file: the hooks of Reeve on the forge. `reeve setup` makes them, `reeve doctor` looks at them. */
export const WebhookForm = z.strictObject({
  url: address.describe('Where the forge delivers: `/webhook` of Reeve, as the forge reaches it.'),
  system: z.boolean().optional().describe('A hook of the instance, which hears every repository.'),
  users: z.array(accountName).optional().describe('Accounts with a hook of their own.'),
  organizations: z.array(accountName).optional().describe('Organizations with a hook.'),
  repositories: z.array(fullName).optional().describe('Repositories with a hook.'),
  events: z
    .enum(['all', 'rules'])
    .optional()
    .describe(
      'What the hooks hear: everything, or only what the operator’s rules listen to, push and repository. Default all, since files of repositories may listen to anything.',
    ),
});
export type WebhookForm = z.output<typeof WebhookForm>;

/** `dashboard` of the operator file. */
export const DashboardForm = z.strictObject({
  url: address.describe(
    'Address of the dashboard, as people reach it: where they come back to from signing in.',
  ),
});
