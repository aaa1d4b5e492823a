import { toUser } from '../accounts/users-rows.ts';
import { createPayload, deletePayload, pushPayload } from '../hooks/payloads.ts';
import { closeByCommits } from '../issues/reference-closing.ts';
import { recordActivity } from '../notifications/activities-service.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { listTouchedBy } from '../platform/git/changes.ts';
import type { CommitData } from '../platform/git/commit.ts';
import { countCommits, listCommits, listOwnCommits } from '../platform/git/history.ts';
import { zeroIdLike } from '../platform/git/names.ts';
import { listRefs, type RefChange, readCommit } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { beginWork, endWork } from '../platform/journal.ts';
import type { Permission, RepositoryRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { refreshPulls } from '../pulls/refresh.ts';
import { toRepository } from '../repositories/repositories-rows.ts';
import { repositoryAddress, toPayloadCommit } from './commits-rows.ts';
import { lfsSizeOf } from './lfs-rows.ts';
import { followTag } from './tags-service.ts';

export type Pushed = {
  readonly repository: RepositoryRow;
  readonly owner: UserRow;
  readonly pusher: UserRow;
};

/** Number of ref moves whose commits are read and held in memory at a time. */
const gatheredAtOnce = 50;

/**
 * Locks the repository, runs work that moves refs, then applies the effects of the moves, regardless of their origin:
 * updates the repository's row, emits push, creation and removal events in the order of the moves, and updates the pull
 * requests of the branches. Returns the result of the work once all effects are applied.
 */
export async function withPush<T>(
  context: ForgeContext,
  pushed: Pushed,
  work: () => Promise<{ readonly result: T; readonly changes: readonly RefChange[] }>,
): Promise<T> {
  const begun = beginWork(context.db, pushed.repository.id, 'pushing');
  try {
    const { result, changes } = await context.git.exclusively(pushed.repository.id, 'refs', async () => {
      const done = await work();
      await recordPush(context, pushed, done.changes);
      return done;
    });
    // Runs after the repository lock is released: otherwise, a push to a fork could wait for the base repository while
    // the base repository waits for the fork.
    for (const { ref } of changes) {
      if (!ref.startsWith('refs/heads/')) continue;
      const branch = { repositoryId: pushed.repository.id, name: ref.slice('refs/heads/'.length) };
      await refreshPulls(context, branch, pushed.pusher);
    }
    return result;
  } finally {
    endWork(context.db, begun);
  }
}

async function recordPush(
  context: ForgeContext,
  pushed: Pushed,
  changes: readonly RefChange[],
): Promise<void> {
  const row = context.db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', pushed.repository.id);
  if (changes.length === 0 || row === undefined) return;
  const git = context.git.open(row.id);
  const repository = await refreshRepository(context, git, row, changes);
  const told = { ...pushed, repository };
  const moved = changes.filter(({ ref }) => /^refs\/(heads|tags)\//.test(ref));
  for (let from = 0; from < moved.length; from += gatheredAtOnce) {
    const part = moved.slice(from, from + gatheredAtOnce);
    const news = await gatherNews(context, git, told, part);
    for (const change of part) tellChange(context, told, change, news.get(change.ref) ?? nothing);
  }
}

function tellChange(context: ForgeContext, told: Pushed, change: RefChange, news: PushNews): void {
  context.db.transaction(() => {
    // Runs before the push event is sent, as in Gitea.
    if (change.ref.startsWith('refs/heads/')) {
      const place = { ...told, actor: told.pusher };
      closeByCommits(context, place, { branch: shortOf(change.ref).ref, commits: news.read });
    } else followTag(context.db, told.repository.id, change);
    emitChange(context, told, change, news);
  });
}

/** Updates a repository's row from its branches; returns the updated row. */
export async function refreshRepository(
  context: ForgeContext,
  git: GitRepository,
  repository: RepositoryRow,
  changes: readonly RefChange[],
): Promise<RepositoryRow> {
  const { db } = context;
  const [branches, size] = await Promise.all([
    listRefs(git, ['refs/heads']),
    context.git.measure(repository.id),
  ]);
  context.background.add(() => context.git.indexHistory(repository.id, size.objects));
  const names = branches.map(({ name }) => name.slice('refs/heads/'.length));
  const isFirst = repository.is_empty === 1 && names.length > 0;
  const fresh = changes.find(({ ref, after }) => after !== undefined && ref.startsWith('refs/heads/'));
  // The first pushed branch becomes the default, unless the configured default branch was pushed too.
  const isRenamed = isFirst && !names.includes(repository.default_branch) && fresh !== undefined;
  const defaultBranch = isRenamed ? fresh.ref.slice('refs/heads/'.length) : repository.default_branch;
  if (isRenamed) await context.git.setDefaultBranch(repository.id, defaultBranch);
  db.run(
    'UPDATE repositories SET updated_at = ?, num_branches = ?, is_empty = ?, default_branch = ?, size = ? WHERE id = ?',
    secondsOf(context.clock()),
    names.length,
    names.length === 0,
    defaultBranch,
    size.bytes + lfsSizeOf(db, repository.id),
    repository.id,
  );
  return db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', repository.id) ?? repository;
}

/**
 * Emits the events of a ref move. New branch: create, push. New tag: push, create. Removed branch: delete. Removed tag:
 * push, delete.
 */
function emitChange(context: ForgeContext, pushed: Pushed, change: RefChange, news: PushNews): void {
  const { ref, before, after } = change;
  const isTag = ref.startsWith('refs/tags/');
  const isNew = before === undefined || isTag;
  notePush(context, pushed, change, news);
  if (after !== undefined && isNew && !isTag) emitCreation(context, pushed, ref, after);
  if (after !== undefined || isTag) emitPush(context, pushed, change, news);
  if (after !== undefined && isTag) emitCreation(context, pushed, ref, after);
  if (after === undefined) emitRemoval(context, pushed, ref);
}

function toActivityCommit({ id, message, author, committer, timestamp }: PushedCommit) {
  return {
    Sha1: id,
    Message: message,
    AuthorEmail: author.email,
    AuthorName: author.name,
    CommitterEmail: committer.email,
    CommitterName: committer.name,
    Timestamp: timestamp,
  };
}

/**
 * Records the activities of a ref move: for a new branch, its creation and the push; for a tag or a deleted branch,
 * only one activity.
 */
function notePush(context: ForgeContext, pushed: Pushed, change: RefChange, news: PushNews): void {
  const { ref, before, after } = change;
  const isTag = ref.startsWith('refs/tags/');
  const told = { repositoryId: pushed.repository.id, actorId: pushed.pusher.id, ref };
  if (!isTag && after === undefined) {
    recordActivity(context, { ...told, type: 'delete_branch' });
    return;
  }
  if (!isTag && before === undefined) recordActivity(context, { ...told, type: 'commit_repo' });
  const pushedType = after === undefined ? 'delete_tag' : 'push_tag';
  const content = JSON.stringify({
    Commits: news.commits.map(toActivityCommit),
    HeadCommit: news.head && toActivityCommit(news.head),
    CompareURL: news.comparison,
    Len: news.total,
  });
  recordActivity(context, { ...told, type: isTag ? pushedType : 'commit_repo', content });
}

function emitPush(context: ForgeContext, pushed: Pushed, change: RefChange, news: PushNews): void {
  const { ref, before, after } = change;
  const zero = zeroIdLike(before ?? after ?? '');
  const isNewTag = ref.startsWith('refs/tags/') && after !== undefined;
  emitRef(context, pushed, { type: 'push', ref, permission: 'owner' }, (surroundings) =>
    pushPayload({
      ...surroundings,
      ref,
      before: isNewTag ? zero : (before ?? zero),
      after: after ?? zero,
      compareUrl: `${context.rootUrl()}/${news.comparison}`,
      commits: news.commits,
      totalCommits: news.total,
      headCommit: news.head,
    }),
  );
}

function emitCreation(context: ForgeContext, pushed: Pushed, ref: string, sha: string): void {
  emitRef(context, pushed, { type: 'create', ref, permission: 'none' }, (surroundings) =>
    createPayload({ ...surroundings, ...shortOf(ref), sha }),
  );
}

function emitRemoval(context: ForgeContext, pushed: Pushed, ref: string): void {
  emitRef(context, pushed, { type: 'delete', ref, permission: 'owner' }, (surroundings) =>
    deletePayload({ ...surroundings, ...shortOf(ref) }),
  );
}

/** Emits the rename of a branch as its deletion and its creation, without a push. */
export function emitRename(
  context: ForgeContext,
  pushed: Pushed,
  { from, to, sha }: { from: string; to: string; sha: string },
): void {
  emitRemoval(context, pushed, `refs/heads/${from}`);
  emitCreation(context, pushed, `refs/heads/${to}`, sha);
}

function emitRef(
  context: ForgeContext,
  { repository, owner, pusher }: Pushed,
  { type, ref, permission }: { type: string; ref: string; permission: Permission },
  build: (surroundings: { repository: object; sender: object }) => object,
): void {
  const payload = () =>
    build({
      repository: toRepository(context, repository, { owner, viewer: undefined, permission }),
      sender: toUser(context, pusher, undefined),
    });
  context.emit({ type, repository, owner, ref, payload });
}

/** Maximum number of commits included in a push event; further commits are only counted. */
const maxCommits = 5;
/**
 * Maximum number of commits read for a new branch, which has no previous commit to count from; same limit as in Gitea.
 */
const maxOfNewBranch = 10;
/** Maximum number of commit messages of a push that are searched for closing references. */
const maxRead = 1000;

type PushedCommit = {
  readonly id: string;
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly committer: { readonly name: string; readonly email: string };
  readonly timestamp: string;
};

/** Data of a push event for one ref move. */
type PushNews = {
  readonly commits: readonly PushedCommit[];
  /** Commits whose messages are read, newest first. */
  readonly read: readonly CommitData[];
  readonly total: number;
  readonly head: PushedCommit | null;
  /** Path of the comparison under ROOT_URL; empty if there is nothing to compare with. */
  readonly comparison: string;
};

const nothing: PushNews = { commits: [], read: [], total: 0, head: null, comparison: '' };

/** A ref move other than a deletion, with the commits that the move adds. */
type ReadMove = RefChange & {
  readonly after: string;
  readonly head: CommitData;
  readonly commits: readonly CommitData[];
};

type Home = Pick<RepositoryTarget, 'repository' | 'owner'>;

/** Returns the push data of branch and tag moves, by ref name. New branches share git processes. */
async function gatherNews(
  context: ForgeContext,
  git: GitRepository,
  home: Home,
  changes: readonly RefChange[],
): Promise<ReadonlyMap<string, PushNews>> {
  const moves = await readMoves(git, changes);
  const shown = moves.flatMap(({ head, commits }) => [head, ...commits.slice(0, maxCommits)]);
  const touched = await listTouchedBy(
    git,
    shown.map(({ id }) => id),
  );
  const address = repositoryAddress(context.rootUrl(), home.owner.name, home.repository.name);
  const told = (commit: CommitData): PushedCommit =>
    toPayloadCommit(context.db, address, commit, touched.get(commit.id));
  const news = await Promise.all(
    moves.map(async (move) => [move.ref, await toNews(git, home, move, told)] as const),
  );
  return new Map(news);
}

async function readMoves(git: GitRepository, changes: readonly RefChange[]): Promise<readonly ReadMove[]> {
  const isNewBranch = ({ ref, before, after }: RefChange): boolean =>
    ref.startsWith('refs/heads/') && before === undefined && after !== undefined;
  const fresh = changes.filter(isNewBranch).map(({ ref, after = '' }) => ({ name: ref, id: after }));
  const own = fresh.length === 0 ? undefined : await listOwnCommits(git, fresh, maxOfNewBranch);
  const moves: ReadMove[] = [];
  for (const { ref, before, after } of changes) {
    const head = after === undefined ? undefined : await readCommit(git, `${after}^{commit}`);
    if (after === undefined || head === undefined) continue;
    const isMoved = ref.startsWith('refs/heads/') && before !== undefined;
    const commits = isMoved
      ? await listCommits(git, { from: before, to: after }, { limit: maxRead })
      : (own?.get(ref) ?? []);
    moves.push({ ref, before, after, head, commits });
  }
  return moves;
}

async function toNews(
  git: GitRepository,
  { repository, owner }: Home,
  { ref, before, after, head, commits }: ReadMove,
  told: (commit: CommitData) => PushedCommit,
): Promise<PushNews> {
  const path = `${owner.name}/${repository.name}/compare`;
  if (ref.startsWith('refs/tags/')) {
    return { ...nothing, head: told(head), comparison: `${path}/${zeroIdLike(after)}...${after}` };
  }
  const isCut = commits.length === maxRead;
  // The commit before a new branch: the parent of the oldest included commit, or the default branch.
  const origin = before ?? commits.at(-1)?.parents[0] ?? originOf(repository, ref);
  return {
    commits: commits.slice(0, maxCommits).map(told),
    read: commits,
    total: isCut ? await countCommits(git, { from: before, to: after }) : commits.length,
    head: told(head),
    comparison: origin === undefined ? '' : `${path}/${origin}...${after}`,
  };
}

function originOf(repository: RepositoryRow, ref: string): string | undefined {
  return ref === `refs/heads/${repository.default_branch}` ? undefined : repository.default_branch;
}

function shortOf(ref: string): { ref: string; refType: 'branch' | 'tag' } {
  const refType = ref.startsWith('refs/tags/') ? 'tag' : 'branch';
  return { ref: ref.replace(/^refs\/(heads|tags)\//, ''), refType };
}
