import { operations } from '../contract/operations.ts';
import type { ChangedFile, CommitEntry } from '../contract/resources/branches.ts';
import { ReeveError } from '../platform/errors.ts';
import { changedSince, listBetween } from './changed-since.ts';
import { diffTrees } from './diff-trees.ts';
import type { AskContext } from './fact.ts';
import { requestOf } from './fact.ts';
import { repository as repositoryRow } from './repository.ts';
import { type AskedRepository, repositoryParams } from './where.ts';

/** The status of a file of a push that may have changed in any way, because the commit before the push is not known any more. */
export const anyStatus = 'unknown';

/** What a push changed; `commits` is undefined where the forge cannot list them. */
type Pushed = {
  readonly commits: readonly CommitEntry[] | undefined;
  readonly files: readonly ChangedFile[];
};

/**
 * Compares the commits of a ref before and after a push, because the payload's own lists are truncated after a few commits. What a
 * push takes out counts as well. If the commits cannot be compared, every file has changed: those of the new tree are listed.
 * Returns undefined if the push deleted the ref.
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

/** A new branch has no earlier commit: what it brings is what the default branch does not have. */
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

/** Whether a commit is part of a branch, if the branch lacks none of its commits; it may also have nothing in common with it. */
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

/** Returns whether a commit id consists of zeros, which means no commit. */
export function isZeroCommit(commit: string): boolean {
  return /^0+$/.test(commit);
}
