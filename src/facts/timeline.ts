import type { Subject } from '../contract/events/subject.ts';
import { operations } from '../contract/operations.ts';
import { TimelineEntry } from '../contract/resources/timeline.ts';
import { list } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { indexParams, isHomeIssue, narrowIssue } from './where.ts';

/** The course of the issue or pull request: comments, reviews and events, oldest first. */
export const timeline = defineFact({
  name: 'timeline',
  meaning:
    'Comments, reviews and events of the issue or pull request, oldest first. `type` decides which members are set. Rules of repositories and organizations see only number and state of issues in other repositories, no comments there, and no text of commits that refer to this one.',
  shows: 'repository',
  visibleTo: 'operators',
  shape: list(TimelineEntry),
  of: ['issue', 'pull_request'],
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

/** Commits and issues of repositories that nobody here may read can refer to this one: the account of Reeve may read them. */
function narrowEntry(entry: TimelineEntry, subject: Subject): unknown {
  const {
    ref_issue: referring,
    ref_comment: comment,
    dependent_issue: dependent,
    tracked_time: time,
  } = entry;
  // The entry of a commit says its title as HTML, and where it is by name alone.
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
