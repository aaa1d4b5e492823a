import { cleanTreePath, isObjectId } from '../git/names.ts';
import type { GitRepository } from '../git/repository.ts';

/** Lines of a hunk that are kept before the one that is commented on, as on the baseline. */
const maxLines = 4;

/** A line of a file: of the new one, or below 0 of the old one. */
export type LineOfFile = { readonly path: string; readonly line: number };

/** Returns the commit that wrote a line last, as a commit sees the file; undefined where there is no such line. */
export async function findAuthorCommit(
  git: GitRepository,
  head: string,
  { path, line }: LineOfFile,
): Promise<string | undefined> {
  if (line <= 0 || path === '' || !isObjectId(head)) return undefined;
  const { code, stdout } = await git.git.run(
    ['blame', '--porcelain', '-L', `${line},${line}`, head, '--', path],
    { folder: git.folder, expect: [0, 1, 128] },
  );
  return code === 0 ? /^[0-9a-f]+/.exec(stdout.toString('latin1'))?.[0] : undefined;
}

/** Returns the piece of a difference that ends with a line, with its `@@` header; empty where the line is not in it. */
export async function cutHunk(
  git: GitRepository,
  { base, head }: { readonly base: string; readonly head: string },
  place: LineOfFile,
): Promise<string> {
  // A path that is none inside the tree, such as an absolute one, is in no difference; git would end with an error.
  if (place.path === '' || cleanTreePath(place.path) !== place.path || place.line === 0) return '';
  const { stdout } = await git.git.run(
    ['diff-tree', '-p', '-r', '--no-renames', base, head, '--', place.path],
    { folder: git.folder },
  );
  return cutAround(stdout.toString('utf8').split('\n'), place.line);
}

/** Walks a unified difference of one file. */
function cutAround(lines: readonly string[], line: number): string {
  let [old, now] = [0, 0];
  let seen: { text: string; old: number; now: number }[] = [];
  for (const text of lines) {
    const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text);
    if (header) {
      [old, now] = [Number(header[1]), Number(header[2])];
      seen = [];
      continue;
    }
    const sign = text[0];
    if (now === 0 && old === 0) continue;
    if (sign !== ' ' && sign !== '+' && sign !== '-') continue;
    seen.push({ text, old, now });
    const isMeant = line > 0 ? sign !== '-' && now === line : sign !== '+' && old === -line;
    if (isMeant) return write(seen.slice(-maxLines));
    if (sign !== '+') old += 1;
    if (sign !== '-') now += 1;
  }
  return '';
}

function write(kept: readonly { text: string; old: number; now: number }[]): string {
  const [first] = kept;
  if (!first) return '';
  const count = (other: string) => kept.filter(({ text }) => text[0] !== other).length;
  const header = `@@ -${first.old},${count('+')} +${first.now},${count('-')} @@`;
  return [header, ...kept.map(({ text }) => text)].join('\n');
}
