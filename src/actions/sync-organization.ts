import { z } from 'zod';
import { type Capability, unsupportedReason } from '../client/capabilities.ts';
import type { Client } from '../client/client.ts';
import { operations } from '../contract/operations.ts';
import { Organization } from '../contract/resources/users.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { organization as organizationRow } from '../facts/organization.ts';
import { organizationParams } from '../facts/where.ts';
import { type Adopted, type AdoptedPlace, defineAction } from './action.ts';
import type { Change } from './change.ts';
import { type Inverse, undoMember } from './inverses.ts';

const SyncOrganization = z
  .strictObject({
    full_name: z.string().max(100).optional(),
    email: z
      .union([z.literal(''), z.email().max(255)])
      .optional()
      .meta({ description: 'Visible to all users who can see the organization; the empty text clears it.' }),
    description: z.string().max(255).optional(),
    website: z
      .union([z.literal(''), z.url({ protocol: /^https?$/ }).max(255)])
      .optional()
      .meta({ description: 'An http or https address, or empty.' }),
    location: z.string().max(50).optional(),
    visibility: z
      .enum(['public', 'limited', 'private'])
      .optional()
      .meta({ description: 'Visible to everyone, to signed-in users, or to its members.' }),
    repo_admin_change_team_access: z
      .boolean()
      .optional()
      .meta({ description: 'Whether administrators of a repository can change the access of teams to it.' }),
  })
  .refine((given) => Object.keys(given).length > 0, { message: 'name at least one setting' });
type SyncOrganization = z.output<typeof SyncOrganization>;
type OrganizationSetting = keyof SyncOrganization;

const organizationFact = requestOf(organizationRow);

/**
 * Settings that Forgejo, and Gitea before 1.26, clear if a PATCH omits them. Every PATCH therefore sends their current
 * values. Source: forge `routers/api/v1/org/org.go` Edit.
 */
const clearedByAbsence = ['full_name', 'description', 'website', 'location'] as const;

const undoSetting = undoMember(
  operations.getOrganization,
  operations.editOrganization,
  ':',
  () => clearedByAbsence,
);
const undoEditOrganization: Inverse = async (change, client) => {
  const live = await undoSetting(change, client);
  const required = requiredFor(change.target, change.before);
  if (required.length === 0) return live;
  const lack = unsupportedReason(await client.capabilities(), required);
  return lack === undefined ? live : { ...live, undo: () => lack };
};

/**
 * Keeps these settings of the organization; other settings are left unchanged. All differences are sent as one PATCH,
 * and the response is compared with the desired values.
 */
export const syncOrganization = defineAction<SyncOrganization>({
  name: 'sync-organization',
  meaning:
    'Keeps these settings of the organization; others are left unchanged. If the subject is a repository, its owning organization is used. Forges send no events for organization settings: use a schedule.',
  example: `uses: sync-organization
with:
  visibility: limited
  website: https://acme.example.org
  repo_admin_change_team_access: false
`,
  arguments: SyncOrganization,
  of: ['organization', 'repository'],
  needs: { access: 'owner', scopes: ['organization'] },
  describesState: true,
  granted: false,
  visibleTo: 'administrators',
  inverses: { [operations.editOrganization.id]: undoEditOrganization },
  adoption: { read: adoptOrganization },
  facts: () => [organizationFact],
  async plan(given, facts) {
    const live = await facts.ask(organizationFact);
    return Object.entries(given).flatMap(([setting, value]) =>
      value === undefined ? [] : [settingChange(setting as OrganizationSetting, value, live, facts)],
    );
  },
  async join(changes, facts) {
    const live = await facts.ask(organizationFact);
    const kept = Object.fromEntries(clearedByAbsence.map((setting) => [setting, live[setting] ?? '']));
    const wanted = Object.fromEntries(changes.map((change) => [settingOf(change), change.value]));
    return { params: organizationParams(facts.subject), body: { ...kept, ...wanted } };
  },
  confirm(change, answer) {
    const answered = Organization.safeParse(answer);
    if (!answered.success || answered.data[settingOf(change)] === change.value) return undefined;
    return `the forge did not set ${settingOf(change)} to this value`;
  },
});

/**
 * Returns the capabilities required for a value of a setting: Forgejo and older Gitea releases silently ignore
 * `public`. Source: forge `routers/api/v1/org/org.go` Edit.
 */
function requiredFor(target: string, value: unknown): readonly Capability[] {
  return target === 'organization:visibility' && value === 'public' ? ['organization_public_again'] : [];
}

function settingChange(
  setting: OrganizationSetting,
  value: string | boolean,
  live: Organization,
  facts: Facts,
): Change {
  const params = organizationParams(facts.subject);
  const before = live[setting] ?? null;
  const isUpToDate = before === value;
  const target = `organization:${setting}`;
  const requires = isUpToDate ? [] : requiredFor(target, value);
  return {
    action: 'sync-organization',
    operation: operations.editOrganization.id,
    input: { params },
    target,
    value,
    before,
    after: value,
    reason: isUpToDate ? 'already in the desired state' : 'it has another value',
    reads: [organizationFact],
    joins: `settings of ${params.org}`,
    ...(isUpToDate && { already: true }),
    ...(requires.length > 0 && { requires }),
  };
}

function settingOf(change: Change): OrganizationSetting {
  return change.target.slice('organization:'.length) as OrganizationSetting;
}

async function adoptOrganization(client: Client, { owner, repo }: AdoptedPlace): Promise<Adopted> {
  if (repo !== undefined) return {};
  const live = await client.call(operations.getOrganization, { params: { org: owner } });
  const { full_name, email, description, website, location, visibility, repo_admin_change_team_access } =
    live;
  const settings = {
    full_name,
    email,
    description,
    website,
    location,
    visibility,
    repo_admin_change_team_access,
  };
  const known = Object.entries(settings).filter(([, value]) => value !== undefined && value !== null);
  return { arguments: Object.fromEntries(known) };
}
