import type { Level } from '../../rules/rule.ts';

const dayMs = 86_400_000;

/** Texts of a kind of incident. */
type KindRow = {
  /** The heading of its list, followed by a count. */
  readonly title: string;
  /** What `reeve doctor` examines, and when the check fails. */
  readonly looks: string;
  readonly fails: string;
  readonly remedy: string;
  /** Page of the dashboard with the details. */
  readonly page: string;
  /** An incident not seen for so long is over; absent: it lasts until it is cleared. */
  readonly lastsMs?: number;
};

/** All kinds of incidents. A new kind is a row here. */
export const incidentKinds = {
  'rule-failed': {
    title: 'Rules that failed',
    looks:
      'Failed rules: a condition or step could not be evaluated, the forge refused a change, or a limit keeps a protective change waiting.',
    fails:
      'A rule failed in the last seven days and has not passed on the same subject since. A rule whose file has changed since is not listed.',
    remedy:
      '`reeve explain RUN` shows the condition or step; correct the rule, or the objects on the forge that it names. Where a limit keeps a change waiting, it is made when the limit ends; raise the budget if that is too late.',
    page: 'runs',
    lastsMs: 7 * dayMs,
  },
  'merged-elsewhere': {
    title: 'Merges into another branch than planned',
    looks: 'Merges of pull requests whose base was changed in the moment of the merge.',
    fails:
      'A pull request was merged into a branch for which its rule had not judged it, in the last seven days.',
    remedy:
      'Look at the pull request, where a comment names both branches, and revert the merge if it does not belong there.',
    page: 'runs',
    lastsMs: 7 * dayMs,
  },
  'sweep-failed': {
    title: 'Sweeps that did not reach every item',
    looks: 'The latest sweep of each rule.',
    fails: 'The forge refused a list, so its items were not checked.',
    remedy: 'Give the account the access that the message names, or exclude that location with `in`.',
    page: 'sweeps',
  },
  'account-changed': {
    title: 'Logins that another account has now',
    looks:
      'The accounts that rules name: collaborators, members of teams, allow lists of protections, reviewers and assignees.',
    fails:
      'A rule names a login that another account has than when Reeve first used it, or none that Reeve can see. It is given nothing. Not seen again for seven days, it is not listed.',
    remedy:
      '`reeve adopt LOGIN` confirms the account that has the login now; otherwise correct the login in the rule file.',
    page: 'incidents',
    lastsMs: 7 * dayMs,
  },
  'file-broken': {
    title: 'Rule files that cannot be used',
    looks: 'The rule files of repositories and organizations, as last read.',
    fails: 'A file has problems, and none of its rules is in force.',
    remedy: '`reeve check` in a checkout of that repository lists every problem with its position.',
    page: 'rules',
  },
} as const satisfies Record<string, KindRow>;

export type IncidentKind = keyof typeof incidentKinds;

/** Returns the row of a kind, with its optional members. */
export function kindRow(kind: IncidentKind): KindRow {
  return incidentKinds[kind];
}

const maxReason = 2_000;

/** Returns a reason that is short enough to be kept. */
export function shorten(reason: string): string {
  return reason.length > maxReason ? `${reason.slice(0, maxReason - 1)}…` : reason;
}

/** Where an incident belongs, and the latest occasion on which it was seen. */
type Details = {
  /** Identity within the kind: id of a rule, path of a file. */
  readonly key: string;
  /** One or two sentences, without a secret. May repeat what only operators may know. */
  readonly reason: string;
  /** Origin of the rule or file; `operator` where it is about the installation itself. */
  readonly level: Level;
  /** Path of the rule file. */
  readonly source?: string;
  /** Revision of that file (see `LoadedRule.revision`). */
  readonly revision?: string;
  readonly repositoryId?: number;
  /** What the rule was evaluated on: the lane of a delivery, the item of a sweep. */
  readonly subject?: string;
  /** Id of the run. */
  readonly run?: string;
  /** Commit that the file was read from. */
  readonly commit?: string;
  /** True where it was seen in a sweep. */
  readonly isSweep?: boolean;
  /** True where the reason may be shown to everyone who can read the repository of the rule. */
  readonly isPublic?: boolean;
};

/** One occasion on which something went wrong, to be counted. */
export type Occurrence = Details & { readonly kind: IncidentKind; readonly at: Date };

/** Something that went wrong once or more often and has not been resolved. */
export type Incident = Details & {
  readonly kind: IncidentKind;
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
};

/** Returns whether an incident still counts at an instant. One from the far future, of a clock that was wrong, does not. */
export function isOpen({ kind, lastAt }: Pick<Incident, 'kind' | 'lastAt'>, now: Date): boolean {
  const { lastsMs } = kindRow(kind);
  return lastsMs === undefined || Math.abs(now.getTime() - lastAt.getTime()) < lastsMs;
}
