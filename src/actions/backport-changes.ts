import { operations } from '../contract/operations.ts';
import type { CommitEntry } from '../contract/resources/branches.ts';
import type { PullRequest } from '../contract/resources/pulls.ts';
import { backportBranch, backportMarker, backports } from '../facts/backports.ts';
import { branches } from '../facts/branches.ts';
import { commits, parseTrailers } from '../facts/commits.ts';
import { type FactRequest, type Facts, optionalRequestOf, requestOf } from '../facts/fact.ts';
import { mergedPatch } from '../facts/files.ts';
import { pullRequest } from '../facts/pull-request.ts';
import { repositoryParams } from '../facts/where.ts';
import { breakReferences } from '../patterns/issue-references.ts';
import type { Change } from './change.ts';
import { sidesOf } from './merging.ts';
import { asCode, askOr, withMarker } from './texts.ts';

/** Limits of the forge for the name and email of a commit's author, and Reeve's own limit for the commit message. */
const maxName = 100;
const maxEmail = 254;
const maxMessage = 60_000;

/** A merged change, with the data that its backports need. */
export type BackportSource = HandSource & {
  readonly patch: string;
  /** Set if no patch can represent the change. */
  readonly byHand?: HandReason | undefined;
  /** Request fields that describe the commit: its message, and the author and date of the change. */
  readonly commit: {
    readonly message: string;
    readonly author?: { readonly name: string; readonly email: string };
    readonly dates?: { readonly author: string };
  };
};

/** Returns the identity of the merged change. Throws if the forge does not show its merge commit. */
export function handSourceOf(pull: PullRequest): HandSource {
  const { number, merge_base, merge_commit_sha: mergeCommit } = pull;
  if (!mergeCommit) throw new Error(`the forge does not show the merge commit of #${number}`);
  return { number, head: sidesOf(pull).head, mergeBase: merge_base || undefined, mergeCommit };
}

/** Placeholder for the patch in a what-if without a patch. */
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

/** Matches a Git LFS pointer in the patch: the first line of a pointer, as an added, removed or context line. */
const lfsPointer = /^[ +-]version https:\/\/git-lfs\.github\.com\/spec\//m;

function reasonAgainst(patch: string | null, all: readonly CommitEntry[]): HandReason | undefined {
  if (all.some(({ parents }) => (parents ?? []).length > 1)) return 'merges';
  if (patch === null) return 'size';
  if (lfsPointer.test(patch)) return 'lfs';
  // Invalid UTF-8 was replaced when the patch was read, and the replacement characters would be committed.
  return patch.includes('\uFFFD') ? 'encoding' : undefined;
}

/**
 * Returns the fields for the commit. The author is that of the oldest commit. If there are several commits, the message
 * is the title of the pull request, and the other authors are listed.
 */
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
    // Untrusted text, pushed by this account.
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

/** Maximum number of characters of a title in a request to the forge. */
const maxTitle = 255;

/**
 * Facts that a new plan need not request again: the merged change never changes, and its backports are read once per
 * run, and again only after a refusal.
 */
export const keptFacts: readonly FactRequest[] = [
  requestOf(mergedPatch),
  requestOf(commits),
  requestOf(backports),
];

/** Returns the fields shared by all changes of a backport: conditions are evaluated again before each change. */
function common(target: string) {
  return {
    action: 'backport',
    branch: target,
    reconsiders: true,
    reads: [requestOf(pullRequest), requestOf(branches), requestOf(backports)],
    keeps: keptFacts,
  } as const;
}

/** Returns the plan's target for the branch of a backport. */
function branchTarget(number: number, target: string): string {
  return `branch:${backportBranch(number, target)}`;
}

/**
 * Returns the change that creates the branch of a backport: the patch of the merged change, applied to the tip of the
 * target.
 */
export function patching(source: BackportSource, target: string, facts: Facts): Change {
  const { number, patch, commit, mergeCommit } = source;
  const name = backportBranch(number, target);
  return {
    ...common(target),
    operation: operations.applyDiffPatch.id,
    input: {
      params: repositoryParams(facts.subject),
      // Forgejo requires a `sha` but ignores it.
      body: { branch: target, new_branch: name, content: patch, sha: mergeCommit, ...commit },
    },
    target: branchTarget(number, target),
    value: { onto: target, commit: mergeCommit },
    before: null,
    after: { name, onto: target, commits: 1, message: commit.message },
    causes: { event: 'created', branch: name },
    reason: `#${number} is merged, and has no backport to ${target}`,
  };
}

/**
 * Returns the change that opens the pull request of a backport. `exists`: the branch already exists and has the right
 * changes.
 */
