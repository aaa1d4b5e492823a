import { z } from 'zod';
import { type Subject, subjectKinds } from '../contract/events/subject.ts';
import { operations } from '../contract/operations.ts';
import { Attachment, Issue } from '../contract/resources/issues.ts';
import { TimelineEntry } from '../contract/resources/timeline.ts';
import { TrackedTime } from '../contract/resources/times.ts';
import { User } from '../contract/resources/users.ts';
import { instant, list, text } from '../contract/shape.ts';
import { comment as commentRow } from './comments.ts';
import { type AskContext, defineFact, requestOf } from './fact.ts';
import { itemWays, ways } from './ways.ts';
import { indexParams, isHomeIssue, narrowIssue, repositoryParams } from './where.ts';

/** The current state of the issue; for a pull request, its issue side. */
export const issue = defineFact({
  name: 'issue',
  meaning: 'The current state of the issue; for a pull request, its issue side.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: Issue,
  of: ['issue', 'pull_request', 'notification'],
  changes: itemWays,
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  example: 'issue.state == "open" && issue.title.lower().contains("crash")',
  ask: ({ client, subject }) => client.call(operations.getIssue, { params: indexParams(subject) }),
});

/** The issues and pull requests that must close before this one. */
export const dependencies = defineFact({
  name: 'dependencies',
  meaning:
    'The issues and pull requests that must close before this one, those of its own repository first. One that the account cannot read has at most `number` and `state`. Rules of repositories and organizations see only number and state of those in other repositories.',
  shows: 'repository',
  visibleTo: 'operators',
  shape: list(Issue),
  of: ['issue', 'pull_request'],
  changes: [ways.elsewhere],
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  example: 'dependencies.exists(i, i.state == "open")',
  async ask({ client, subject }) {
    const found: Issue[] = [];
    for await (const issue of client.items(operations.listDependencies, { params: indexParams(subject) })) {
      // An issue that cannot be read may be open. It counts as open, so that no blocked item looks unblocked.
      found.push({ ...issue, state: issue.state || 'open' });
    }
    return found;
  },
  narrow: (found, subject) => found.map((issue) => narrowIssue(issue, subject)),
});

/** The issues that the bot opened in a repository, including closed ones. */
export const ownIssues = defineFact({
  name: 'own_issues',
  meaning:
    'The issues that the bot’s account opened in the named repository (`owner/name`), including closed ones, newest first.',
  shows: 'beyond',
  visibleTo: 'operators',
  shape: list(Issue),
  of: subjectKinds,
  changes: [ways.elsewhere],
  needs: { access: 'reader', scopes: ['issue', 'user'] },
  argument: 'owner/name',
  requests: 2,
  example: 'own_issues("acme/ops").filter(i, i.state == "open").size() < 20',
  async ask({ client, memory }, at = '') {
    const [owner = '', repo = ''] = at.split('/');
    const login =
      (memory.get('self/login') as string | undefined) ?? (await client.call(operations.getSelf, {})).login;
    memory.set('self/login', login);
    const found: Issue[] = [];
    const query = { type: 'issues', state: 'all', created_by: login };
    for await (const issue of client.items(operations.listIssues, { params: { owner, repo }, query })) {
      found.push(issue);
    }
    return found;
  },
});

const Attached = Attachment.extend({ on: text });
type Attached = z.output<typeof Attached>;

/** The files attached to the issue or pull request, and to the comment that the event is about. */
export const attachments = defineFact({
  name: 'attachments',
  meaning:
    'The files attached to the issue or pull request (`on` is "issue"), and, if the event is about a comment, those attached to that comment (`on` is "comment"). In a facts file, names are enough.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: list(Attached),
  of: ['issue', 'pull_request'],
  changes: [ways.attached],
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  example: 'attachments.exists(a, a.name.glob("*.{log,txt}"))',
  complete: (written) =>
    Array.isArray(written)
      ? written.map((one, place) =>
          typeof one === 'string' ? { id: place + 1, name: one, on: 'issue' } : { on: 'issue', ...one },
        )
      : written,
  async ask(context) {
    const [ofIssue, ofComment] = await Promise.all([onIssue(context), onComment(context)]);
    return [...ofIssue, ...ofComment];
  },
});

async function onIssue({ client, subject }: AskContext): Promise<readonly Attached[]> {
  const found = await client.call(operations.listIssueAttachments, { params: indexParams(subject) });
  return found.map((one) => ({ ...one, on: 'issue' }));
}

/**
 * Returns the files attached to the comment. The comment lists the files, but each file is also requested separately,
 * so that deleted files are not counted.
 */
