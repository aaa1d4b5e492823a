import { recordActivity } from '../notifications/activities-service.ts';
import { notifyOfRepository } from '../notifications/notifications-service.ts';
import { watchRepository } from '../notifications/subscriptions-service.ts';
import { addTeamRepository } from '../platform/access/guards.ts';
import {
  canCreateRepositoryIn,
  canSee,
  isOrganizationMember,
  permissionOf,
  requireUnblocked,
} from '../platform/access/permissions.ts';
import { userNamed } from '../platform/access/redirects.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { RepositoryRow, TeamRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { type TransferRow, toRepository } from './repositories-rows.ts';
import { isTaken } from './repositories-service.ts';

type Move = {
  readonly repository: RepositoryRow;
  readonly from: UserRow;
  readonly to: UserRow;
  /** Teams of the new owner that get access, in addition to those with access to all repositories. */
  readonly teamIds: readonly number[];
  /** The initiator of the transfer, who watches the repository from then on. */
  readonly doerId: number;
};

/**
 * Moves a repository to another owner. The old name redirects to it; teams and labels of the old organization are
 * removed, as are collaborators who have access through the new owner. Everything else is kept, including webhooks.
 */
function moveRepository(
  context: ForgeContext,
  { repository, from, to, teamIds, doerId }: Move,
): RepositoryRow {
  const { db } = context;
  const { id, lower_name } = repository;
  db.run('UPDATE repositories SET owner_id = ? WHERE id = ?', to.id, id);
  db.run(
    `DELETE FROM collaborators WHERE repo_id = ?1 AND (user_id = ?2
       OR user_id IN (SELECT user_id FROM team_members WHERE org_id = ?2))`,
    id,
    to.id,
  );
  db.run(
    'DELETE FROM team_repositories WHERE repo_id = ? AND team_id IN (SELECT id FROM teams WHERE org_id <> ?)',
    id,
    to.id,
  );
  db.run(
    `DELETE FROM issue_labels WHERE issue_id IN (SELECT id FROM issues WHERE repo_id = ?1)
       AND label_id IN (SELECT id FROM labels WHERE org_id IS NOT NULL AND org_id <> ?2)`,
    id,
    to.id,
  );
  db.run('DELETE FROM transfers WHERE repo_id = ?', id);
  db.run('DELETE FROM redirects WHERE owner_id = ? AND lower_name = ?', to.id, lower_name);
  db.run(
    'INSERT OR REPLACE INTO redirects (owner_id, lower_name, repo_id) VALUES (?, ?, ?)',
    from.id,
    lower_name,
    id,
  );
  for (const teamId of teamIds) addTeamRepository(context, { id: teamId }, repository);
  watchRepository(context, doerId, id);
  const content = `${from.name}/${repository.name}`;
  recordActivity(context, { repositoryId: id, actorId: doerId, type: 'transfer_repo', content });
  return found(db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', id));
}

/** Returns the new owner if the caller may see it, or ends the request with 404. */
function recipientNamed({ db }: ForgeContext, name: string, caller: UserRow): UserRow {
  const missing = 'The new owner does not exist or cannot be found';
  const recipient = found(userNamed(db, name), missing);
  const isHidden = recipient.type === 'organization' && recipient.visibility === 'private';
  if (isHidden && !caller.is_admin && !isOrganizationMember(db, recipient, caller))
    throw new ForgeProblem(404, missing);
  return recipient;
}

function readTeams(
  { db }: ForgeContext,
  recipient: UserRow,
  ids: readonly number[] | undefined,
): readonly number[] {
  if (ids === undefined) return [];
  if (recipient.type !== 'organization') {
    throw new ForgeProblem(422, 'Teams can only be added to organization-owned repositories');
  }
  for (const id of ids) {
    const team = db.get<TeamRow>('SELECT * FROM teams WHERE id = ?', id);
    if (!team) throw new ForgeProblem(422, `team ${id} not found`);
    if (team.org_id !== recipient.id)
      throw new ForgeProblem(403, `team ${id} belongs not to org ${recipient.id}`);
  }
  return ids;
}

function refuseTaken(
  context: ForgeContext,
  recipient: UserRow,
  repository: RepositoryRow,
  status: number,
): void {
  if (isTaken(context, recipient, repository.name)) {
    throw new ForgeProblem(status, `repository already exists [name: ${recipient.name}/${repository.name}]`);
  }
}

type Offer = Omit<Move, 'from' | 'doerId'> & { readonly doer: UserRow };

/** Creates a pending transfer. The new owner can read the repository from then on, and must accept. */
function offer(context: ForgeContext, { repository, to, teamIds, doer }: Offer): void {
  const { db } = context;
  const now = secondsOf(context.clock());
  const owner = found(db.get<UserRow>('SELECT * FROM users WHERE id = ?', repository.owner_id));
  if (!canSee(db, to, repository, owner)) {
    db.run(
      `INSERT INTO collaborators (repo_id, user_id, permission, created_at) VALUES (?, ?, 'read', ?)`,
      repository.id,
      to.id,
      now,
    );
  }
  db.run(
    'INSERT INTO transfers (repo_id, doer_id, recipient_id, team_ids, created_at) VALUES (?, ?, ?, ?, ?)',
    repository.id,
    doer.id,
    to.id,
    JSON.stringify(teamIds),
    now,
  );
  notifyOfRepository(context, { repository, receivers: answerersOf(context, to) });
}

/**
 * Returns the accounts that may accept for the new owner: the person itself, or the accounts that may create
 * repositories in the organization.
 */
function answerersOf({ db }: ForgeContext, recipient: UserRow): readonly Pick<UserRow, 'id'>[] {
  if (recipient.type === 'user') return [recipient];
  return db.all<{ id: number }>(
    `SELECT DISTINCT m.user_id AS id FROM team_members m JOIN teams t ON t.id = m.team_id
     WHERE m.org_id = ? AND (t.can_create_org_repo = 1 OR t.permission = 'owner')`,
    recipient.id,
  );
}

/** Returns the pending transfer of a repository and its recipient, if the caller may accept or reject it. */
function answerable({ db }: ForgeContext, repository: RepositoryRow, caller: UserRow) {
  const transfer = found(
    db.get<TransferRow>('SELECT * FROM transfers WHERE repo_id = ?', repository.id),
    'repository has no pending transfer',
  );
  const recipient = found(db.get<UserRow>('SELECT * FROM users WHERE id = ?', transfer.recipient_id));
  // Site administrators cannot accept on behalf of others.
  const person = { ...caller, is_admin: 0 as const };
  const mayAnswer =
    recipient.type === 'user' ? recipient.id === caller.id : canCreateRepositoryIn(db, recipient, person);
  if (!mayAnswer) throw new ForgeProblem(403, 'permission denied');
  return { transfer, recipient };
}

/** Handlers for repository transfers. They send no webhooks, as in Gitea. */
export const transferHandlers = defineHandlers({
  transferRepository({ context, repository, owner, caller, body, reply }) {
    const { db } = context;
    const to = recipientNamed(context, body.new_owner, caller);
    const teamIds = readTeams(context, to, body.team_ids);
    const moved = db.transaction(() => {
      if (db.get('SELECT 1 AS one FROM transfers WHERE repo_id = ?', repository.id)) {
        throw new ForgeProblem(409, 'repository transfer is already in progress');
      }
      refuseTaken(context, to, repository, 422);
      if (caller.id !== to.id) requireUnblocked(db, caller, [to.id]);
      const isOurs = to.type === 'organization' && canCreateRepositoryIn(db, to, caller);
      if (caller.is_admin || caller.id === to.id || isOurs) {
        return moveRepository(context, { repository, from: owner, to, teamIds, doerId: caller.id });
      }
      offer(context, { repository, to, teamIds, doer: caller });
      return undefined;
    });
    if (!moved) reply.status(201);
    const shown = moved ? { row: moved, owner: to } : { row: repository, owner };
    return toRepository(context, shown.row, { owner: shown.owner, viewer: caller, permission: 'admin' });
  },

  acceptTransfer({ context, repository, owner, caller }) {
    const { recipient, row } = context.db.transaction(() => {
      const { transfer, recipient } = answerable(context, repository, caller);
      refuseTaken(context, recipient, repository, 409);
      // The cast is safe: `offer` writes this column. A team deleted in the meantime gets no access.
      const wanted = JSON.parse(transfer.team_ids) as number[];
      const isThere = 'SELECT 1 AS one FROM teams WHERE id = ? AND org_id = ?';
      const teamIds = wanted.filter((id) => context.db.get(isThere, id, recipient.id));
      const move = { repository, from: owner, to: recipient, teamIds, doerId: transfer.doer_id };
      return { recipient, row: moveRepository(context, move) };
    });
    const permission = permissionOf(context.db, caller, row, recipient);
    return toRepository(context, row, { owner: recipient, viewer: caller, permission });
  },

  rejectTransfer({ context, repository, owner, caller, permission }) {
    context.db.transaction(() => {
      answerable(context, repository, caller);
      context.db.run('DELETE FROM transfers WHERE repo_id = ?', repository.id);
    });
    return toRepository(context, repository, { owner, viewer: caller, permission });
  },
});