export function openingOf(
  pull: PullRequest,
  source: BackportSource,
  target: string,
  { facts, labels, exists, titleParts, assignees = [] }: OpeningOptions,
): Change {
  const { number, mergeCommit } = source;
  const head = backportBranch(number, target);
  // Untrusted text, posted by this account.
  const title = breakReferences(
    titleParts?.flatMap((text, at) => [
      ...(at === 0 ? [] : [{ text: target, isInserted: true }]),
      { text, isInserted: false },
    ]) ?? [{ text: `[${target}] ${pull.title}`, isInserted: true }],
  );
  const body = withMarker(
    backportMarker(number, target),
    `Backport of #${number} to ${asCode(target)}.\n\n(cherry picked from commit ${mergeCommit})`,
  );
  const isLong = title.length > maxTitle;
  return {
    ...common(target),
    operation: operations.createPull.id,
    input: {
      params: repositoryParams(facts.subject),
      body: {
        head,
        base: target,
        title: isLong ? `${title.slice(0, maxTitle - 1).toWellFormed()}…` : title,
        body,
        ...(labels.ids.length > 0 ? { labels: labels.ids } : {}),
        ...(assignees.length > 0 ? { assignees } : {}),
      },
    },
    ...(assignees.length > 0 ? { accounts: assignees } : {}),
    target: openingTarget(number, target),
    value: { onto: target, commit: mergeCommit, labels: labels.names },
    before: null,
    after: { state: 'open', head, base: target },
    causes: { event: 'opened', head, base: target },
    ...(exists ? {} : { needs: branchTarget(number, target) }),
    reason: exists ? `the branch ${head} has no pull request` : `#${number} has no backport to ${target}`,
  };
}

type OpeningOptions = {
  readonly facts: Facts;
  readonly labels: { readonly names: readonly string[]; readonly ids: readonly number[] };
  readonly exists: boolean;
  /**
   * Title of the step, split where it names the branch; its own inserted values are already safe. Default: the branch and
   * the title of the pull request.
   */
  readonly titleParts?: readonly string[] | undefined;
  readonly assignees?: readonly string[];
};

function openingTarget(number: number, target: string): string {
  return `backport:#${number} to ${target}`;
}

/**
 * Returns the change for a backport pull request that already exists, in any state, and is therefore not opened again.
 */
export function opened(known: PullRequest, source: HandSource, target: string, facts: Facts): Change {
  const { number, mergeCommit } = source;
  const state = known.merged ? 'merged' : known.state;
  return {
    ...common(target),
    operation: operations.createPull.id,
    input: { params: repositoryParams(facts.subject) },
    target: openingTarget(number, target),
    value: { onto: target, commit: mergeCommit, labels: [] },
    before: { state, number: known.number },
    after: { state, number: known.number },
    reason: `#${known.number} is the backport to ${target} (${state})`,
    already: true,
  };
}

/** Returns the change that removes a branch on which the forge did not apply the pull request's changes. */
export function removal(source: HandSource, target: string, commit: string, facts: Facts): Change {
  const { number, mergeCommit } = source;
  const name = backportBranch(number, target);
  return {
    ...common(target),
    operation: operations.deleteBranch.id,
    input: { params: { ...repositoryParams(facts.subject), branch: name } },
    target: branchTarget(number, target),
    value: { onto: target, commit: mergeCommit, deleted: true },
    before: { name, commit },
    after: null,
    stage: 2,
    causes: { event: 'deleted', branch: name },
    reason: `the commit of this branch does not have the changes of #${number}`,
  };
}

/** Reasons for leaving a backport to a person. */
export const handReasons = {
  conflict: 'its changes do not apply to this branch',
  differs: 'the forge could apply its changes only in part, or only with different white space',
  contained: 'the branch already contains its changes',
  merges: 'its commits include a merge',
  lfs: 'it changes files that are stored in Git LFS',
  size: 'its changes are larger than 1 MiB',
  encoding: 'it changes files that are not UTF-8',
} as const;
export type HandReason = keyof typeof handReasons;

/** Branch → reason for not backporting to it. */
type Notes = ReadonlyMap<string, HandReason>;

const notesLine = /^<!-- backports:((?: [^\s<>]+=[a-z]+)*) -->$/;

/**
 * Parses the notes in a comment written by `notesText`, from the second line of the comment. Invalid notes are skipped.
 */
export function readNotes(body: string): Notes {
  const [, second = ''] = body.split('\n', 2);
  const [, list = ''] = notesLine.exec(second.trimEnd()) ?? [];
  const notes = new Map<string, HandReason>();
  for (const entry of list.split(' ').filter(Boolean)) {
    const [name = '', why = ''] = entry.split('=');
    const branch = decodeName(name);
    if (branch !== undefined && isReason(why)) notes.set(branch, why);
  }
  return notes;
}

function isReason(why: string): why is HandReason {
  return Object.hasOwn(handReasons, why);
}

