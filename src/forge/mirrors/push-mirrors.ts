import { randomBytes } from 'node:crypto';
import { messageOf } from '../../platform/errors.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { RepositoryRow, Seconds } from '../core/rows.ts';
import { formatGoDuration, parseGoDuration, secondsOf, toInstant } from '../core/time.ts';
import { defineHandlers } from '../http/handler.ts';
import { parseRemote, type Remote, RemoteAddressError, resolveRemote } from './remote-address.ts';
import { pushToRemote } from './remote-git.ts';

/** An address that a repository is pushed to. */
type PushMirrorRow = {
  readonly id: number;
  readonly repo_id: number;
  readonly remote_name: string;
  readonly address: string;
  readonly username: string;
  readonly password: string;
  readonly interval: number;
  readonly sync_on_commit: number;
  readonly last_error: string;
  readonly synced_at: Seconds;
  /** 0: never by itself. */
  readonly next_at: Seconds;
  readonly created_at: Seconds;
};

/** Shortest interval between two synchronizations. */
export const minIntervalSeconds = 600;
/** More addresses for one repository are refused: each push to it would be that many pushes. */
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

async function readRemote(
  context: ForgeContext,
  address: string,
  login: Omit<Remote, 'address'>,
): Promise<Remote> {
  try {
    const remote = parseRemote(address, login.username, login.password);
    await resolveRemote(context, remote);
    return remote;
  } catch (error) {
    if (!(error instanceof RemoteAddressError)) throw error;
    if (error.mistake === 'url') throw new ForgeProblem(400, 'Invalid Url ');
    if (error.mistake === 'protocol') throw new ForgeProblem(400, 'Invalid mirror protocol');
    throw new ForgeProblem(401, 'Permission denied');
  }
}

/** Pushes a repository to one address; returns whether it arrived, and stores when and why not. */
async function syncPushMirror(context: ForgeContext, id: number): Promise<boolean> {
  const { db } = context;
  const row = db.get<PushMirrorRow>('SELECT * FROM push_mirrors WHERE id = ?', id);
  if (!row) return false;
  let lastError = '';
  try {
    await pushToRemote({ context, git: context.git.open(row.repo_id), remote: row });
  } catch (error) {
    lastError = messageOf(error).slice(0, 1000);
  }
  const now = secondsOf(context.clock());
  db.run(
    'UPDATE push_mirrors SET last_error = ?, synced_at = ?, next_at = ? WHERE id = ?',
    lastError,
    now,
    row.interval > 0 ? now + row.interval : 0,
    id,
  );
  return lastError === '';
}

/** Pushes to one address soon. */
export function queuePushMirror(context: ForgeContext, id: number): void {
  context.syncs.add(`push mirror ${id}`, async () => {
    await syncPushMirror(context, id);
  });
}

/** Pushes soon to the addresses that follow every push to a repository. */
export function followPush(context: ForgeContext, repositoryId: number): void {
  const sql = 'SELECT id FROM push_mirrors WHERE repo_id = ? AND sync_on_commit = 1';
  for (const { id } of context.db.all<{ id: number }>(sql, repositoryId)) queuePushMirror(context, id);
}

/** Handlers for the addresses that a repository is pushed to. Passwords are never answered. */
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
    const remote = await readRemote(context, body.remote_address ?? '', login);
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
