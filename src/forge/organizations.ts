import type { ForgeContext } from './context.ts';
import { defineHandlers } from './handler.ts';
import { secondsOf } from './instants.ts';
import { toOrganization } from './resources/user.ts';
import type { UserRow } from './rows.ts';
import { assertNameIsFree, readVisibility } from './users.ts';

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

/** What answers for organizations; whoever makes one becomes its owner. */
export const organizationHandlers = defineHandlers({
  getOrganization: ({ organization, context }) => toOrganization(context, organization),

  createOrganization({ body, caller, context }) {
    const { db } = context;
    const visibility = readVisibility(body.visibility) ?? 'public';
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
      return db.get<UserRow>('SELECT * FROM users WHERE id = ?', lastId);
    });
    if (!organization) throw new TypeError('an organization is gone right after it was written');
    return toOrganization(context, organization);
  },
});
