import { withPush } from '../code/pushes.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem } from '../core/errors.ts';
import type { RepositoryRow, Seconds, UserRow } from '../core/rows.ts';
import { secondsOf } from '../core/time.ts';
import { listRefs, type RefChange } from '../git/refs.ts';
import type { GitRepository } from '../git/repository.ts';
import { defineHandlers } from '../http/handler.ts';
import { queuePushMirror } from './push-mirrors.ts';
import type { Remote } from './remote-address.ts';
import { fetchRemote } from './remote-git.ts';

/** What a repository follows. */
type MirrorRow = {
  readonly repo_id: number;
  readonly address: string;
  readonly username: string;
  readonly password: string;
  /** 0: never by itself. */
  readonly next_at: Seconds;
};

/** Makes a repository a mirror of a remote, from now on. Interval 0: it is synchronized on demand alone. */
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

/** Fetches, and returns how branches and tags moved. */
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

/** Brings a mirror up to date, and tells hooks of what moved as of a push of its owner. */
async function syncMirror(context: ForgeContext, repositoryId: number): Promise<void> {
  const { db } = context;
  const row = db.get<MirrorRow>('SELECT * FROM mirrors WHERE repo_id = ?', repositoryId);
  const repository = db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', repositoryId);
  const owner = repository && db.get<UserRow>('SELECT * FROM users WHERE id = ?', repository.owner_id);
  if (!row || !owner) return;
  // Before the attempt: one that fails is repeated after the interval, not at once.
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

/** Synchronizes a mirror soon. */
function queueMirror(context: ForgeContext, repositoryId: number): void {
  context.syncs.add(`mirror ${repositoryId}`, () => syncMirror(context, repositoryId));
}

/** Handlers for mirrors of other repositories. */
export const mirrorHandlers = defineHandlers({
  syncMirror({ context, repository }) {
    if (repository.is_mirror === 0) throw new ForgeProblem(400, 'Repository is not a mirror');
    queueMirror(context, repository.id);
    return undefined;
  },
});

/** Queues every mirror whose time has come. */
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

/** Looks for due mirrors from now on; returns what ends it. */
export function startMirrorSchedule(context: ForgeContext): () => void {
  const timer = setInterval(() => queueDueMirrors(context), tickMs);
  timer.unref();
  return () => clearInterval(timer);
}