function decodeName(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

/** The fields of the merged change that the backport commands need. */
export type HandSource = {
  readonly number: number;
  /** The last commit of the pull request, and the commit from which its branch started. */
  readonly head: string;
  readonly mergeBase: string | undefined;
  readonly mergeCommit: string;
};

/**
 * Returns the text of the comment: the notes with the reason for each branch, and the commands to backport the change
 * by hand.
 */
export function notesText(notes: Notes, source: HandSource, branchFor: (target: string) => string): string {
  const entries = [...notes].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const line = entries
    .map(([branch, why]) => ` ${encodeURIComponent(branch.toWellFormed())}=${why}`)
    .join('');
  const byHand = entries.filter(([, why]) => why !== 'contained');
  const reasons = entries.map(([branch, why]) => `- ${asCode(branch)}: ${handReasons[why]}.`);
  const commands = byHand
    .slice(0, 1)
    .flatMap(([branch, why]) => [
      '',
      `To backport it by hand${byHand.length > 1 ? `, here to ${asCode(branch)}` : ''}:`,
      '',
      '```sh',
      ...commandsFor(branch, why, source, branchFor),
      '```',
    ]);
  return [
    `<!-- backports:${line} -->`,
    'This pull request was not backported to:',
    '',
    ...reasons,
    ...commands,
    '',
    'Each branch is tried once. To try again, delete this comment.',
  ].join('\n');
}

/**
 * Returns whether a branch name has no characters that are special to a shell or a forge. For other names, the commands
 * contain a placeholder.
 */
const isPlainName = (name: string): boolean => /^[A-Za-z0-9][\w./-]*$/.test(name);

function commandsFor(
  branch: string,
  why: HandReason,
  { number, head, mergeBase, mergeCommit }: HandSource,
  branchFor: (target: string) => string,
): readonly string[] {
  const target = isPlainName(branch) ? branch : 'BRANCH';
  const topic = isPlainName(branch) ? branchFor(branch) : `backport-${number}`;
  const pick =
    mergeBase === undefined
      ? [`git cherry-pick -x ${mergeCommit}`]
      : why === 'merges'
        ? [`git diff --binary ${mergeBase} ${head} | git apply --3way --index`, 'git commit']
        : [`git cherry-pick -x ${mergeBase}..${head}`];
  return [
    `git fetch origin ${target} pull/${number}/head`,
    `git switch --create ${topic} origin/${target}`,
    ...pick,
    `git push --set-upstream origin ${topic}`,
  ];
}

/** The changes of a patch to one file, without line positions. */
type PatchedFile = {
  /** The line `diff --git …` with the old and the new name. */
  readonly names: string;
  /** Lines about mode, creation, deletion and renaming. */
  readonly about: readonly string[];
  /** Removed and added lines with their `-` or `+`, in order. */
  readonly lines: readonly string[];
  /** Id of the new content of a binary file; may be abbreviated. */
  readonly blob?: string;
};

/** Header lines that describe the file itself. The similarity line is left out, because it depends on the branch. */
const aboutFile =
  /^(?:old mode|new mode|new file mode|deleted file mode|rename from|rename to|copy from|copy to) /;

/**
 * Returns whether two diffs make the same changes: the same lines removed and added in the same files, byte for byte.
 * Positions, context lines and ids of text files may differ between branches. Binary files are equal if the ids of
 * their new content match, as far as both ids are given.
 */
export function isSameChange(one: string, other: string): boolean {
  const [these, those] = [parseChanges(one), parseChanges(other)];
  return these.length === those.length && these.every((file, at) => isSameFile(file, those[at]));
}

function isSameFile(one: PatchedFile, other: PatchedFile | undefined): boolean {
  return (
    other !== undefined &&
    one.names === other.names &&
    isSameList(one.about, other.about) &&
    isSameList(one.lines, other.lines) &&
    isSameBlob(one.blob, other.blob)
  );
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, at) => line === other[at]);
}

/** Compares two ids, either of which may be abbreviated. */
function isSameBlob(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.startsWith(other) || other.startsWith(one);
}

/**
 * Parses the changes of a unified diff by file. Counts the lines of each hunk, because a removed line may look like a
 * header.
 */
function parseChanges(diff: string): readonly PatchedFile[] {
  const files: { names: string; about: string[]; lines: string[]; blob?: string }[] = [];
  let left = { removed: 0, added: 0 };
  let index = '';
  /** Sign of the last line of a hunk. */
  let last = '';
  for (const line of diff.split('\n')) {
    const file = files.at(-1);
    const [sign = ''] = line;
    if (file && (left.removed > 0 || left.added > 0) && sign !== '\\') {
      if (sign === '-' || sign === '+') file.lines.push(line);
      last = sign;
      left = {
        removed: left.removed - (sign === '+' ? 0 : 1),
        added: left.added - (sign === '-' ? 0 : 1),
      };
      continue;
    }
    if (line.startsWith('diff --git ')) {
      files.push({ names: line, about: [], lines: [] });
      index = '';
      continue;
    }
    if (file === undefined) continue;
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    if (hunk) left = { removed: Number(hunk[1] ?? 1), added: Number(hunk[2] ?? 1) };
    // Marker for a missing newline at the end of the file. The marker belongs to the change if the line before it was
    // removed or added.
    else if (sign === '\\') {
      if (last === '-' || last === '+') file.lines.push(line);
    } else if (aboutFile.test(line)) file.about.push(line);
    else if (line.startsWith('index ')) index = /\.\.([0-9a-f]+)/.exec(line)?.[1] ?? '';
    else if (line === 'GIT binary patch' || /^Binary files .* differ$/.test(line)) file.blob = index;
  }
  return files;
}
