import { asCode } from '../code-text.ts';

/** Why a merged change is not backported to a branch without a person. */
export const handReasons = {
  conflict: 'its changes do not apply there',
  differs: 'the forge could apply its changes only with other whitespace, or only a part of them',
  contained: 'its changes are in that branch already',
  merges: 'its commits include a merge',
  lfs: 'it changes files that are kept with Git LFS',
  size: 'its changes are over 1 MiB',
  encoding: 'it changes files that are not UTF-8',
} as const;
export type HandReason = keyof typeof handReasons;

/** Branch → why the change is not backported to it. */
export type Notes = ReadonlyMap<string, HandReason>;

const notesLine = /^<!-- backports:((?: [^\s<>]+=[a-z]+)*) -->$/;

/** Returns the notes in a comment that `notesText` wrote: they are in its second line. A note that cannot be read is left out. */
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

/** The merged change, as far as the commands that backport it need it. */
export type HandSource = {
  readonly number: number;
  /** The last commit of the pull request, and the commit that its branch began at. */
  readonly head: string;
  readonly mergeBase: string | undefined;
  readonly mergeCommit: string;
};

/** Returns the text of the comment: the notes, each branch with its reason, and the commands to backport the change by hand. */
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
    'Each branch is tried once. To have them tried again, delete this comment.',
  ].join('\n');
}

/** Commands with names that a shell or a forge gives another meaning are shown with a placeholder. */
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
