import { toTeam } from '../accounts/teams-rows.ts';
import { loadUsers, toOwner, toUser } from '../accounts/users-rows.ts';
import { canSee, isVisible, permissionOf, reaches } from '../platform/access/permissions.ts';
import type { ForgeContext } from '../platform/context.ts';
import { settingsOf } from '../platform/repository-settings.ts';
import type { Permission, RepositoryRow, Seconds, TeamRow, UserRow } from '../platform/rows.ts';
import { epoch, formatGoDuration, toInstant, yearOne } from '../platform/time.ts';

/** A pending transfer of a repository to a new owner. */
export type TransferRow = {
  readonly repo_id: number;
  readonly doer_id: number;
  readonly recipient_id: number;
  /** JSON list of team ids. */
  readonly team_ids: string;
  readonly created_at: Seconds;
};

type RepositoryView = {
  readonly owner: UserRow;
  readonly viewer: UserRow | undefined;
  /** The viewer's permission, which is looked up if absent. Payloads use the permission of the actor or the poster. */
  readonly permission?: Permission;
  /**
   * Account that needs read access to the parent of a fork for the parent to be shown. In payloads, which have no
   * viewer, it is the actor. Default: the viewer.
   */
  readonly parentReader?: UserRow;
};

/** Returns a repository as the API shows it to a viewer. */
export function toRepository(context: ForgeContext, repository: RepositoryRow, sight: RepositoryView) {
  const parent = findParent(context, repository, sight);
  return { ...toBare(context, repository, sight), ...(parent ? { parent } : {}) };
}

/** Returns repositories of different owners, in the given order. */
export function toRepositories(
  context: ForgeContext,
  repositories: readonly RepositoryRow[],
  viewer: UserRow | undefined,
) {
  const owners = loadUsers(
    context,
    repositories.map((repository) => repository.owner_id),
  );
  return repositories.flatMap((repository) => {
    const owner = owners.get(repository.owner_id);
    return owner ? [toRepository(context, repository, { owner, viewer })] : [];
  });
}

/**
 * Returns the parent of a fork if the viewer can read it, since it may have become private. Its `permissions` are those
 * of the viewer in the fork, as in Gitea.
 */
function findParent(context: ForgeContext, repository: RepositoryRow, sight: RepositoryView) {
  if (repository.fork_id === null) return undefined;
  const parent = context.db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', repository.fork_id);
  const owner = parent && loadUsers(context, [parent.owner_id]).get(parent.owner_id);
  const reader = sight.parentReader ?? sight.viewer;
  if (!parent || !owner || !canSee(context.db, reader, parent, owner)) return undefined;
  const permission = sight.permission ?? permissionOf(context.db, sight.viewer, repository, sight.owner);
  return toBare(context, parent, { owner, viewer: sight.viewer, permission });
}

function toBare(context: ForgeContext, repository: RepositoryRow, sight: RepositoryView) {
  const { owner, viewer } = sight;
  const permission = sight.permission ?? permissionOf(context.db, viewer, repository, owner);
  const inCode = sight.permission ?? permissionOf(context.db, viewer, repository, owner, 'code');
  const transfer = toTransfer(context, repository, viewer);
  return {
    id: repository.id,
    owner: toOwner(context, owner, { permission, viewer }),
    name: repository.name,
    full_name: `${owner.name}/${repository.name}`,
    description: repository.description,
    empty: repository.is_empty === 1,
    private: repository.is_private === 1,
    fork: repository.fork_id !== null,
    template: repository.is_template === 1,
    mirror: repository.is_mirror === 1,
    internal: repository.is_private === 0 && owner.visibility === 'private',
    size: Math.floor(repository.size / 1024),
    language: '',
    ...addresses(context, repository, owner),
    ...counters(repository),
    default_branch: repository.default_branch,
    archived: repository.archived_at > 0,
    created_at: toInstant(repository.created_at),
    updated_at: toInstant(repository.updated_at),
    archived_at: repository.archived_at > 0 ? toInstant(repository.archived_at) : epoch,
    permissions: {
      admin: reaches(permission, 'admin'),
      push: reaches(inCode, 'write'),
      pull: reaches(inCode, 'read'),
    },
    ...switches(repository),
    ...mirrorState(repository),
    avatar_url: repository.avatar === '' ? '' : `${context.rootUrl()}/repo-avatars/${repository.avatar}`,
    object_format_name: repository.object_format,
    // The cast is safe: this forge writes the column.
    topics: JSON.parse(repository.topics) as string[],
    licenses: [],
    ...(transfer ? { repo_transfer: transfer } : {}),
  };
}

function addresses(context: ForgeContext, repository: RepositoryRow, owner: UserRow) {
  const names = `${owner.name}/${repository.name}`;
  const web = `${context.rootUrl()}/${names}`;
  const api = `${context.rootUrl()}/api/v1/repos/${names}`;
  const { hostname } = new URL(web);
  return {
    html_url: web,
    url: api,
    link: '',
    languages_url: `${api}/languages`,
    ssh_url: `git@${hostname}:${names}.git`,
    clone_url: `${web}.git`,
    original_url: repository.original_url,
    website: repository.website,
  };
}

function counters(repository: RepositoryRow) {
  return {
    stars_count: repository.num_stars,
    forks_count: repository.num_forks,
    watchers_count: repository.num_watches,
    branch_count: repository.num_branches,
    open_issues_count: repository.num_open_issues,
    open_pr_counter: repository.num_open_pulls,
    release_counter: repository.num_releases,
  };
}

/**
 * Returns the units of a repository. A tracker and a wiki are shown only if their unit is enabled; an external one
 * replaces the internal one.
 */
function switches(repository: RepositoryRow) {
  const { internal_tracker, external_tracker, external_wiki, ...plain } = settingsOf(repository);
  const tracker = external_tracker ? { external_tracker } : { internal_tracker };
  return {
    ...plain,
    ...(plain.has_issues ? tracker : {}),
    ...(plain.has_wiki && external_wiki ? { external_wiki } : {}),
  };
}

/** Returns the synchronization fields of a repository. */
function mirrorState({ is_mirror, mirror_interval, mirror_synced_at }: RepositoryRow) {
  if (is_mirror === 0) return { mirror_interval: '', mirror_updated: yearOne, mirror_last_sync_at: yearOne };
  const synced = toInstant(mirror_synced_at);
  return {
    mirror_interval: formatGoDuration(mirror_interval),
    mirror_updated: synced,
    mirror_last_sync_at: synced,
  };
}

/**
 * Returns the pending transfer of a repository as the API shows it; undefined if there is none, or if the new owner is
 * hidden from the viewer.
 */
function toTransfer(context: ForgeContext, repository: RepositoryRow, viewer: UserRow | undefined) {
  const { db } = context;
  const row = db.get<TransferRow>('SELECT * FROM transfers WHERE repo_id = ?', repository.id);
  if (!row) return undefined;
  const people = loadUsers(context, [row.doer_id, row.recipient_id]);
  const recipient = people.get(row.recipient_id);
  if (recipient && !isVisible(db, recipient, viewer)) return undefined;
  const person = (id: number) => {
    const user = people.get(id);
    return user ? toUser(context, user, undefined) : null;
  };
  const teams = db.all<TeamRow>(
    'SELECT * FROM teams WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id',
    row.team_ids,
  );
  return {
    doer: person(row.doer_id),
    recipient: person(row.recipient_id),
    teams: teams.map((team) => toTeam(context, team)),
  };
}
