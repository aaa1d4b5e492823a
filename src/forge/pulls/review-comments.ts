import { takeCommentId } from '../issues/timeline-rows.ts';
import type { ForgeContext } from '../platform/context.ts';
import { found } from '../platform/errors.ts';
import { cleanTreePath, isObjectId } from '../platform/git/names.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import type { PullRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import type { ReviewCommentRow } from './reviews-rows.ts';

/** A line comment with its git data, ready to be stored. */
type DraftComment = LineOfFile & {
  readonly body: string;
  readonly commitId: string;
  readonly hunk: string;
};

/** Returns a comment with the commit that last changed its line and the diff hunk up to the line. */
export async function prepareComment(
  context: ForgeContext,
  pull: PullRow,
  given: LineOfFile & { readonly body: string; readonly commitId: string },
): Promise<DraftComment> {
  const git = context.git.open(pull.repo_id);
  const author = await findAuthorCommit(git, given.commitId || pull.head_sha, given);
  const ends = { base: pull.merge_base, head: pull.head_sha };
  return { ...given, commitId: author ?? pull.head_sha, hunk: await cutHunk(git, ends, given) };
}

/** Stores a comment as part of a review. */
export function insertComment(
  { db, clock }: ForgeContext,
  reviewId: number,
  given: DraftComment & { readonly repositoryId: number; readonly poster: UserRow },
): ReviewCommentRow {
  const now = secondsOf(clock());
  const id = takeCommentId(db);
  db.run(
    `INSERT INTO review_comments (id, review_id, repo_id, poster_id, body, path, line, commit_id, diff_hunk, created_at,
       updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    reviewId,
    given.repositoryId,
    given.poster.id,
    given.body,
    given.path,
    given.line,
    given.commitId,
    given.hunk,
    now,
    now,
  );
  return found(db.get<ReviewCommentRow>('SELECT * FROM review_comments WHERE id = ?', id));
}

/** Lines of a hunk that are kept before the commented one, as on Gitea. */
const maxLines = 4;

/** A line of a file: of the new one, or of the old one if negative. */
type LineOfFile = { readonly path: string; readonly line: number };

/** Returns the commit that last changed a line, as of a commit; undefined if the line does not exist. */
async function findAuthorCommit(
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

/** Returns the hunk of a diff that ends with a line, with its `@@` header; empty if the line is not in it. */
async function cutHunk(
  git: GitRepository,
  { base, head }: { readonly base: string; readonly head: string },
  place: LineOfFile,
): Promise<string> {
  // A path outside the tree, for example an absolute one, is in no diff; git would fail.
  if (place.path === '' || cleanTreePath(place.path) !== place.path || place.line === 0) return '';
  const { stdout } = await git.git.run(
    ['diff-tree', '-p', '-r', '--no-renames', base, head, '--', place.path],
    { folder: git.folder },
  );
  return cutAround(stdout.toString('utf8').split('\n'), place.line);
}

/** Walks a unified diff of one file. */
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
