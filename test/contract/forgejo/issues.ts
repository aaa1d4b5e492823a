import type { Difference } from '../differences.ts';
import { onForgejo } from './row.ts';

/** Issues, labels, milestones, statuses, times and dependencies. */
export const issues: readonly Difference[] = [
  onForgejo(
    'Forgejo sends neither X-Total-Count nor links with dependencies.',
    'dependencies > are added, listed for both issues, and removed',
    'dependencies > come in pages, without paging headers for `blocks`',
    'dependencies > can refer to other repositories; issues that the caller cannot read are shown as placeholders',
  ),
  onForgejo(
    'Forgejo has no operation that locks an issue, and returns 404.',
    'issue moderation, milestones and organization labels > an issue > can be locked for accounts without write access',
    'issue moderation, milestones and organization labels > an issue > returns the expected status for each role on PUT /issues/1/lock',
    'issue moderation, milestones and organization labels > an issue > returns the expected status for each role on DELETE /issues/1/lock',
    'reactions > on the issue > are closed to accounts without write access while the issue is locked',
    'reactions > on the comment > are closed to accounts without write access while the issue is locked',
    'the timeline > of an issue > includes locks with their reason, and pins',
  ),
  onForgejo(
    'Forgejo returns 500 for an issue that cannot be pinned.',
    'issue moderation, milestones and organization labels > an issue > cannot be pinned twice',
  ),
  onForgejo(
    'Forgejo returns the first instant of the calendar as the due date after an edit has cleared it.',
    'issue moderation, milestones and organization labels > an issue > is due at the end of a day',
  ),
  onForgejo(
    'Forgejo keeps the time of day in the due date of a milestone.',
    'issue moderation, milestones and organization labels > a milestone > is edited, closed and reopened, and loses an omitted due date',
  ),
  onForgejo(
    'Forgejo has neither projects nor content_version in issues.',
    'issues > when opened > get every field that a writer sets',
    'responses > of listIssues have every field of the contract',
    'responses > of getIssue have every field of the contract',
  ),
  onForgejo(
    'Forgejo accepts an assignee who cannot write.',
    'issues > when opened > are refused with an assignee who cannot write here',
  ),
  onForgejo(
    'Forgejo lists milestones of every state by default, those without a due date last.',
    'issues > milestones > are listed by due date, those without one first, only open ones by default',
  ),
  onForgejo(
    'Forgejo returns a combined state of warning if the worst status is a warning.',
    'commit statuses > with the states ["success","warning"] combine into failure',
  ),
  onForgejo(
    'Forgejo returns an empty state for a commit without statuses, whether or not the commit exists.',
    'commit statuses > combine into pending, with a null list, if none was reported',
    'commit statuses > are reported by writers and read by readers, and need an existing commit',
  ),
  onForgejo(
    'Forgejo returns 500 for time that is tracked for an unknown account.',
    'tracked times > can be tracked for others by administrators',
  ),
];
