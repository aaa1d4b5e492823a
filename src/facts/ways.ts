import type { Family } from '../contract/events/event-families.ts';

/** An event as `on` names it: a family, or a family and an activity. */
type EventName = Family | `${Family}.${string}`;

/** One way in which the value of a fact changes. */
export type Way = {
  /** What happens, as a clause. */
  readonly what: string;
  /** The events that the forge sends because of it. Empty: it sends none that is about the item. */
  readonly events: readonly EventName[];
  /** The forge that sends none of these events. */
  readonly silentOn?: 'Gitea' | 'Forgejo';
  /** Set for changes of settings, which are rare, and which no warning is about. */
  readonly isSetting?: true;
};

const ofBoth = (...activities: readonly string[]): readonly EventName[] =>
  activities.flatMap((one) => [`pull_request.${one}` as const, `issues.${one}` as const]);

/**
 * The ways in which values of issues and pull requests change. Source: forge `services/webhook/notifier.go`, and
 * test/flows/ways.test.ts, which makes each change on a forge.
 */
export const ways = {
  pushed: { what: 'the head branch is pushed', events: ['pull_request.synchronized'] },
  basePushed: { what: 'the base branch is pushed', events: ['push'] },
  retargeted: { what: 'another base branch is chosen', events: ['pull_request.edited'] },
  edited: { what: 'title or text is edited', events: ofBoth('edited') },
  closed: { what: 'it is closed or reopened', events: ofBoth('closed', 'reopened') },
  merged: { what: 'it is merged', events: ['pull_request.closed'] },
  labels: { what: 'a label is added or removed', events: ofBoth('label_updated', 'label_cleared') },
  labelEdited: { what: 'a label of the repository is renamed or deleted', events: [], isSetting: true },
  assignees: { what: 'it is assigned or unassigned', events: ofBoth('assigned', 'unassigned') },
  milestone: { what: 'it gets or loses a milestone', events: ofBoth('milestoned', 'demilestoned') },
  milestoneEdited: { what: 'a milestone is edited or closed', events: [], isSetting: true },
  locked: { what: 'it is locked or unlocked', events: [] },
  dueDate: { what: 'a due date is set', events: [] },
  attached: { what: 'a file is attached', events: [] },
  reacted: { what: 'a reaction is added', events: [] },
  commented: {
    what: 'a comment is written, edited or deleted',
    events: ['issue_comment', 'pull_request_comment'],
  },
  reviewed: { what: 'a review is submitted', events: ['pull_request_review'] },
  dismissed: { what: 'a review is dismissed or deleted', events: [] },
  requested: {
    what: 'a review of an account is requested, or the request is withdrawn',
    events: ['pull_request.review_requested', 'pull_request.review_request_removed'],
  },
  teamRequested: { what: 'a request for a review of a team is withdrawn', events: [] },
  ran: {
    what: 'a workflow ends',
    events: ['status', 'action_run_success', 'action_run_failure', 'action_run_recover'],
  },
  reported: { what: 'a program writes a status', events: ['status'], silentOn: 'Forgejo' },
  conflicted: { what: 'the forge has computed whether there is a conflict', events: [] },
  scheduled: { what: 'a merge is scheduled or cancelled', events: [] },
  protected: { what: 'the protection of a branch or tag changes', events: [], isSetting: true },
  permitted: { what: 'the access of an account changes', events: [] },
  joined: { what: 'the members of a team change', events: [] },
  configured: { what: 'the settings of the repository or organization change', events: [], isSetting: true },
  elsewhere: { what: 'something else than this item changes', events: [] },
  time: { what: 'time passes', events: [] },
} as const satisfies Readonly<Record<string, Way>>;

/**
 * The ways in which members of an issue or a pull request change; `base.ref` is a member of a member. A member that is not
 * listed never changes.
 */
export const itemWays: Readonly<Record<string, readonly Way[]>> = {
  title: [ways.edited],
  body: [ways.edited],
  state: [ways.closed],
  closed_at: [ways.closed],
  labels: [ways.labels, ways.labelEdited],
  milestone: [ways.milestone, ways.milestoneEdited],
  assignee: [ways.assignees],
  assignees: [ways.assignees],
  is_locked: [ways.locked],
  due_date: [ways.dueDate],
  comments: [ways.commented],
  assets: [ways.attached],
  updated_at: [
    ...[ways.edited, ways.closed, ways.labels, ways.milestone, ways.assignees, ways.commented],
    ...[ways.locked, ways.dueDate, ways.elsewhere],
  ],
};

/** The ways in which members that only pull requests have change. */
export const pullWays: Readonly<Record<string, readonly Way[]>> = {
  ...itemWays,
  draft: [ways.edited],
  merged: [ways.merged],
  merged_at: [ways.merged],
  merged_by: [ways.merged],
  merge_commit_sha: [ways.merged],
  requested_reviewers: [ways.requested],
  requested_reviewers_teams: [ways.teamRequested],
  review_comments: [ways.reviewed],
  base: [ways.retargeted, ways.basePushed],
  'base.ref': [ways.retargeted],
  'base.label': [ways.retargeted],
  'base.repo': [ways.configured],
  head: [ways.pushed],
  'head.ref': [],
  'head.label': [],
  'head.repo': [ways.configured],
  merge_base: [ways.pushed, ways.retargeted, ways.basePushed],
  additions: [ways.pushed, ways.retargeted, ways.basePushed],
  deletions: [ways.pushed, ways.retargeted, ways.basePushed],
  changed_files: [ways.pushed, ways.retargeted, ways.basePushed],
};
