import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { ChangedFile, type CommitEntry, Compare } from '../contract/resources/branches.ts';
import { int, list, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { diffTrees } from './diff-trees.ts';
import { type AskContext, defineFact, requestOf } from './fact.ts';
import { pullRequest } from './pull-request.ts';
import { repository as repositoryRow } from './repository.ts';
import { ways } from './ways.ts';
import { type AskedRepository, indexParams, repositoryParams, unlessLasting } from './where.ts';

/** The changed files of a pull request or a push. */
export const files = defineFact({
  name: 'files',
  meaning:
    'The changed files of a pull request (compared with its merge base) or of a push (between its two commits, in both directions: what the push takes out counts as well); a renamed file has `previous_filename`. If the commit before a push is gone, or the forge does not list all changes, every file of the new tree is there, with the status `unknown`. In a facts file, paths are enough.',
  shows: 'repository',
  visibleTo: 'code',
  shape: list(ChangedFile),
  of: ['pull_request', 'branch'],
  changes: [ways.pushed, ways.retargeted, ways.basePushed],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'files.exists(f, f.filename.glob("docs/**"))',
  complete: (written) =>
    Array.isArray(written)
      ? written.map((file) => (typeof file === 'string' ? { filename: file, status: 'changed' } : file))
      : written,
  ask: (context) => (context.subject.kind === 'pull_request' ? ofPullRequest(context) : ofPush(context)),
});

async function ofPullRequest({ client, subject }: AskContext): Promise<ChangedFile[]> {
  const found: ChangedFile[] = [];
  for await (const file of client.items(operations.listPullFiles, { params: indexParams(subject) }))
    found.push(file);
  return found;
}

async function ofPush(context: AskContext): Promise<ChangedFile[]> {
  return [...((await comparePush(context))?.files ?? [])];
}

/** The status of a file whose change in a push is unknown, because the two commits cannot be compared. */
export const anyStatus = 'unknown';

/** The changes of a push; `commits` is undefined if the forge cannot list them. */
type Pushed = {
  readonly commits: readonly CommitEntry[] | undefined;
  readonly files: readonly ChangedFile[];
};

/**
 * Compares the commits of a ref before and after a push, because the payload's own lists are truncated after a few
 * commits. Removed commits also count as changes. If the commits cannot be compared, every file of the new tree counts
 * as changed. Returns undefined if the push deleted the ref.
 */
export async function comparePush({ client, subject, ask }: AskContext): Promise<Pushed | undefined> {
  if (subject.range === undefined) {
    throw new ReeveError('forge-not-found', 'only a push has files and commits: this event names none');
  }
  const { before, after } = subject.range;
  if (isZeroCommit(after)) return undefined;
  const asked = { client, params: repositoryParams(subject) };
  const changed = isZeroCommit(before)
    ? await changedByNew(asked, await defaultBranch(ask), after)
    : await changedSince(asked, before, after);
  return changed ?? { commits: undefined, files: await everyFile(asked, after) };
}

/**
 * Returns the changes of a new branch. It has no previous commit, so its changes are the commits that the default
 * branch lacks.
 */
async function changedByNew(
  asked: AskedRepository,
  base: string,
  after: string,
): Promise<Pushed | undefined> {
  const commits = await listBetween(asked, base, after);
  if (commits === undefined) return undefined;
  if (commits.length === 0 && !(await isPartOf(asked, base, after))) return undefined;
  const files = new Map<string, ChangedFile>();
  for (const { filename, status } of commits.flatMap(({ files: all }) => all ?? [])) {
    if (!files.has(filename)) files.set(filename, { filename, status: status ?? 'changed' });
  }
  return { commits, files: [...files.values()] };
}

/**
 * Returns whether a branch contains a commit. Called when a comparison lists no commits that the branch lacks, which is
 * also the result for unrelated histories.
 */
async function isPartOf(asked: AskedRepository, branch: string, commit: string): Promise<boolean> {
  const since = await listBetween(asked, commit, branch);
  if (since === undefined) return false;
  if (since.length > 0) return true;
  const tip = await asked.client.call(operations.getBranch, { params: { ...asked.params, branch } });
  return tip.commit?.id === commit;
}

async function everyFile(asked: AskedRepository, commit: string): Promise<readonly ChangedFile[]> {
  const all = await diffTrees(asked, undefined, commit);
  if (all === undefined)
    throw new ReeveError('forge-not-found', `the files of ${commit.slice(0, 10)} cannot be read whole`);
  return Array.from(all.keys(), (filename) => ({ filename, status: anyStatus }));
}

/** Returns the name of the default branch. */
export async function defaultBranch(ask: AskContext['ask']): Promise<string> {
  const repository = await ask(requestOf(repositoryRow));
  return repository.default_branch ?? 'main';
}

/** Returns whether a commit id is all zeros, which means no commit. */
export function isZeroCommit(commit: string): boolean {
  return /^0+$/.test(commit);
}

/** Maximum size, in bytes, of a patch whose text is returned. */
const maxPatchBytes = 1_048_576;

/** The changes of a merged pull request as a patch. */
export const mergedPatch = defineFact({
  name: 'merged_patch',
  meaning:
    'The changes of the merged pull request as one unified diff that git can apply, with the content of binary files, and its size in bytes; null before the merge. `text` is null above 1 MiB.',
  shows: 'repository',
  visibleTo: 'code',
  shape: z.object({ text: text.nullable(), size: int }).nullable(),
  of: ['pull_request'],
  changes: [ways.merged],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 2,
  example: 'merged_patch != null && merged_patch.size < 100000',
  async ask({ client, subject, ask }) {
    const { merged, additions, deletions } = await ask(requestOf(pullRequest));
    if (!merged) return null;
    // Every changed line has at least a sign and a newline, so the size has a lower bound that is known without reading
    // the patch.
    const leastBytes = 2 * ((additions ?? 0) + (deletions ?? 0));
    if (leastBytes > maxPatchBytes) return { text: null, size: leastBytes };
    const params = { ...indexParams(subject), diffType: 'diff' } as const;
    try {
      const patch = await client.call(operations.getPullDiff, { params, query: { binary: true } });
      const size = Buffer.byteLength(patch);
      return { text: size > maxPatchBytes ? null : patch, size };
    } catch (error) {
      // The patch exceeds the client's response limit, which is far above `maxPatchBytes`.
      if (!(error instanceof ReeveError) || error.code !== 'forge-unexpected') throw error;
      return { text: null, size: maxPatchBytes + 1 };
    }
  },
});

/** The changes of one commit, as text. */
export const commitDiff = defineFact({
  name: 'commit_diff',
  meaning:
    'What a commit changes against its first parent, as a unified diff without the content of binary files. `sha` is the id of a commit, a branch or a tag.',
  shows: 'repository',
  visibleTo: 'code',
  shape: text,
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.elsewhere],
  needs: { access: 'reader', scopes: ['repository'] },
  argument: 'sha',
  requests: 1,
  example: 'commit_diff("main").contains("+++ b/CHANGELOG.md")',
  ask: ({ client, subject }, sha = '') =>
    client.call(operations.getCommitDiff, {
      params: { ...repositoryParams(subject), sha, diffType: 'diff' },
    }),
});

