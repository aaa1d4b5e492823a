import { requireCopy } from '../access/code.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem } from '../core/errors.ts';
import type { UserRow } from '../core/rows.ts';
import { type FileChange, listChangesOf } from '../git/changes.ts';
import type { CommitData } from '../git/commit.ts';
import { countCommits, findMergeBase, listCommits } from '../git/history.ts';
import { resolveRef } from '../git/refs.ts';
import type { GitRepository } from '../git/repository.ts';
import { defineHandlers } from '../http/handler.ts';
import {
  escapePath,
  type RepositoryAddress,
  repositoryAddress,
  toChangeSummary,
  toCommitEntry,
} from '../views/commit.ts';
import { accountByEmail, toUser } from '../views/user.ts';
import { findHead } from './head-repository.ts';

/** Two refs or commits compared. Files are named at each commit alone, as Gitea does. */
export const compareHandlers = defineHandlers({
  compare: async ({ context, params, caller, ...target }) => {
    const range = await openComparison(context, target, params.basehead, caller);
    const { id } = target.repository;
    const address = repositoryAddress(context.rootUrl(), target.owner.name, target.repository.name);
    const answer = async (git: GitRepository) => {
      const { base, head, isDirect } = range;
      const from = isDirect ? base : await findMergeBase(git, base, head);
      const stretch = { from: from ?? base, to: head };
      const commits = await listCommits(git, stretch, { limit: maxCommits });
      return {
        total_commits: commits.length < maxCommits ? commits.length : await countCommits(git, stretch),
        commits: await toEntries(git, commits, (commit) => toEntry(context, address, commit)),
      };
    };
    if (range.headId === id) return await answer(context.git.open(id));
    // Objects that are written to a repository, even for a moment, can be fetched from it by all who read it.
    const permit = requireCopy(context, caller, range.headId);
    return await context.git.withObjectsOf(id, { id: range.headId, permit }, answer);
  },
});

const maxCommits = 10_000;

type CompareRange = {
  readonly base: string;
  readonly head: string;
  /** The repository that has the head. */
  readonly headId: number;
  readonly isDirect: boolean;
};

/** Reads `base...head` (from the merge base) or `base..head`; a word alone is compared with the default branch. */
async function openComparison(
  context: ForgeContext,
  target: RepositoryTarget,
  words: string,
  caller: UserRow | undefined,
): Promise<CompareRange> {
  const git = context.git.open(target.repository.id);
  const separator = words.includes('...') ? '...' : words.includes('..') ? '..' : undefined;
  const [left = '', right = ''] =
    separator === undefined ? [target.repository.default_branch, words] : splitOnce(words, separator);
  const base = await resolveRef(git, left || target.repository.default_branch);
  const { repository, name } = findHead(context, target, right || target.repository.default_branch, caller);
  const head = await resolveRef(context.git.open(repository.id), name);
  const isSameFormat = repository.object_format === target.repository.object_format;
  if (!base || !head || !isSameFormat) throw new ForgeProblem(404, 'The target could not be found.');
  const isDirect = separator === '..';
  return { base: base.commit.id, head: head.commit.id, headId: repository.id, isDirect };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + separator.length)];
}

/** Returns a commit as a list shows it, with the accounts behind its addresses as an anonymous viewer sees them. */
export function toEntry(context: ForgeContext, address: RepositoryAddress, commit: CommitData) {
  return toCommitEntry(context.db, address, commit, (email) => {
    const account = accountByEmail(context.db, email);
    return account ? toUser(context, account, undefined) : null;
  });
}

/** Returns commits as lists of the API show them, each with what it changes. */
export async function toEntries<Entry extends object>(
  git: GitRepository,
  commits: readonly CommitData[],
  toOne: (commit: CommitData) => Entry,
) {
  const ids = commits.map(({ id }) => id);
  const changes = await listChangesOf(git, ids);
  return commits.map((commit) => ({ ...toOne(commit), ...toChangeSummary(changes.get(commit.id) ?? []) }));
}

/** Returns a file that a commit changed as the API shows it. The addresses of a deleted file name that commit as well, as Gitea does. */
export function toChangedFile(address: RepositoryAddress, change: FileChange, commit: string) {
  const path = escapePath(change.path);
  return {
    filename: change.path,
    ...(change.status === 'renamed' ? { previous_filename: change.from } : {}),
    status: change.status,
    additions: change.additions,
    deletions: change.deletions,
    changes: change.additions + change.deletions,
    html_url: `${address.html}/src/commit/${commit}/${path}`,
    contents_url: `${address.api}/contents/${path}?ref=${commit}`,
    raw_url: `${address.html}/raw/commit/${commit}/${path}`,
  };
}
