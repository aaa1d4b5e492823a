import type { Difference } from '../differences.ts';
import { onForgejo } from './row.ts';

/** Issues, labels, milestones, statuses, times and dependencies. */
export const issues: readonly Difference[] = [
  onForgejo(
    'Forgejo sends neither X-Total-Count nor links with dependencies.',
    'dependencies > are added, listed from both ends and removed',
    'dependencies > come in pages, of blocks without headers',
    'dependencies > reach into other repositories, where what cannot be read is a stub',
  ),
  onForgejo(
    'Forgejo has no operation that locks an issue, and answers 404.',
    'the rest of issues, milestones and labels > an issue > is locked for those who cannot write',
    'the rest of issues, milestones and labels > an issue > answers PUT /issues/1/lock by role',
    'the rest of issues, milestones and labels > an issue > answers DELETE /issues/1/lock by role',
    'reactions > on the issue > are closed to those who cannot write while the issue is locked',
    'reactions > on the comment > are closed to those who cannot write while the issue is locked',
    'the timeline > of an issue > tells locks with their reason, and pins',
  ),
  onForgejo(
    'Forgejo answers 500 for an issue that cannot be pinned.',
    'the rest of issues, milestones and labels > an issue > is not pinned twice',
  ),
  onForgejo(
    'Forgejo answers the first instant of the calendar for a due date that an edit takes away.',
    'the rest of issues, milestones and labels > an issue > is due at the end of a day',
  ),
  onForgejo(
    'Forgejo keeps the time of day of the due date of a milestone.',
    'the rest of issues, milestones and labels > a milestone > is edited, closed, opened; an absent due date goes',
  ),
  onForgejo(
    'Forgejo has neither projects nor content_version of issues.',
    'issues > when opened > carry what a writer gives them',
    'answers > of listIssues have every member of the contract',
    'answers > of getIssue have every member of the contract',
  ),
  onForgejo(
    'Forgejo takes an assignee who cannot write.',
    'issues > when opened > with an assignee who cannot write here are refused',
  ),
  onForgejo(
    'Forgejo lists milestones of every state unless asked otherwise, those without a due date last.',
    'issues > milestones > are listed by due date, those without one last, open ones unless asked otherwise',
  ),
  onForgejo(
    'Forgejo answers a combined state of warning where the worst status is one.',
    'statuses > combines ["success","warning"] into failure',
  ),
  onForgejo(
    'Forgejo answers an empty state for a commit without statuses, known or not.',
    'statuses > is pending with null statuses where none was reported',
    'statuses > is reported by writers, read by readers, and needs a commit',
  ),
  onForgejo(
    'Forgejo answers 500 for time that is tracked for an unknown account.',
    'tracked times > may be tracked for others by administrators',
  ),
];
