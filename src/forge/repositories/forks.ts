import { requireUnblocked } from '../access/blocks.ts';
import { requireCopy } from '../access/code.ts';
import { isOrganizationMember } from '../access/permissions.ts';
import { userNamed } from '../access/redirects.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import { beginWork, endCreation } from '../core/journal.ts';
import { mergeSettings } from '../core/repository-settings.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';
import { secondsOf } from '../core/time.ts';
import { recordActivity } from '../events/activities.ts';
import { forkPayload } from '../events/payloads.ts';
import type { CopyPermit } from '../git/repository.ts';
import { defineHandlers } from '../http/handler.ts';
import { copyLfsObjects } from '../lfs/lfs-objects.ts';
import { watchRepository } from '../notify/watches.ts';
import { toRepository } from '../views/repository.ts';
import { toUser } from '../views/user.ts';
import { assertRepositoryName, emitRepository, isTaken } from './create.ts';

/** Forks: a repository's copy in another account, with all branches and tags. */
export const forkHandlers = defineHandlers({
  async createFork({ context, body, caller, ...source }) {
    const permit = requireCopy(context, caller, source.repository.id);
    const holder = findHolder(context, caller, body.organization);
    requireUnblocked(context.db, caller, [source.owner.id]);
    const fork = await forkRepository(
      context,
      { ...source, permit },
      { holder, actor: caller, name: body.name },
    );
    return toRepository(context, fork, { owner: holder, viewer: caller, permission: 'owner' });
  },
});

/** A fork is for code and pull requests; its owner may switch on the rest. */
const unitsOfFork = {
  has_issues: false,
  has_wiki: false,
  has_projects: false,
  has_releases: false,
  has_packages: false,
  has_actions: false,
};

function findHolder(context: ForgeContext, caller: UserRow, name: string | undefined): UserRow {
  if (name === undefined) return caller;
  const organization = userNamed(context.db, name);
  if (organization?.type !== 'organization') {
    throw new ForgeProblem(404, `organization does not exist [name: ${name}]`);
  }
  if (isOrganizationMember(context.db, organization, caller)) return organization;
  throw new ForgeProblem(403, `User is no Member of Organisation '${organization.name}'`);
}

async function forkRepository(
  context: ForgeContext,
  source: RepositoryTarget & { readonly permit: CopyPermit },
  {
    holder,
    actor,
    name = source.repository.name,
  }: { holder: UserRow; actor: UserRow; name?: string | undefined },
): Promise<RepositoryRow> {
  const { db, git } = context;
  const row = db.transaction(() => insertFork(context, source, { holder, actor }, name));
  try {
    await git.copy(source.repository.id, row.id, source.permit);
  } catch (error) {
    // A row without its folder would answer 500 for ever.
    db.run('DELETE FROM repositories WHERE id = ?', row.id);
    await git.remove(row.id);
    throw error;
  }
  db.transaction(() => {
    copyLfsObjects(context, source.permit, row.id);
    endCreation(db, row.id);
    recordActivity(context, { repositoryId: row.id, actorId: actor.id, type: 'create_repo' });
    emitFork(context, source, { fork: row, holder, actor });
  });
  return row;
}

function insertFork(
  context: ForgeContext,
  { repository }: RepositoryTarget,
  { holder, actor }: { readonly holder: UserRow; readonly actor: UserRow },
  name: string,
): RepositoryRow {
  const { db, clock } = context;
  assertRepositoryName(name);
  const sql = 'SELECT 1 AS one FROM repositories WHERE owner_id = ? AND (fork_id = ? OR id = ?)';
  const isForked = db.get(sql, holder.id, repository.id, repository.id) !== undefined;
  if (isForked || isTaken(context, holder, name)) {
    throw new ForgeProblem(409, 'The repository is forked already, or one of the same name exists.');
  }
  const now = secondsOf(clock());
  const { lastId } = db.run(
    `INSERT INTO repositories (owner_id, name, lower_name, description, default_branch, object_format,
       is_private, is_empty, fork_id, size, num_branches, created_at, updated_at)
     SELECT ?, ?, ?, description, default_branch, object_format, is_private, is_empty, id, size, num_branches,
       ?, ? FROM repositories WHERE id = ?`,
    holder.id,
    name,
    name.toLowerCase(),
    now,
    now,
    repository.id,
  );
  beginWork(db, lastId, 'creating');
  watchRepository(context, actor.id, lastId);
  const read = (): RepositoryRow =>
    found(db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', lastId));
  db.run('UPDATE repositories SET settings = ? WHERE id = ?', mergeSettings(read(), unitsOfFork), lastId);
  return read();
}

/** To the source's hooks as `fork`; in an organization its hooks get a `repository` event as well. */
function emitFork(
  context: ForgeContext,
  { repository, owner }: RepositoryTarget,
  { fork, holder, actor }: { fork: RepositoryRow; holder: UserRow; actor: UserRow },
): void {
  context.emit({
    type: 'fork',
    repository,
    owner,
    payload: () =>
      forkPayload({
        source: toRepository(context, repository, { owner, viewer: actor }),
        fork: toRepository(context, fork, {
          owner: holder,
          viewer: undefined,
          permission: 'owner',
          parentReader: actor,
        }),
        sender: toUser(context, actor, undefined),
      }),
  });
  if (holder.type !== 'organization') return;
  emitRepository(context, { repository: fork, owner: holder, actor, action: 'created' });
}
