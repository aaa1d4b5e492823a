import { z } from 'zod';
import { defineOperation } from './operation.ts';
import { flag, text } from './shape.ts';
import { Organization } from './users.ts';

/** A true merge patch: what is absent stays. */
export const EditOrganization = z.strictObject({
  /** At most 100 characters. */
  full_name: text.optional(),
  /** The empty text clears it. */
  email: text.optional(),
  /** At most 255 characters. */
  description: text.optional(),
  /** An http or https address, or empty. */
  website: text.optional(),
  /** At most 50 characters. */
  location: text.optional(),
  /** public, limited or private; empty leaves it. */
  visibility: text.optional(),
  repo_admin_change_team_access: flag.optional(),
});
export type EditOrganization = z.output<typeof EditOrganization>;

/** What can be asked of an organization beside what `users.ts` has. */
export const organizationOperations = {
  editOrganization: defineOperation({
    id: 'organization.edit',
    meaning: 'Changes the settings of an organization; what is absent stays.',
    method: 'PATCH',
    path: '/orgs/{org}',
    params: z.object({ org: text }),
    body: EditOrganization,
    success: 200,
    response: Organization,
    errors: [403, 404, 422],
    access: 'owner',
    scopes: ['organization'],
    source: 'routers/api/v1/org/org.go Edit',
  }),
} as const;
