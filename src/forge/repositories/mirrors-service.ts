import { messageOf } from '../../platform/errors.ts';
import { withPush } from '../code/pushes.ts';
import type { ForgeContext } from '../platform/context.ts';
import { listRefs, type RefChange } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import type { RepositoryRow, Seconds, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { fetchRemote, pushToRemote, type Remote } from './remote-git.ts';

/** A remote to which a repository is pushed. */
export type PushMirrorRow = {
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
  /** Time of the next automatic push; 0 for never. */
  readonly next_at: Seconds;
  readonly created_at: Seconds;
};

/** Shortest interval between two synchronizations. */
export const minIntervalSeconds = 600;

/** Pushes a repository to one remote and stores the time and any error. Returns whether it succeeded. */
export async function syncPushMirror(context: ForgeContext, id: number): Promise<boolean> {
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

/** Schedules a push to one remote. */
function queuePushMirror(context: ForgeContext, id: number): void {
  context.syncs.add(`push mirror ${id}`, async () => {
    await syncPushMirror(context, id);
  });
}

/** Schedules pushes to the remotes that are updated after every push to a repository. */
export function followPush(context: ForgeContext, repositoryId: number): void {
  const sql = 'SELECT id FROM push_mirrors WHERE repo_id = ? AND sync_on_commit = 1';
  for (const { id } of context.db.all<{ id: number }>(sql, repositoryId)) queuePushMirror(context, id);
}

/** The remote that a repository mirrors. */
type MirrorRow = {
  readonly repo_id: number;
  readonly address: string;
  readonly username: string;
  readonly password: string;
  /** Time of the next automatic synchronization; 0 for never. */
  readonly next_at: Seconds;
};

/** Makes a repository a mirror of a remote. With an interval of 0, it is synchronized only on demand. */
export function storeMirror(
  { db, clock }: ForgeContext,
  repositoryId: number,
  remote: Remote,
  intervalSeconds: number,
): void {
  const now = secondsOf(clock());
  db.run(
    'INSERT INTO mirrors (repo_id, address, username, password, next_at) VALUES (?, ?, ?, ?, ?)',
    repositoryId,
    remote.address,
    remote.username,
    remote.password,
    intervalSeconds > 0 ? now + intervalSeconds : 0,
  );
  db.run(
    'UPDATE repositories SET is_mirror = 1, mirror_interval = ?, mirror_synced_at = ? WHERE id = ?',
    intervalSeconds,
    now,
    repositoryId,
  );
}

/** Fetches from a remote and returns the moved branches and tags. */
async function fetchChanges(context: ForgeContext, git: GitRepository, remote: Remote): Promise<RefChange[]> {
  const read = async () => {
    const refs = await listRefs(git, ['refs/heads', 'refs/tags']);
    return new Map(refs.map(({ name, id }) => [name, id]));
  };
  const before = await read();
  await fetchRemote({ context, git, remote });
  const after = await read();
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((ref) => before.get(ref) !== after.get(ref))
    .map((ref) => ({ ref, before: before.get(ref), after: after.get(ref) }));
}

/** Synchronizes a mirror, and sends webhooks for the changes as if the repository's owner had pushed them. */
export async function syncMirror(context: ForgeContext, repositoryId: number): Promise<void> {
  const { db } = context;
  const row = db.get<MirrorRow>('SELECT * FROM mirrors WHERE repo_id = ?', repositoryId);
  const repository = db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', repositoryId);
  const owner = repository && db.get<UserRow>('SELECT * FROM users WHERE id = ?', repository.owner_id);
  if (!row || !owner) return;
  // The next time is stored before the attempt, so that a failed attempt is repeated after the interval, not at once.
  const now = secondsOf(context.clock());
  const next = repository.mirror_interval > 0 ? now + repository.mirror_interval : 0;
  db.run('UPDATE mirrors SET next_at = ? WHERE repo_id = ?', next, repositoryId);
  const git = context.git.open(repositoryId);
  await withPush(context, { repository, owner, pusher: owner }, async () => ({
    result: undefined,
    changes: await fetchChanges(context, git, row),
  }));
  const synced = secondsOf(context.clock());
  db.run('UPDATE repositories SET mirror_synced_at = ? WHERE id = ?', synced, repositoryId);
}

/** Schedules the synchronization of a mirror. */
export function queueMirror(context: ForgeContext, repositoryId: number): void {
  context.syncs.add(`mirror ${repositoryId}`, () => syncMirror(context, repositoryId));
}

/** Queues every mirror that is due. */
export function queueDueMirrors(context: ForgeContext): void {
  const { db, clock } = context;
  const now = secondsOf(clock());
  const due = 'next_at > 0 AND next_at <= ?';
  for (const { repo_id } of db.all<{ repo_id: number }>(`SELECT repo_id FROM mirrors WHERE ${due}`, now))
    queueMirror(context, repo_id);
  for (const { id } of db.all<{ id: number }>(`SELECT id FROM push_mirrors WHERE ${due}`, now))
    queuePushMirror(context, id);
}

const tickMs = 30_000;

/** Starts the periodic check for mirrors that are due. Returns a function that stops it. */
export function startMirrorSchedule(context: ForgeContext): () => void {
  const timer = setInterval(() => queueDueMirrors(context), tickMs);
  timer.unref();
  return () => clearInterval(timer);
}
