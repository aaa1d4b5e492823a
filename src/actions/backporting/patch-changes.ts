/** What a patch does to one file, apart from where in the file it does it. */
type PatchedFile = {
  /** The line `diff --git …` with both names. */
  readonly names: string;
  /** Lines about mode, creation, deletion and renaming. */
  readonly about: readonly string[];
  /** Removed and added lines with their sign, in order. */
  readonly lines: readonly string[];
  /** Id of the new content where it is binary, maybe abbreviated. */
  readonly blob?: string;
};

/** Lines before the content that describe the file itself; its similarity depends on what the branch had. */
const aboutFile =
  /^(?:old mode|new mode|new file mode|deleted file mode|rename from|rename to|copy from|copy to) /;

/**
 * Returns whether two diffs make the same changes: to the same files, the same lines removed and added, byte for byte. Their
 * places, the lines around them and the ids of text files differ between branches. Binary files are the same where the ids
 * of their new content are, as far as both are given.
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

/** One diff abbreviates ids, the other one does not. */
function isSameBlob(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.startsWith(other) || other.startsWith(one);
}

/** Returns the changes of a unified diff, file by file. Content is counted, because a removed line may look like a header. */
function parseChanges(diff: string): readonly PatchedFile[] {
  const files: { names: string; about: string[]; lines: string[]; blob?: string }[] = [];
  let left = { removed: 0, added: 0 };
  let index = '';
  for (const line of diff.split('\n')) {
    const file = files.at(-1);
    const [sign = ''] = line;
    if (file && (left.removed > 0 || left.added > 0) && sign !== '\\') {
      if (sign === '-' || sign === '+') file.lines.push(line);
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
    // The last line has no end: part of the change where that line was removed or added.
    else if (sign === '\\') file.lines.push(line);
    else if (aboutFile.test(line)) file.about.push(line);
    else if (line.startsWith('index ')) index = /\.\.([0-9a-f]+)/.exec(line)?.[1] ?? '';
    else if (line === 'GIT binary patch' || /^Binary files .* differ$/.test(line)) file.blob = index;
  }
  return files;
}
