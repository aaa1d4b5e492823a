import { randomBytes } from 'node:crypto';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { refreshRepository } from '../code/pushes.ts';
import { isOrganizationOwner } from '../platform/access/permissions.ts';
import { userNamed } from '../platform/access/redirects.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { listRefs } from '../platform/git/refs.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { RepositoryRow, UserRow } from '../platform/rows.ts';
import { formatGoDuration, parseGoDuration, secondsOf, toInstant } from '../platform/time.ts';
import {
  minIntervalSeconds,
  type PushMirrorRow,
  queueMirror,
  storeMirror,
  syncPushMirror,
} from './mirrors-service.ts';
import {
  fetchRemote,
  parseRemote,
  type Remote,
  RemoteAddressError,
  readRemoteHead,
  resolveRemote,
} from './remote-git.ts';
import { toRepository } from './repositories-rows.ts';
import { createRepository } from './repositories-service.ts';

/** Maximum push mirrors per repository, because each push is repeated for every mirror. */
const maxPushMirrors = 20;

function toPushMirror({ name }: RepositoryRow, row: PushMirrorRow) {
  return {
    repo_name: name,
    remote_name: row.remote_name,
    remote_address: row.address,
    created: toInstant(row.created_at),
    last_update: toInstant(row.synced_at),
    last_error: row.last_error,
    interval: formatGoDuration(row.interval),
    sync_on_commit: row.sync_on_commit === 1,
  };
}

function readInterval(text: string): number {
  const interval = parseGoDuration(text);
  if (interval === undefined) throw new ForgeProblem(400, 'invalid interval');
  if (interval !== 0 && interval < minIntervalSeconds)
    throw new ForgeProblem(400, `interval is shorter than minimum ${formatGoDuration(minIntervalSeconds)}`);
  return interval;
}

/** Response for each reason to refuse a remote. */
type Refusals = Readonly<Record<RemoteAddressError['mistake'], readonly [status: number, message: string]>>;

const pushRefusals: Refusals = {
  url: [400, 'Invalid Url '],
  protocol: [400, 'Invalid mirror protocol'],
  local: [401, 'Permission denied'],
  host: [401, 'Permission denied'],
};

const migrationRefusals: Refusals = {
  url: [422, 'The provided URL is invalid.'],
  protocol: [422, 'The provided URL is invalid.'],
  local: [422, 'You are not allowed to import local repositories.'],
  host: [422, 'You can not import from disallowed hosts.'],
};

async function readRemote(context: ForgeContext, wanted: Remote, refusals: Refusals): Promise<Remote> {
  try {
    const remote = parseRemote(wanted.address, wanted.username, wanted.password);
    await resolveRemote(context, remote);
    return remote;
  } catch (error) {
    if (error instanceof RemoteAddressError) throw new ForgeProblem(...refusals[error.mistake]);
    throw error;
  }
}

