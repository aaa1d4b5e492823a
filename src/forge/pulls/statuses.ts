import { operations } from '../../contract/operations.ts';
import { asWritten } from '../../contract/written-texts.ts';
import { loadUsers, toUser } from '../accounts/users-rows.ts';
import { repositoryAddress, toPayloadCommit } from '../code/commits-rows.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { found } from '../platform/errors.ts';
import { listTouched } from '../platform/git/changes.ts';
import { resolveRef } from '../platform/git/refs.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import type { UserRow } from '../platform/rows.ts';
import { secondsOf, toInstant } from '../platform/time.ts';
import { toRepository } from '../repositories/repositories-rows.ts';
import { combineStates, latestStatuses, type StatusRow } from './statuses-service.ts';

type StatusTarget = RepositoryTarget & { readonly context: ForgeContext };

const orders: Readonly<Record<string, string>> = {
  oldest: 'created_at, number',
  recentupdate: 'created_at DESC, number DESC',
  leastupdate: 'created_at, number',
  // The two names are swapped, as in Gitea.
  leastindex: 'number DESC',
  highestindex: 'number',
};
const knownStates = ['pending', 'success', 'error', 'failure', 'warning'];

/** Handlers for commit statuses. */
export const statusHandlers = defineHandlers({
  async createStatus(call) {
    const { context, repository, caller, params, body } = call;
    const git = context.git.open(repository.id);
    // Gitea responds with 500 for an unknown commit.
    const { commit } = found(await resolveRef(git, params.sha), `commit does not exist [sha: ${params.sha}]`);
    const touched = await listTouched(git, commit.id);
    return context.db.transaction(() => {
      const row = insertStatus(call, commit.id, body);
      const { html, api } = repositoryAddress(context.rootUrl(), call.owner.name, repository.name);
      const told = toPayloadCommit(context.db, { html, api }, commit, touched);
      emitStatus(call, row, { sender: caller, commit: told });
      return toStatus(call, row, caller);
    });
  },

  listStatuses(call) {
    return listRows(call, call.params.sha, call);
  },

  async listStatusesByRef(call) {
    return listRows(call, await commitOf(call, call.params.ref), call);
  },

  async getCombinedStatus(call) {
    const { context, repository, owner, caller, page, reply } = call;
    const sha = await commitOf(call, call.params.ref);
    const count = `SELECT count(DISTINCT context) AS count FROM commit_statuses WHERE repo_id = ? AND sha = ?`;
    reply.total(context.db.get<{ count: number }>(count, repository.id, sha)?.count ?? 0);
    const rows = latestStatuses(context.db, repository.id, sha, page);
    const { api } = repositoryAddress(context.rootUrl(), owner.name, repository.name);
    return {
      state: combineStates(rows.map(({ state }) => state)),
      sha,
      total_count: rows.length,
      statuses: rows.length === 0 ? null : toStatuses(call, rows),
      repository: toRepository(context, repository, { owner, viewer: caller }),
      commit_url: `${api}/commits/${sha}`,
      url: `${api}/commits/${sha}/status`,
    };
  },
});

async function commitOf({ context, repository }: StatusTarget, ref: string): Promise<string> {
  const resolved = await resolveRef(context.git.open(repository.id), ref);
  return found(resolved, `object does not exist [id: ${ref}]`).commit.id;
}

type NewStatus = {
  readonly state?: string | undefined;
  readonly target_url?: string | undefined;
  readonly description?: string | undefined;
  readonly context?: string | undefined;
};

function insertStatus(
  { context: { db, clock }, repository, caller }: StatusTarget & { readonly caller: UserRow },
  sha: string,
  report: NewStatus,
): StatusRow {
  const { lastId } = db.run(
    `INSERT INTO commit_statuses (repo_id, sha, number, state, target_url, description, context, creator_id, created_at)
     VALUES (?1, ?2, 1 + (SELECT coalesce(max(number), 0) FROM commit_statuses WHERE repo_id = ?1 AND sha = ?2),
       ?3, ?4, ?5, ?6, ?7, ?8)`,
    repository.id,
    sha,
    report.state ?? '',
    asWritten(operations.createStatus, 'target_url', report.target_url ?? ''),
    asWritten(operations.createStatus, 'description', report.description ?? ''),
    asWritten(operations.createStatus, 'context', report.context ?? ''),
    caller.id,
    secondsOf(clock()),
  );
  return found(db.get<StatusRow>('SELECT * FROM commit_statuses WHERE id = ?', lastId));
}

function emitStatus(
  { context, repository, owner }: StatusTarget,
  row: StatusRow,
  { sender, commit }: { sender: UserRow; commit: object },
): void {
  context.emit({
    type: 'status',
    repository,
    owner,
    payload: () => ({
      commit,
      context: row.context,
      created_at: toInstant(row.created_at),
      description: row.description,
      // The row id, unlike the API's id, which is a number within the commit.
      id: row.id,
      repository: toRepository(context, repository, { owner, viewer: undefined, permission: 'owner' }),
      sender: toUser(context, sender, undefined),
      sha: row.sha,
      state: row.state,
      target_url: absolute(context, row.target_url),
      updated_at: toInstant(row.created_at),
    }),
  });
}

function absolute(context: ForgeContext, url: string): string {
  return /^https?:\/\//i.test(url) ? url : `${context.rootUrl()}/${url.replace(/^\/+/, '')}`;
}

function listRows(
  place: StatusTarget,
  sha: string,
  {
    query,
    page,
    reply,
  }: {
    query: { sort?: string | undefined; state?: string | undefined };
    page: PageRange;
    reply: { total(count: number): void };
  },
) {
  const { context, repository } = place;
  const state = (query.state ?? '').trim();
  const where = `FROM commit_statuses WHERE repo_id = ?1 AND sha = ?2 ${knownStates.includes(state) ? 'AND state = ?3' : 'AND ?3 IS NOT NULL'}`;
  const values = [repository.id, sha, state];
  reply.total(context.db.get<{ count: number }>(`SELECT count(*) AS count ${where}`, ...values)?.count ?? 0);
  const sort = (query.sort ?? '').trim();
  const order = (Object.hasOwn(orders, sort) ? orders[sort] : undefined) ?? 'created_at DESC, number DESC';
  const rows = context.db.all<StatusRow>(
    `SELECT * ${where} ORDER BY ${order} LIMIT ?4 OFFSET ?5`,
    ...values,
    page.limit,
    page.offset,
  );
  return toStatuses(place, rows);
}

function toStatuses(place: StatusTarget, rows: readonly StatusRow[]) {
  const creators = loadUsers(
    place.context,
    rows.map((row) => row.creator_id),
  );
  return rows.map((row) => toStatus(place, row, creators.get(row.creator_id)));
}

function toStatus(
  { context, repository, owner }: StatusTarget,
  row: StatusRow,
  creator: UserRow | undefined,
) {
  const { api } = repositoryAddress(context.rootUrl(), owner.name, repository.name);
  return {
    id: row.number,
    status: row.state,
    target_url: row.target_url,
    description: row.description,
    url: `${api}/statuses/${row.sha}`,
    context: row.context,
    creator: creator ? toUser(context, creator, undefined) : null,
    created_at: toInstant(row.created_at),
    updated_at: toInstant(row.created_at),
  };
}