async function onComment({ client, subject, ask }: AskContext): Promise<readonly Attached[]> {
  if (subject.comment === undefined) return [];
  const id = subject.comment;
  const { assets } = await ask(requestOf(commentRow));
  const found = await Promise.all(
    assets.map((asset) =>
      client.call(operations.getCommentAttachment, {
        params: { ...repositoryParams(subject), id, attachment_id: asset.id },
      }),
    ),
  );
  return found.map((one) => ({ ...one, on: 'comment' }));
}

/** The tracked times of the issue or pull request. */
export const trackedTimes = defineFact({
  name: 'tracked_times',
  meaning:
    'The tracked times of the issue or pull request, in seconds. An account without write access to issues sees only its own. Not available if the repository does not track time.',
  shows: 'repository',
  visibleTo: 'administrators',
  shape: list(TrackedTime),
  of: ['issue', 'pull_request'],
  changes: [ways.elsewhere],
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  example: 'tracked_times.exists(t, t.time > 8 * 3600)',
  async ask({ client, subject }) {
    const found: TrackedTime[] = [];
    for await (const time of client.items(operations.listTimes, { params: indexParams(subject) }))
      found.push(time);
    return found;
  },
});

/** The timeline of the issue or pull request: comments, reviews and events, oldest first. */
export const timeline = defineFact({
  name: 'timeline',
  meaning:
    'Comments, reviews and events of the issue or pull request, oldest first. `type` decides which members are set. Rules of repositories and organizations see only number and state of issues in other repositories, no comments there, and no text of commits that refer to this one.',
  shows: 'repository',
  visibleTo: 'operators',
  shape: list(TimelineEntry),
  of: ['issue', 'pull_request'],
  changes: [
    ...[ways.edited, ways.closed, ways.labels, ways.milestone, ways.assignees, ways.commented, ways.reviewed],
    ...[ways.pushed, ways.requested, ways.locked, ways.dueDate, ways.elsewhere],
  ],
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  example: 'timeline.exists(e, e.type == "reopen")',
  async ask({ client, subject }) {
    const found: TimelineEntry[] = [];
    for await (const one of client.items(operations.listTimeline, { params: indexParams(subject) }))
      found.push(one);
    return found;
  },
  narrow: (found, subject) => found.map((entry) => narrowEntry(entry, subject)),
});

const scheduled = 'pull_scheduled_merge';
/** Types of timeline entries that end a schedule. A fulfilled one leaves no entry of its own cancellation. */
const endings: ReadonlySet<string> = new Set(['pull_cancel_scheduled_merge', 'merge_pull']);

/** The scheduled merge of the pull request, or null. */
export const scheduledMerge = defineFact({
  name: 'scheduled_merge',
  meaning:
    'The merge that the forge makes when the checks succeed: the account that scheduled it (`user`) and the time of scheduling (`at`); null if none is scheduled, or if it was cancelled or made. Derived from the timeline, because the API returns neither the schedule nor its merge method. No event announces it.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: z.object({ user: User, at: instant }).nullable(),
  of: ['pull_request'],
  changes: [ways.scheduled, ways.pushed],
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  example: 'scheduled_merge != null',
  async ask({ client, subject }) {
    let last: { readonly user: User; readonly at: string } | null = null;
    for await (const { type, user, created_at } of client.items(operations.listTimeline, {
      params: indexParams(subject),
    })) {
      if (endings.has(type)) last = null;
      else if (type === scheduled && user && created_at) last = { user, at: created_at };
    }
    return last;
  },
});

/**
 * Narrows a timeline entry, because commits and issues of private repositories that only Reeve's account can read may
 * refer to this issue.
 */
function narrowEntry(entry: TimelineEntry, subject: Subject): unknown {
  const {
    ref_issue: referring,
    ref_comment: comment,
    dependent_issue: dependent,
    tracked_time: time,
  } = entry;
  // An entry for a commit contains the commit title as HTML and identifies the repository only by name.
  const isElsewhere = entry.type === 'commit_ref' || (referring && !isHomeIssue(referring, subject));
  const changed = {
    ...(isElsewhere && { body: '', ref_commit_sha: '' }),
    ...(referring && { ref_issue: narrowIssue(referring, subject) }),
    ...(comment && !isHomeIssue(referring, subject) && { ref_comment: null }),
    ...(dependent && { dependent_issue: narrowIssue(dependent, subject) }),
    ...(time?.issue && { tracked_time: { ...time, issue: narrowIssue(time.issue, subject) } }),
  };
  return Object.keys(changed).length === 0 ? entry : { ...entry, ...changed };
}
