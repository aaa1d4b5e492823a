import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import type { RepositoryRow } from '../core/rows.ts';
import { listTouchedBy } from '../git/changes.ts';
import type { CommitData } from '../git/commit.ts';
import { countCommits, listCommits, listOwnCommits } from '../git/history.ts';
import { zeroIdLike } from '../git/names.ts';
import { type RefChange, readCommit } from '../git/refs.ts';
import type { GitRepository } from '../git/repository.ts';
import { repositoryAddress, toPayloadCommit } from '../views/commit.ts';

/** Commits that a push tells of; more are only counted. */
const maxCommits = 5;
/** A new branch has no commit before it to count from: the baseline looks back this far. */
const maxOfNewBranch = 10;
/** Messages of a push that are read for what they close. */
const maxRead = 1000;

export type PushedCommit = {
  readonly id: string;
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly committer: { readonly name: string; readonly email: string };
  readonly timestamp: string;
};

/** What a push tells of one move. */
export type PushNews = {
  readonly commits: readonly PushedCommit[];
  /** Those whose messages are read, newest first. */
  readonly read: readonly CommitData[];
  readonly total: number;
  readonly head: PushedCommit | null;
  /** Path of the comparison below ROOT_URL; empty where there is nothing to compare with. */
  readonly comparison: string;
};

export const nothing: PushNews = { commits: [], read: [], total: 0, head: null, comparison: '' };

/** A move that leaves a commit behind, and the commits that come with it. */
type ReadMove = RefChange & {
  readonly after: string;
  readonly head: CommitData;
  readonly commits: readonly CommitData[];
};

type Home = Pick<RepositoryTarget, 'repository' | 'owner'>;

/** Returns what moves of branches and tags tell, by the names of the refs. New branches share their processes of git. */
export async function gatherNews(
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
  // What came before a new branch: the parent of the oldest commit told, else the default branch.
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

export function shortOf(ref: string): { ref: string; refType: 'branch' | 'tag' } {
  const refType = ref.startsWith('refs/tags/') ? 'tag' : 'branch';
  return { ref: ref.replace(/^refs\/(heads|tags)\//, ''), refType };
}
