import type { IssueScene } from '../hooks/events.ts';
import { isBlockedBy, permissionOf, reaches } from '../platform/access/permissions.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { IssueRow, RepositoryRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { recordEvent, type TimelineReferences, type TimelineRow } from './timeline-rows.ts';

/** A reference to an issue or pull request in a text, with the keyword in front of it. */
export type Reference = {
  /** `owner/name` in lower case; absent for the repository that the text is in. */
  readonly repository?: string;
  readonly number: number;
  readonly asks: 'close' | 'reopen' | undefined;
};

// Lookarounds check the delimiters of a reference without consuming them, so that two references may be adjacent.
const reference =
  /(?<=\s|^|\(|\[|'|")([0-9a-zA-Z-_.]+\/[0-9a-zA-Z-_.]+)?[#!]([0-9]{1,15})(?=\s|$|\)|\]|'|"|[:;,.?!](?:\s|$))/g;
const closing = /(?:\s|^|\(|\[)(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?):? $/i;
const reopening = /(?:\s|^|\(|\[)reopen(?:s|ed)?:? $/i;
/** Length of the longest keyword in front of a reference, including delimiters. */
const reach = 16;

/** Maximum number of references per text that are looked up in the database. */
const maxReferences = 100;

/** Returns the references in a text, in order: `#7`, `!7` and `owner/name#7`, with Gitea's closing keywords. */
export function parseReferences(text: string): readonly Reference[] {
  const references: Reference[] = [];
  for (const match of text.matchAll(reference)) {
    const before = text.slice(Math.max(0, match.index - reach), match.index);
    const repository = match[1]?.toLowerCase();
    references.push({
      ...(repository === undefined ? {} : { repository }),
      number: Number(match[2]),
      asks: closing.test(before) ? 'close' : reopening.test(before) ? 'reopen' : undefined,
    });
    if (references.length === maxReferences) break;
  }
  return references;
}

/** Returns a Markdown text without its code blocks and spans, which contain no references. */
export function withoutCode(markdown: string): string {
  return markdown.replace(/```[\s\S]*?(?:```|$)/g, ' ').replace(/`[^`\n]*`/g, ' ');
}

/** The repository and the author of a text. */
type ReferencePlace = {
  readonly repository: RepositoryRow;
  readonly owner: UserRow;
  readonly actor: UserRow;
};

export type ReferencedIssue = {
  readonly issue: IssueRow;
  readonly repository: RepositoryRow;
  readonly owner: UserRow;
};

/** Returns the issue or pull request of a reference; undefined if it does not exist. */
export function findReferenced(
  { db }: ForgeContext,
  { repository, owner }: Omit<ReferencePlace, 'actor'>,
  reference: Reference,
): ReferencedIssue | undefined {
  const [name, rest = ''] = (reference.repository ?? `${owner.lower_name}/${repository.lower_name}`).split(
    '/',
  );
  const holder = db.get<UserRow>('SELECT * FROM users WHERE lower_name = ?', name ?? '');
  const sql = 'SELECT * FROM repositories WHERE owner_id = ? AND lower_name = ?';
  const found = holder && db.get<RepositoryRow>(sql, holder.id, rest);
  const issue =
    found &&
    db.get<IssueRow>('SELECT * FROM issues WHERE repo_id = ? AND number = ?', found.id, reference.number);
  return holder && found && issue ? { issue, repository: found, owner: holder } : undefined;
}

type RefAction = NonNullable<TimelineReferences['refAction']>;

/** A text that may contain references: the text of an issue, or of a comment on it. */
type ReferringText = {
  /** Text without Markdown, such as a title. */
  readonly plain?: string;
  readonly markdown: string;
  /** Id of the comment; absent for the text of the issue itself. */
  readonly commentId?: number;
};

/**
 * Records references in a text in the timelines of other issues. After an edit, references that no longer exist become
 * `neutered`. References into a repository that the author cannot read are ignored.
 */
export function recordReferences(context: ForgeContext, scene: IssueScene, text: ReferringText): void {
  const { db } = context;
  const origin = db.get<IssueRow>('SELECT * FROM issues WHERE id = ?', scene.issueId);
  if (!origin) return;
  const wanted = findWanted(context, scene, origin, text);
  for (const row of activeReferences(context, origin.id, text.commentId)) {
    // The cast is safe: `recordEvent` writes this column.
    const { refAction = 'none' } = JSON.parse(row.refers) as TimelineReferences;
    if (wanted.get(row.issue_id) === refAction) wanted.delete(row.issue_id);
    else neuter(context, row);
  }
  const kind = origin.is_pull ? 'pull_ref' : 'issue_ref';
  const type = text.commentId === undefined ? kind : 'comment_ref';
  for (const [issueId, action] of wanted) {
    const refers = {
      refIssue: origin.id,
      ...(text.commentId === undefined ? {} : { refComment: text.commentId }),
      ...(action === 'none' ? {} : { refAction: action }),
    };
    recordEvent(context, { issueId, actor: scene.actor }, { type, refers });
    db.run('UPDATE issues SET updated_at = ? WHERE id = ?', secondsOf(context.clock()), issueId);
  }
}

/** Marks the references of a deleted comment as removed. */
export function neuterReferences(context: ForgeContext, issueId: number, commentId: number): void {
  for (const row of activeReferences(context, issueId, commentId)) neuter(context, row);
}

function findWanted(
  context: ForgeContext,
  scene: IssueScene,
  origin: IssueRow,
  { plain = '', markdown, commentId }: ReferringText,
): Map<number, RefAction> {
  const wanted = new Map<number, RefAction>();
  for (const reference of [...parseReferences(plain), ...parseReferences(withoutCode(markdown))]) {
    const named = findReferenced(context, scene, reference);
    if (!named || named.issue.id === origin.id) continue;
    const action = actionOf(context, scene, named, { origin, reference, isComment: commentId !== undefined });
    if (action === undefined) continue;
    if (action !== 'none' || !wanted.has(named.issue.id)) wanted.set(named.issue.id, action);
  }
  return wanted;
}

/**
 * Returns the effect of a reference. Only a pull request closes or reopens issues, and only those that its author may
 * change. Returns undefined if the author cannot see the issue.
 */
function actionOf(
  { db }: ForgeContext,
  { actor, repository }: IssueScene,
  { issue, ...place }: ReferencedIssue,
  given: { readonly origin: IssueRow; readonly reference: Reference; readonly isComment: boolean },
): RefAction | undefined {
  const { asks } = given.reference;
  const isHere = place.repository.id === repository.id;
  if (isHere && asks === undefined) return 'none';
  const permission = permissionOf(
    db,
    actor,
    place.repository,
    place.owner,
    issue.is_pull ? 'pulls' : 'issues',
  );
  if (!reaches(permission, 'read')) return undefined;
  if (isBlockedBy(db, actor, [issue.poster_id, place.owner.id])) return undefined;
  if (asks === undefined || issue.is_pull || !given.origin.is_pull) return 'none';
  // For references within the pull request's own repository, the permissions of the merging account decide.
  const isMergers = isHere && !given.isComment;
  const mayAct = actor.id === issue.poster_id || reaches(permission, 'write') || isMergers;
  if (!mayAct) return 'none';
  return asks === 'close' ? 'closes' : 'reopens';
}

function activeReferences(
  { db }: ForgeContext,
  issueId: number,
  commentId: number | undefined,
): readonly TimelineRow[] {
  return db.all<TimelineRow>(
    `SELECT * FROM timeline WHERE type IN ('issue_ref', 'pull_ref', 'comment_ref')
       AND json_extract(refers, '$.refIssue') = ? AND coalesce(json_extract(refers, '$.refComment'), 0) = ?
       AND coalesce(json_extract(refers, '$.refAction'), 'none') <> 'neutered' ORDER BY id`,
    issueId,
    commentId ?? 0,
  );
}

function neuter({ db }: ForgeContext, { id }: TimelineRow): void {
  db.run(`UPDATE timeline SET refers = json_set(refers, '$.refAction', 'neutered') WHERE id = ?`, id);
}
