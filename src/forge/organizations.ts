import type { EditOrganization } from '../contract/organizations.ts';
import type { ForgeContext } from './context.ts';
import { ForgeProblem, found } from './errors.ts';
import { defineHandlers } from './handler.ts';
import { secondsOf } from './instants.ts';
import { toOrganization } from './resources/user.ts';
import type { UserRow } from './rows.ts';
import { assertNameIsFree, isEmail, readVisibility } from './users.ts';

/** What the team that owns an organization may do in each unit. */
const ownersUnits = Object.fromEntries(
  ['code', 'issues', 'pulls', 'releases', 'wiki', 'projects', 'packages', 'actions'].map((unit) => [
    `repo.${unit}`,
    'owner',
  ]),
);

/** Makes the team `Owners`, which an organization always has, with its first member. */
function createOwnersTeam(context: ForgeContext, organizationId: number, owner: UserRow): void {
  const { db } = context;
  const { lastId } = db.run(
    `INSERT INTO teams (org_id, name, lower_name, permission, includes_all_repositories, can_create_org_repo, units_map)
     VALUES (?, 'Owners', 'owners', 'owner', 1, 1, ?)`,
    organizationId,
    JSON.stringify(ownersUnits),
  );
  db.run(
    'INSERT INTO team_members (team_id, user_id, org_id) VALUES (?, ?, ?)',
    lastId,
    owner.id,
    organizationId,
  );
}

const longest: Readonly<Record<string, number>> = {
  full_name: 100,
  email: 255,
  description: 255,
  website: 255,
  location: 50,
};

function assertProfile(profile: EditOrganization): void {
  for (const [member, size] of Object.entries(longest)) {
    const value = profile[member as keyof EditOrganization];
    if (typeof value === 'string' && value.length > size) {
      throw new ForgeProblem(422, `[${member}]: MaxSize(${size})`);
    }
  }
  if (profile.email && !isEmail(profile.email)) throw new ForgeProblem(422, 'e-mail invalid');
  if (profile.website && !/^https?:\/\/[^\s/]/i.test(profile.website))
    throw new ForgeProblem(422, '[website]: Url');
}

function updateOrganization(context: ForgeContext, organization: UserRow, edit: EditOrganization): UserRow {
  assertProfile(edit);
  const row = { ...organization, ...edit };
  context.db.run(
    `UPDATE users SET full_name = ?, email = ?, description = ?, website = ?, location = ?, visibility = ?,
       repo_admin_change_team_access = ?, updated_at = ? WHERE id = ?`,
    row.full_name,
    row.email,
    row.description,
    row.website,
    row.location,
    readVisibility(edit.visibility) ?? organization.visibility,
    row.repo_admin_change_team_access,
    secondsOf(context.clock()),
    organization.id,
  );
  return found(context.db.get<UserRow>('SELECT * FROM users WHERE id = ?', organization.id));
}

/** What answers for organizations; whoever makes one becomes its owner. */
export const organizationHandlers = defineHandlers({
  getOrganization: ({ organization, context }) => toOrganization(context, organization),

  editOrganization: ({ organization, body, context }) =>
    toOrganization(context, updateOrganization(context, organization, body)),

  createOrganization({ body, caller, context }) {
    const { db } = context;
    const visibility = readVisibility(body.visibility) ?? 'public';
    assertProfile(body);
    const organization = db.transaction(() => {
      assertNameIsFree(context, body.username);
      const now = secondsOf(context.clock());
      const { lastId } = db.run(
        `INSERT INTO users (type, name, lower_name, full_name, email, description, location, website, visibility,
           repo_admin_change_team_access, created_at, updated_at)
         VALUES ('organization', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        body.username,
        body.username.toLowerCase(),
        body.full_name ?? '',
        body.email ?? '',
        body.description ?? '',
        body.location ?? '',
        body.website ?? '',
        visibility,
        body.repo_admin_change_team_access ?? false,
        now,
        now,
      );
      createOwnersTeam(context, lastId, caller);
      return found(db.get<UserRow>('SELECT * FROM users WHERE id = ?', lastId));
    });
    return toOrganization(context, organization);
  },
});