/** Handlers for push mirrors. Passwords are never returned. */
export const pushMirrorHandlers = defineHandlers({
  listPushMirrors({ context, repository, page, reply }) {
    const { db } = context;
    const count = 'SELECT count(*) AS count FROM push_mirrors WHERE repo_id = ?';
    reply.total(db.get<{ count: number }>(count, repository.id)?.count ?? 0);
    const sql = 'SELECT * FROM push_mirrors WHERE repo_id = ? ORDER BY id LIMIT ? OFFSET ?';
    const rows = db.all<PushMirrorRow>(sql, repository.id, page.limit, page.offset);
    return rows.map((row) => toPushMirror(repository, row));
  },

  getPushMirror({ context, repository, params }) {
    const sql = 'SELECT * FROM push_mirrors WHERE repo_id = ? AND remote_name = ?';
    return toPushMirror(repository, found(context.db.get<PushMirrorRow>(sql, repository.id, params.name)));
  },

  async createPushMirror({ context, repository, body }) {
    const interval = readInterval(body.interval ?? '');
    const login = { username: body.remote_username ?? '', password: body.remote_password ?? '' };
    const remote = await readRemote(context, { address: body.remote_address ?? '', ...login }, pushRefusals);
    const { db } = context;
    const now = secondsOf(context.clock());
    const count = 'SELECT count(*) AS count FROM push_mirrors WHERE repo_id = ?';
    if ((db.get<{ count: number }>(count, repository.id)?.count ?? 0) >= maxPushMirrors)
      throw new ForgeProblem(400, `a repository has at most ${maxPushMirrors} push mirrors`);
    const { lastId } = db.run(
      `INSERT INTO push_mirrors (repo_id, remote_name, address, username, password, interval, sync_on_commit, next_at,
         created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      repository.id,
      `remote_mirror_${randomBytes(5).toString('hex')}`,
      remote.address,
      remote.username,
      remote.password,
      interval,
      body.sync_on_commit ?? false,
      interval > 0 ? now : 0,
      now,
    );
    const row = found(db.get<PushMirrorRow>('SELECT * FROM push_mirrors WHERE id = ?', lastId));
    return toPushMirror(repository, row);
  },

  deletePushMirror({ context, repository, params }) {
    const sql = 'DELETE FROM push_mirrors WHERE repo_id = ? AND remote_name = ?';
    context.db.run(sql, repository.id, params.name);
    return undefined;
  },

  async syncPushMirrors({ context, repository }) {
    const sql = 'SELECT id, remote_name FROM push_mirrors WHERE repo_id = ? ORDER BY id';
    const failed: string[] = [];
    for (const row of context.db.all<PushMirrorRow>(sql, repository.id))
      if (!(await syncPushMirror(context, row.id))) failed.push(row.remote_name);
    if (failed.length > 0)
      throw new ForgeProblem(422, `error occurred when syncing push mirrors: ${failed.join(', ')}`);
    return undefined;
  },
});

const defaultIntervalSeconds = 8 * 3600;

type MigrationCall = { readonly context: ForgeContext; readonly caller: UserRow };

function findHolder({ context, caller }: MigrationCall, name: string, id: number): UserRow {
  const { db } = context;
  const holder = name
    ? userNamed(db, name)
    : id
      ? db.get<UserRow>('SELECT * FROM users WHERE id = ? AND id > 0', id)
      : caller;
  if (!holder) throw new ForgeProblem(422, `user does not exist [uid: ${id}, name: ${name}]`);
  if (caller.is_admin || holder.id === caller.id) return holder;
  if (holder.type !== 'organization') throw new ForgeProblem(403, 'Given user is not an organization.');
  if (isOrganizationOwner(db, holder, caller)) return holder;
  throw new ForgeProblem(403, 'Given user is not owner of organization.');
}

/** Parses a mirror interval. Ends the request with 422 if it is invalid or too short, where Gitea responds with 500. */
function readMirrorInterval(text: string): number {
  const interval = text === '' ? defaultIntervalSeconds : parseGoDuration(text);
  if (interval === undefined || (interval !== 0 && interval < minIntervalSeconds))
    throw new ForgeProblem(
      422,
      `interval ${text} is set below Minimum Interval of ${formatGoDuration(minIntervalSeconds)}`,
    );
  return interval;
}

/** Fills a new repository from a remote, whose HEAD determines the default branch. */
async function fillFrom(context: ForgeContext, repository: RepositoryRow, remote: Remote): Promise<void> {
  const git = context.git.open(repository.id);
  const place = { context, git, remote };
  try {
    await fetchRemote(place);
    const head = await readRemoteHead(place);
    const branches = await listRefs(git, ['refs/heads']);
    const names = branches.map(({ name }) => name.slice('refs/heads/'.length));
    const branch = names.find((name) => name === head) ?? names[0];
    if (branch !== undefined) await context.git.setDefaultBranch(repository.id, branch);
    context.db.run(
      'UPDATE repositories SET default_branch = ?, original_url = ? WHERE id = ?',
      branch ?? repository.default_branch,
      remote.address,
      repository.id,
    );
    await refreshRepository(
      context,
      git,
      { ...repository, default_branch: branch ?? repository.default_branch },
      [],
    );
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    const isLogin = /Authentication failed|could not read Username/.test(error.message);
    throw new ForgeProblem(422, `${isLogin ? 'Authentication' : 'Migration'} failed: ${messageOf(error)}`);
  }
}

/** Handlers for migrations: repositories copied from another server, once or periodically. */
export const migrateHandlers = defineHandlers({
  async migrateRepository({ context, caller, body }) {
    const holder = findHolder({ context, caller }, body.repo_owner ?? '', body.uid ?? 0);
    const login = { username: body.auth_username ?? '', password: body.auth_password ?? '' };
    const remote = await readRemote(context, { address: body.clone_addr, ...login }, migrationRefusals);
    if (body.service && body.service !== 'git')
      throw new ForgeProblem(422, `the service ${body.service} is not supported: use git`);
    const interval = body.mirror ? readMirrorInterval(body.mirror_interval ?? '') : 0;
    const wanted = { name: body.repo_name, description: body.description, private: body.private };
    const { id } = await createRepository(context, holder, caller, wanted, async (repository) => {
      await fillFrom(context, repository, remote);
      if (body.mirror) context.db.transaction(() => storeMirror(context, repository.id, remote, interval));
    });
    const made = context.db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', id);
    if (!made) throw new ForgeProblem(404, 'the repository was removed meanwhile');
    return toRepository(context, made, { owner: holder, viewer: caller, permission: 'admin' });
  },
});

/** Handlers for mirrors of other repositories. */
export const mirrorHandlers = defineHandlers({
  syncMirror({ context, repository }) {
    if (repository.is_mirror === 0) throw new ForgeProblem(400, 'Repository is not a mirror');
    queueMirror(context, repository.id);
    return undefined;
  },
});
