import { z } from 'zod';

/** Owner and name of a repository, as in its URL. */
export const fullName = z.string().regex(/^[^/\s]+\/[^/\s]+$/, 'a repository is named owner/name');
/** The name of an account or an organization, as in its URL. */
const accountName = z
  .string()
  .regex(/^[\w][\w.-]*$/, 'an account or organization is named as in its address');

/** It is repeated in messages and on pages. */
const address = z
  .url({ protocol: /^https?$/, error: 'an address begins with http:// or https://' })
  .refine((url) => !url.includes('@'), 'an address holds no credentials, and no @');

/** `webhook` of the operator file: the hooks of Reeve on the forge. `reeve setup` creates them, `reeve doctor` checks them. */
export const WebhookForm = z.strictObject({
  url: address.describe('URL that the forge delivers to: `/webhook` of Reeve, as reachable from the forge.'),
  system: z.boolean().optional().describe('A hook of the instance, for every repository.'),
  users: z.array(accountName).optional().describe('Accounts with a hook.'),
  organizations: z.array(accountName).optional().describe('Organizations with a hook.'),
  repositories: z.array(fullName).optional().describe('Repositories with a hook.'),
  events: z
    .enum(['all', 'rules'])
    .optional()
    .describe(
      'Events of the hooks: all, or only push, repository and the events of the operator’s rules. Default all, because rule files of repositories can use any event.',
    ),
});
export type WebhookForm = z.output<typeof WebhookForm>;

/** `dashboard` of the operator file. */
export const DashboardForm = z.strictObject({
  url: address.describe('URL of the dashboard as its users reach it; sign-in on the forge redirects to it.'),
});
