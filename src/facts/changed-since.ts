import { operations } from '../contract/operations.ts';
import { ChangedFile, type CommitEntry } from '../contract/resources/branches.ts';
import { list } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { diffTrees } from './diff-trees.ts';
import { defineFact, requestOf } from './fact.ts';
import { pullRequest } from './pull-request.ts';
import { type AskedRepository, repositoryParams, unlessLasting } from './where.ts';

/** What is between two commits: the commits of the second that the first has not, newest first, and the files. */
type Changed = { readonly commits: readonly CommitEntry[]; readonly files: readonly ChangedFile[] };

/** Whether a text is the full id of a commit. A forge may resolve one to a branch of that name all the same. */
export function isCommitId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/**
 * Returns what changed between two commits, in both directions: what the newer one brings, and what it takes out, as after a push
 * that rewrites history. Undefined means that everything has changed: a commit is gone, a list is incomplete, or the
 * histories have nothing in common.
 *
 * The answers list files by commit, those of a merge against its first parent. They are complete where the first parents of both
 * commits lead to one commit; where they do not (a merge that takes one side alone), the two trees are compared as well.
 */
export async function changedSince(
  asked: AskedRepository,
  before: string,
  after: string,
): Promise<Changed | undefined> {
  if (before === after) return { commits: [], files: [] };
  const [brought, takenOut] = await Promise.all([
    listBetween(asked, before, after),
    listBetween(asked, after, before),
  ]);
  if (brought === undefined || takenOut === undefined) return undefined;
  // Nothing in either direction: they share no history.
  if (brought.length + takenOut.length === 0) return undefined;
  const files = new Map<string, ChangedFile>();
  for (const [commits, statuses] of [
    [brought, {}],
    [takenOut, inverse],
  ] as const) {
    // The newest commit determines the status of a file.
    for (const file of commits.flatMap((commit) => commit.files ?? [])) {
      const status = (file.status && Reflect.get(statuses, file.status)) ?? file.status ?? 'changed';
      if (!files.has(file.filename)) files.set(file.filename, { filename: file.filename, status });
    }
  }
  if (rootOf(after, brought) !== rootOf(before, takenOut)) {
    const differing = await diffTrees(asked, before, after);
    if (differing === undefined) return undefined;
    for (const filename of differing.keys()) {
      if (!files.has(filename)) files.set(filename, { filename, status: 'changed' });
    }
  }
  return { commits: brought, files: [...files.values()] };
}

/** What became of a file of a commit that is taken out. */
const inverse: Readonly<Record<string, string>> = { added: 'removed', removed: 'added' };

/** Returns where the first parents of a commit leave the listed ones; undefined for the beginning of a history. */
export function rootOf(tip: string, listed: readonly CommitEntry[]): string | undefined {
  const parents = new Map(listed.map(({ sha, parents: all }) => [sha, all?.[0]?.sha]));
  let at: string | undefined = tip;
  while (at !== undefined && parents.has(at)) at = parents.get(at);
  return at;
}

/**
 * Returns the commits of a branch or commit that another one has not, newest first; undefined if the list is incomplete, one of both is
 * gone, or the forge has compared something else: it may have a branch that is called like the commit.
 */
export async function listBetween(
  { client, params }: AskedRepository,
  from: string,
  to: string,
): Promise<readonly CommitEntry[] | undefined> {
  const basehead = `${from}...${to}`;
  const answer = await client
    .call(operations.compare, { params: { ...params, basehead } })
    .catch(unlessLasting);
  if (answer === undefined) return undefined;
  const commits = answer.commits ?? [];
  const isWhole =
    (answer.total_commits ?? 0) <= commits.length &&
    commits.every(({ files, parents }) => files != null && parents != null);
  const isMeant = commits.length === 0 || !isCommitId(to) || commits[0]?.sha === to;
  return isWhole && isMeant ? commits : undefined;
}

/** The files that changed since a commit of the pull request. */
export const changedSinceFact = defineFact({
  name: 'changed_since',
  meaning:
    'The files that are not the same at the head of the pull request as at a commit (its full id), in both directions: files of new commits, and files of commits that a push took out. Null means that everything may have changed: the commit is gone, or the forge does not list all changes.',
  shows: 'repository',
  visibleTo: 'code',
  shape: list(ChangedFile).nullable(),
  of: ['pull_request'],
  needs: { access: 'reader', scopes: ['repository'] },
  argument: 'commit',
  examineArgument: (argument) => (isCommitId(argument) ? undefined : 'name the commit by its full id'),
  requests: 3,
  example: 'changed_since("0123456789abcdef0123456789abcdef01234567") == null',
  complete: (written) =>
    Array.isArray(written)
      ? written.map((file) => (typeof file === 'string' ? { filename: file, status: 'changed' } : file))
      : written,
  async ask({ client, subject, ask }, commit = '') {
    const { head } = await ask(requestOf(pullRequest));
    if (!head?.sha) throw new ReeveError('forge-not-found', 'the pull request has no head');
    const changed = await changedSince({ client, params: repositoryParams(subject) }, commit, head.sha);
    return changed === undefined ? null : [...changed.files];
  },
});