/**
 * Returns why a branch may be used only in files of the operator: `owner:branch` may be in a repository that only
 * Reeve's account can read. Branch names contain no colon.
 */
export function otherRepositoryReason(branches: string): string | undefined {
  if (!branches.includes(':')) return undefined;
  return 'a branch of another repository (`owner:branch`) is only for files of the operator; name a branch of this repository';
}

/** The difference between two branches or commits, from their merge base. */
export const compare = defineFact({
  name: 'compare',
  meaning:
    'The commits and files of `head` that are not in `base`, from their merge base (`base...head` are branches or commits; `owner:branch` refers to a fork, in rules of the operator alone).',
  // The head may be in a fork of another account.
  shows: 'beyond',
  visibleTo: 'operators',
  shape: Compare,
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.elsewhere],
  needs: { access: 'reader', scopes: ['repository'] },
  argument: 'base...head',
  examineBelowOperator: otherRepositoryReason,
  requests: 1,
  example: 'compare("main...develop").total_commits > 0',
  complete: (written) =>
    typeof written === 'object' && written !== null && 'files' in written && Array.isArray(written.files)
      ? { ...written, files: written.files.map(completeFile) }
      : written,
  ask: ({ client, subject }, basehead = '') =>
    client.call(operations.compare, { params: { ...repositoryParams(subject), basehead } }),
});

function completeFile(file: unknown): unknown {
  return typeof file === 'string' ? { filename: file, status: 'changed' } : file;
}

/** The difference between two commits: the files, and the commits of the second that the first lacks, newest first. */
type Changed = { readonly commits: readonly CommitEntry[]; readonly files: readonly ChangedFile[] };

/** Returns whether a text is a full commit id. A forge may still resolve this id to a branch with that name. */
export function isCommitId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/**
 * Returns the changes between two commits in both directions: what the newer commit adds and what it removes, as after
 * a force-push. Undefined means that everything has changed: a commit is missing, a list is incomplete, or the
 * histories are unrelated.
 *
 * The forge lists files by commit; for a merge, those that differ from its first parent. The lists are complete if the
 * first-parent chains of both commits lead to the same commit; otherwise (a merge that takes only one side), the two
 * trees are compared as well.
 */
async function changedSince(
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
  // If both directions have no commits, the histories are unrelated.
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

/** Inverse status of a file, for commits that the push removed. */
const inverse: Readonly<Record<string, string>> = { added: 'removed', removed: 'added' };

/**
 * Returns the commit at which the first-parent chain of a commit leaves the list; undefined if the chain ends in a root
 * commit.
 */
export function rootOf(tip: string, listed: readonly CommitEntry[]): string | undefined {
  const parents = new Map(listed.map(({ sha, parents: all }) => [sha, all?.[0]?.sha]));
  let at: string | undefined = tip;
  while (at !== undefined && parents.has(at)) at = parents.get(at);
  return at;
}

/**
 * Returns the commits of one branch or commit (`to`) that another (`from`) lacks, newest first. Returns undefined if
 * the list is incomplete, if `from` or `to` is missing, or if the forge has compared a branch whose name is a commit
 * id.
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
  changes: [ways.pushed],
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
