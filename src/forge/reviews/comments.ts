import { permissionOf, reaches } from '../access/permissions.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import { type IssueRow, type PullRow, type ReviewCommentRow, takeCommentId } from '../core/issue-rows.ts';
import type { UserRow } from '../core/rows.ts';
import { secondsOf } from '../core/time.ts';
import { emitComment } from '../events/issue-events.ts';
import { cleanTreePath, isObjectId } from '../git/names.ts';
import type { GitRepository } from '../git/repository.ts';
import { defineHandlers } from '../http/handler.ts';
import { toReviewComments } from '../views/review.ts';
import { readReview } from './queries.ts';
import { isOfficial } from './state.ts';

/** A comment on a line with all that git says of it, ready to be written. */
type DraftComment = LineOfFile & {
  readonly body: string;
  readonly commitId: string;
  readonly hunk: string;
};

/** Returns a comment with the commit that wrote its line and the piece of the difference that ends there. */
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

/** Writes a comment as part of a review. */
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

/** Returns a review comment with its pull request; 400 for a plain comment, 404 for none. */
function findReviewComment(
  { db }: ForgeContext,
  { repository }: RepositoryTarget,
  id: number,
): { readonly comment: ReviewCommentRow; readonly issue: IssueRow; readonly pull: PullRow } {
  const sql = 'SELECT * FROM review_comments WHERE id = ? AND repo_id = ?';
  const comment = db.get<ReviewCommentRow>(sql, id, repository.id);
  if (!comment) {
    const plain = db.get('SELECT 1 AS one FROM comments WHERE id = ? AND repo_id = ?', id, repository.id);
    if (plain) throw new ForgeProblem(400, 'comment is not a review comment');
    throw new ForgeProblem(404, `comment does not exist [id: ${id}]`);
  }
  const { issue_id } = readReview(db, comment.review_id);
  return {
    comment,
    issue: found(db.get<IssueRow>('SELECT * FROM issues WHERE id = ?', issue_id)),
    pull: found(db.get<PullRow>('SELECT * FROM pulls WHERE issue_id = ?', issue_id)),
  };
}

/** Marks a conversation as resolved or not; for its pull request's author, writers, and accounts whose review counts. */
function setResolved(
  context: ForgeContext,
  place: RepositoryTarget & { readonly caller: UserRow },
  id: number,
  isResolved: boolean,
): void {
  const { db } = context;
  const { repository, owner, caller } = place;
  const { comment, issue, pull } = findReviewComment(context, place, id);
  const isAllowed =
    caller.id === issue.poster_id ||
    reaches(permissionOf(db, caller, repository, owner, 'pulls'), 'write') ||
    isOfficial(context, place, pull, caller);
  if (!isAllowed) throw new ForgeProblem(403, 'user should have permission to resolve comment');
  const resolver = isResolved ? (comment.resolver_id ?? caller.id) : undefined;
  db.run('UPDATE review_comments SET resolver_id = ? WHERE id = ?', resolver, comment.id);
}

/** Handlers for conversations on lines: resolving them, and answering in them. */
export const reviewCommentHandlers = defineHandlers({
  resolveReviewComment(call) {
    setResolved(call.context, call, call.params.id, true);
    return undefined;
  },

  unresolveReviewComment(call) {
    setResolved(call.context, call, call.params.id, false);
    return undefined;
  },

  async replyToReviewComment(call) {
    const { context, caller, repository, owner, params, body } = call;
    const { comment: parent, issue, pull } = findReviewComment(context, call, params.id);
    if (issue.number !== params.index) throw new ForgeProblem(404, 'not found');
    const { path, line, commit_id: commitId } = parent;
    const draft = await prepareComment(context, pull, { path, line, commitId, body: body.body });
    return context.db.transaction(() => {
      const author = { repositoryId: repository.id, poster: caller };
      const kept = { commitId, hunk: parent.diff_hunk };
      const comment = insertComment(context, parent.review_id, { ...draft, ...kept, ...author });
      const told = { ...comment, issue_id: issue.id, content_version: 0 };
      const scene = { repository, owner, actor: caller, issueId: issue.id };
      emitComment(context, scene, { comment: told, action: 'created' });
      return found(toReviewComments(context, [comment], issue, { ...call, viewer: caller })[0]);
    });
  },
});

/** Lines of a hunk that are kept before the one that is commented on, as on Gitea. */
const maxLines = 4;

/** A line of a file: of the new one, or below 0 of the old one. */
type LineOfFile = { readonly path: string; readonly line: number };

/** Returns the commit that wrote a line last, as a commit sees the file; undefined where there is no such line. */
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

/** Returns the piece of a difference that ends with a line, with its `@@` header; empty where the line is not in it. */
async function cutHunk(
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
