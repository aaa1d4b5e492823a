import { z } from 'zod';
import { hookEventNames } from '../../contract/events/hook-events.ts';
import { forgeGlobProblem } from '../../patterns/forge-glob.ts';
import { SecretForm } from '../secret-form.ts';

/** The declaration of a hook in a rule. */
export const HookForm = z.strictObject({
  url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .meta({ description: 'Target URL, which identifies the hook.' }),
  events: z
    .array(z.enum(hookEventNames as [string, ...string[]]))
    .min(1)
    .meta({ description: 'Families (`pull_request`) or single kinds (`pull_request_only`).' }),
  branch_filter: z
    .string()
    .max(255)
    .check((context) => {
      const message = context.value === '' ? undefined : forgeGlobProblem(context.value, '');
      if (message !== undefined) context.issues.push({ code: 'custom', input: context.value, message });
    })
    .optional()
    .meta({ description: 'Glob of branches; unchanged if omitted.' }),
  active: z.boolean().default(true),
  content_type: z.enum(['json', 'form']).optional().meta({ description: 'Default for a new hook: json.' }),
  name: z.string().min(1).max(255).optional(),
  authorization: z
    .union([SecretForm, z.literal('none')])
    .optional()
    .meta({
      description: 'The secret with the value of the Authorization header: `{ secret: NAME }`; or none.',
    }),
  hmac: SecretForm.optional().meta({
    description: 'The secret for delivery signatures, by name. A new value replaces the hook.',
  }),
});
export type HookForm = z.output<typeof HookForm>;

/** The arguments of `sync-hooks`. */
export const SyncHooks = z.strictObject({
  hooks: z.array(HookForm).min(1).max(20),
  'of-account': z
    .boolean()
    .default(false)
    .meta({ description: 'Manages the hooks of the bot’s account instead of those of the subject.' }),
});
export type SyncHooks = z.output<typeof SyncHooks>;
