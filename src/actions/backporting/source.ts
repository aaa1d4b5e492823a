import type { CommitEntry } from '../../contract/resources/branches.ts';
import type { PullRequest } from '../../contract/resources/pulls.ts';
import { commits, parseTrailers } from '../../facts/commits.ts';
import { type Facts, optionalRequestOf } from '../../facts/fact.ts';
import { mergedPatch } from '../../facts/files.ts';
import { breakReferences } from '../../patterns/issue-references.ts';
import { askOr } from '../marker.ts';
import { sidesOf } from '../merging/pull.ts';
import type { HandReason, HandSource } from './notes.ts';

/** Limits of the forge for the author of a commit, and ours for its message. */
const maxName = 100;
const maxEmail = 254;
const maxMessage = 60_000;

/** A merged change, as its backports need it. */
export type BackportSource = HandSource & {
  readonly patch: string;
  /** Set where no patch can carry the change. */
  readonly byHand?: HandReason | undefined;
  /** Members of the request about the commit: its message, and author and date of the change. */
  readonly commit: {
    readonly message: string;
    readonly author?: { readonly name: string; readonly email: string };
    readonly dates?: { readonly author: string };
  };
};

/** Returns what identifies the merged change. Throws if the forge does not show the commit that it was merged as. */
export function handSourceOf(pull: PullRequest): HandSource {
  const { number, merge_base, merge_commit_sha: mergeCommit } = pull;
  if (!mergeCommit) throw new Error(`the forge does not show the commit that #${number} was merged as`);
  return { number, head: sidesOf(pull).head, mergeBase: merge_base || undefined, mergeCommit };
}

/** Stands in for the patch in a what-if that does not give it. */
const unknownPatch = { text: 'the changes of the pull request', size: 0 };

/** Reads the merged change. */
export async function readMergedChange(pull: PullRequest, facts: Facts): Promise<BackportSource> {
  const source = handSourceOf(pull);
  const patch = (await askOr(facts, optionalRequestOf(mergedPatch), unknownPatch)) ?? { text: '', size: 0 };
  const all = await askOr(facts, optionalRequestOf(commits), []);
  return {
    ...source,
    patch: patch.text ?? '',
    byHand: reasonAgainst(patch.text, all),
    commit: commitOf(pull, all, source.mergeCommit),
  };
}

/** A pointer of Git LFS in the patch: its first line is added, removed, or stands before what is. */
const lfsPointer = /^[ +-]version https:\/\/git-lfs\.github\.com\/spec\//m;

function reasonAgainst(patch: string | null, all: readonly CommitEntry[]): HandReason | undefined {
  if (all.some(({ parents }) => (parents ?? []).length > 1)) return 'merges';
  if (patch === null) return 'size';
  if (lfsPointer.test(patch)) return 'lfs';
  // A byte that is no UTF-8 was replaced when the patch was read: it would be written like that.
  return patch.includes('\uFFFD') ? 'encoding' : undefined;
}

/** The oldest commit has the author; with several commits, the title has the message and the other authors are named. */
function commitOf(
  { title }: PullRequest,
  all: readonly CommitEntry[],
  mergeCommit: string,
): BackportSource['commit'] {
  const oldest = all.at(-1)?.commit;
  const text = (all.length === 1 && oldest?.message?.trim()) || title;
  const trailers = all.length > 1 ? coAuthors(all) : [];
  const lines = [...trailers, `(cherry picked from commit ${mergeCommit})`].join('\n');
  const gap = parseTrailers(text).length > 0 ? '\n' : '\n\n';
  const { name, email, date } = oldest?.author ?? {};
  return {
    // Strangers wrote it, and this account pushes it.
    message: breakReferences([{ text: `${text.slice(0, maxMessage)}${gap}${lines}`, isInserted: true }]),
    ...(name && email ? { author: { name: name.slice(0, maxName), email: email.slice(0, maxEmail) } } : {}),
    ...(date ? { dates: { author: date } } : {}),
  };
}

function coAuthors(all: readonly CommitEntry[]): readonly string[] {
  const first = all.at(-1)?.commit?.author?.email;
  const named = new Map<string, string>();
  for (const { commit } of all.toReversed()) {
    const { name, email } = commit?.author ?? {};
    if (name && email && email !== first) named.set(email, `Co-authored-by: ${name} <${email}>`);
  }
  return [...named.values()];
}
