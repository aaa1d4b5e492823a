import { existsSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { BoundedMap } from '../../../platform/cache/bounded-map.ts';
import { type CommitData, parseCommit } from './commit.ts';
import { isIdPrefix, isObjectId } from './names.ts';
import { listRefs, type Ref, readCommit } from './refs.ts';
import type { GitRepository } from './repository.ts';

/** A commit range: reachable from `to` but not from `from`. */
type Stretch = { readonly from?: string | undefined; readonly to: string };

function argumentsOf({ from, to }: Stretch): string[] {
  const ids = from === undefined ? [to] : [to, `^${from}`];
  for (const id of ids) {
    if (!isIdPrefix(id.replace(/^\^/, ''))) throw new TypeError(`"${id}" is not a commit id`);
  }
  return ids;
}

/** Returns the number of commits in a range. */
export async function countCommits(repository: GitRepository, stretch: Stretch): Promise<number> {
  const { stdout } = await repository.git.run(['rev-list', '--count', ...argumentsOf(stretch), '--'], {
    folder: repository.folder,
  });
  return Number(stdout.toString('latin1').trim());
}

/**
 * Returns the ids of commits that are reachable from `to` and from none of `known`, oldest first. If there are more
 * than `limit`, returns the newest.
 */
export async function listIds(
  repository: GitRepository,
  { to, known }: { readonly to: string; readonly known: readonly string[] },
  limit: number,
): Promise<readonly string[]> {
  const excluded = known.flatMap((id) => argumentsOf({ to: id })).map((id) => `^${id}`);
  const { stdout } = await repository.git.run(
    ['rev-list', '--reverse', `--max-count=${limit}`, ...argumentsOf({ to }), ...excluded, '--'],
    { folder: repository.folder },
  );
  return stdout.toString('latin1').split('\n').filter(Boolean);
}

/** Returns commits of a range, newest first. */
export async function listCommits(
  repository: GitRepository,
  stretch: Stretch,
  { skip = 0, limit }: { skip?: number; limit: number },
): Promise<readonly CommitData[]> {
  const { stdout } = await repository.git.run(
    ['rev-list', `--skip=${skip}`, `--max-count=${limit}`, ...argumentsOf(stretch), '--'],
    { folder: repository.folder },
  );
  const ids = stdout.toString('latin1').split('\n').filter(Boolean);
  const objects = await Promise.all(ids.map((id) => repository.objects.read(id)));
  return objects.flatMap((object) => (object ? [parseCommit(object.id, object.content)] : []));
}

/**
 * Returns the newest commits of each branch, before the first one that another branch also contains. Branches are given
 * and returned by their full names. One git process serves all branches.
 */
export async function listOwnCommits(
  repository: GitRepository,
  branches: readonly Ref[],
  limit: number,
): Promise<ReadonlyMap<string, readonly CommitData[]>> {
  const all = await listRefs(repository, ['refs/heads']);
  const holders = Map.groupBy(all, ({ id }) => id);
  // A commit shared by several branch heads belongs to none of them.
  const alone = branches.filter(({ id }) => (holders.get(id)?.length ?? 0) < 2);
  const found = await Promise.all(
    alone.map(async ({ name, id }) => ({ name, id, commits: await walkNewest(repository, id, limit) })),
  );
  const tips = new Set(alone.map(({ id }) => id));
  const others = [...holders.keys()].filter((id) => !tips.has(id));
  const candidates = new Set(found.flatMap(({ commits }) => commits.map(({ id }) => id)));
  const isOnlyBranch = others.length === 0 && tips.size === 1;
  const owners = isOnlyBranch ? undefined : await findOwners(repository, { tips, others, candidates });
  return new Map(
    found.map(({ name, id, commits }) => {
      const end = commits.findIndex((commit) => owners !== undefined && owners.get(commit.id) !== id);
      return [name, end === -1 ? commits : commits.slice(0, end)];
    }),
  );
}

/** Returns the newest commits reachable from a commit, in the order of `git rev-list`: by date, then by traversal. */
async function walkNewest(
  repository: GitRepository,
  id: string,
  limit: number,
): Promise<readonly CommitData[]> {
  const seen = new Set<string>();
  const waiting: CommitData[] = [];
  const walked: CommitData[] = [];
  async function add(commitId: string): Promise<void> {
    if (seen.has(commitId)) return;
    seen.add(commitId);
    const commit = await readCommit(repository, commitId);
    if (commit === undefined) return;
    const at = waiting.findIndex(({ committer }) => committer.seconds < commit.committer.seconds);
    waiting.splice(at === -1 ? waiting.length : at, 0, commit);
  }
  await add(id);
  while (walked.length < limit) {
    const next = waiting.shift();
    if (next === undefined) break;
    walked.push(next);
    for (const parent of next.parents) await add(parent);
  }
  return walked;
}

/** Maps each candidate that is reachable from exactly one tip to that tip. */
async function findOwners(
  repository: GitRepository,
  given: {
    readonly tips: ReadonlySet<string>;
    readonly others: readonly string[];
    readonly candidates: ReadonlySet<string>;
  },
): Promise<ReadonlyMap<string, string>> {
  const owners = new Map<string, string>();
  /** The tip that reaches a commit; undefined if several do. */
  const marks = new Map<string, string | undefined>([...given.tips].map((id) => [id, id]));
  let rest = '';
  await repository.git.run(['rev-list', '--topo-order', '--parents', '--stdin'], {
    folder: repository.folder,
    input: [...given.tips, ...given.others.map((id) => `^${id}`)].map((line) => `${line}\n`).join(''),
    onOutput(piece) {
      const lines = (rest + piece.toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      // In topological order a commit follows all its children, so its mark is complete.
      for (const line of lines) {
        const [id = '', ...parents] = line.split(' ');
        const mark = marks.get(id);
        marks.delete(id);
        if (mark !== undefined && given.candidates.has(id)) owners.set(id, mark);
        for (const parent of parents) {
          marks.set(parent, marks.has(parent) && marks.get(parent) !== mark ? undefined : mark);
        }
      }
      return true;
    },
  });
  return owners;
}

/** Returns the best common ancestor of two commits; undefined if they share no history. */
export async function findMergeBase(
  repository: GitRepository,
  one: string,
  other: string,
): Promise<string | undefined> {
  if (one === other) return one;
  const { stdout } = await repository.git.run(
    ['merge-base', ...argumentsOf({ to: one }), ...argumentsOf({ to: other })],
    { folder: repository.folder, expect: [0, 1] },
  );
  return stdout.toString('latin1').trim() || undefined;
}

/** Returns whether commit `old` is reachable from commit `young`. */
export async function isAncestor(repository: GitRepository, old: string, young: string): Promise<boolean> {
  const { code } = await repository.git.run(
    ['merge-base', '--is-ancestor', ...argumentsOf({ to: old }), ...argumentsOf({ to: young })],
    { folder: repository.folder, expect: [0, 1] },
  );
  return code === 0;
}

/**
 * Returns, for each given name directly inside a directory (`''` is the root), the last commit that changed it,
 * searching back from a given commit. One history walk serves all names and ends once each is found.
 */
export async function lastCommits(
  repository: GitRepository,
  commitId: string,
  directory: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, CommitData>> {
  if (!isObjectId(commitId)) throw new TypeError(`"${commitId}" is not an object id`);
  const found = await repository.cache.remember(
    `last ${commitId} ${directory}\0${names.join('\0')}`,
    () => findLastIds(repository, commitId, directory, names),
    (ids) => ids.size * 200,
  );
  const commits = await Promise.all(
    [...found].map(async ([name, id]) => [name, await readCommit(repository, id)] as const),
  );
  return new Map(commits.flatMap(([name, commit]) => (commit ? [[name, commit] as const] : [])));
}

async function findLastIds(
  repository: GitRepository,
  commitId: string,
  directory: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const missing = new Set(names);
  const found = new Map<string, string>();
  const prefix = directory === '' ? '' : `${directory}/`;
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let commit = '';
  const paths = names.length === 1 ? [`${prefix}${names[0]}`] : directory === '' ? [] : [directory];
  await repository.git.run(
    ['log', '-z', '-c', '-t', '--no-renames', '--name-only', '--format=%x01%H', commitId, '--', ...paths],
    {
      folder: repository.folder,
      onOutput(piece) {
        const fields = (rest + decoder.write(piece)).split('\0');
        rest = fields.pop() ?? '';
        for (const field of fields) {
          const path = field.replace(/^\n+/, '');
          if (/^\x01[0-9a-f]+$/.test(path)) {
            commit = path.slice(1);
            continue;
          }
          if (!path.startsWith(prefix)) continue;
          const name = path.slice(prefix.length).split('/', 1)[0] ?? '';
          if (missing.delete(name)) found.set(name, commit);
        }
        return missing.size > 0;
      },
    },
  );
  return found;
}

/** Returns the merge commit that brought a commit into another's history, if there is one. */
export async function findMergeCommit(
  repository: GitRepository,
  old: string,
  young: string,
): Promise<string | undefined> {
  const stretch = argumentsOf({ from: old, to: young });
  const { stdout } = await repository.git.run(
    ['rev-list', '--ancestry-path', '--merges', '--reverse', ...stretch, '--'],
    { folder: repository.folder },
  );
  return stdout.toString('latin1').split('\n')[0] || undefined;
}

/** Number of new objects that triggers reindexing: with fewer, a walk is as fast without the index. */
const minNewObjects = 1_000;
/** Maximum commits whose changed paths one call indexes; the next call continues. */
const maxNewFilters = 20_000;

/** Index for fast history walks. */
interface HistoryIndex {
  /** Indexes a history if many objects were added since the last time; `objects` is the current count. */
  update(repository: GitRepository, objects: number): Promise<void>;
  forget(repositoryId: number): void;
}

/**
 * Creates the index: git's commit-graph of all commits, with a Bloom filter of the paths that each commit may have
 * changed, so that a walk for one path skips the other commits. Git reads commits missing from the index without it.
 */
export function createHistoryIndex(): HistoryIndex {
  const indexed = new BoundedMap<number, number>(10_000);
  return {
    async update({ id, git, folder }, objects) {
      if (objects - (indexed.get(id) ?? 0) < minNewObjects || !existsSync(folder)) return;
      indexed.set(id, objects);
      const filters = ['--changed-paths', `--max-new-filters=${maxNewFilters}`];
      const command = ['commit-graph', 'write', '--reachable', '--split', ...filters];
      await git.run(command, { folder, timeoutMs: 600_000 });
    },
    forget(id) {
      indexed.delete(id);
    },
  };
}
