import type { Level } from '../../rules/rule.ts';
import type { ReportedFailure } from '../../rules/sources/report.ts';
import type { Verdict } from '../../rules/verdict.ts';
import type { Run } from '../record.ts';

const dayMs = 86_400_000;

/** Texts that describe a kind of incident. */
type KindRow = {
  /** Heading of the list of incidents, followed by their number. */
  readonly title: string;
  /** What the check of `reeve doctor` examines; `fails` describes when the check fails. */
  readonly looks: string;
  readonly fails: string;
  readonly remedy: string;
  /** Page of the dashboard with the details; empty: the overview. */
  readonly page: string;
  /** Lifetime of an incident that does not occur again. If absent, the incident lasts until it is cleared. */
  readonly lastsMs?: number;
  /** Set if rules of the operator see less than they should, or cannot report it: the heartbeat is not sent. */
  readonly isSevere?: true;
};

/** All kinds of incidents. To add a kind, add a row to this table. */
export const incidentKinds = {
  'rule-failed': {
    title: 'Rules that failed',
    looks:
      'Failed rules: a condition or step could not be evaluated, the forge refused a change, or a limit keeps a protective change waiting.',
    fails:
      'A rule failed in the last seven days and has not passed on the same subject since. A rule whose file has changed since is not listed.',
    remedy:
      '`reeve explain RUN` shows the condition or step; correct the rule, or the objects on the forge that it names. If a limit keeps a change waiting, the change is made when the limit ends; if that is too late, raise the budget, restart Reeve, and `reeve rerun` the deferred deliveries, which `reeve deliveries --state deferred` lists.',
    page: 'runs',
    lastsMs: 7 * dayMs,
  },
  'merged-elsewhere': {
    title: 'Merges into another branch than planned',
    looks: 'Merges of pull requests whose base was changed at the moment of the merge.',
    fails:
      'In the last seven days, a pull request was merged into a branch for which its rule had not evaluated it.',
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
    isSevere: true,
  },
  'rule-blind': {
    title: 'Rules that cannot see what they need',
    looks:
      'What the operator’s rules read, every ten minutes, or every hour with more than 20 repositories and nothing found: runners, organizations, facts in the served repositories, and whether `in` includes a served repository.',
    fails:
      'A rule sees no runner or organization, or only some, may not read a fact in a served repository or its organization, or includes no served repository.',
    remedy:
      'Give the account the access that the message names, or correct `in`; `reeve rules` lists the rules.',
    page: 'rules',
    isSevere: true,
  },
  'rule-hindered': {
    title: 'Rules that cannot act where they should',
    looks:
      'What the operator’s rules change, every ten minutes, or every hour with more than 20 repositories and nothing found: access in the served repositories, and labels.',
    fails:
      'A rule has an action that the account may not use in a served repository, or names a label that does not exist there.',
    remedy:
      'Give the account the access that the message names, create the label, or restrict the rule with `in`; `reeve rules` lists the rules.',
    page: 'rules',
  },
  'secret-unusable': {
    title: 'Named secrets that cannot be used',
    looks:
      'The named secrets, every ten minutes: those that rules and settings name exist, and their addresses may be reached and resolve.',
    fails:
      'A secret does not exist, is no URL although messages are sent to it, its host is neither public nor listed under `notify-hosts`, or its name cannot be resolved.',
    remedy:
      'Correct the secret, or list its host under `notify-hosts`; `reeve notify NAME --test` sends a test message.',
    page: '',
    isSevere: true,
  },
  'hook-silent': {
    title: 'Webhooks that do not deliver',
    looks:
      'The hooks of the locations under `webhook`, every ten minutes, or every hour with more than 20 locations and nothing found, where the account may list them.',
    fails:
      'A hook was deleted, disabled, or points to another address: events of that location arrive late, when Reeve looks for missed ones, or never.',
    remedy:
      '`reeve setup` creates or corrects the hook. If the hook points to another address, another Reeve may run there: run it only if that one is stopped for good.',
    page: '',
    isSevere: true,
  },
  'account-changed': {
    title: 'Logins that another account has now',
    looks:
      'The accounts that rules name: collaborators, members of teams, allow lists of protections, reviewers and assignees.',
    fails:
      'A rule names a login that belongs to a different account than when Reeve first used it, or to no account that Reeve can see. Nothing is granted to this login. If this does not occur again within seven days, it is no longer listed.',
    remedy:
      '`reeve adopt LOGIN` confirms the account that has the login now; otherwise correct the login in the rule file.',
    page: '',
    lastsMs: 7 * dayMs,
  },
  'file-broken': {
    title: 'Invalid rule files',
    looks: 'The rule files of repositories and organizations, as last read.',
    fails:
      'A file has problems. Its last valid version stays in force, as the message says; without one, none of its rules is in force.',
    remedy: '`reeve check` in a checkout of that repository lists every problem with its position.',
    page: 'rules',
    isSevere: true,
  },
} as const satisfies Record<string, KindRow>;

export type IncidentKind = keyof typeof incidentKinds;

/** Returns the row of a kind, including its optional fields. */
export function kindRow(kind: IncidentKind): KindRow {
  return incidentKinds[kind];
}

const maxReason = 2_000;

/** Returns a reason, shortened for storage. */
export function shorten(reason: string): string {
  return reason.length > maxReason ? `${reason.slice(0, maxReason - 1)}…` : reason;
}

/** What an incident is about, and its latest occurrence. */
type Details = {
  /** Identity within the kind: the id of a rule, or the path of a file. */
  readonly key: string;
  /** One or two sentences that do not contain secrets. May contain details that only operators may see. */
  readonly reason: string;
  /** Level of the rule or file; `operator` if the incident concerns the installation itself. */
  readonly level: Level;
  /** Path of the rule file. */
  readonly source?: string;
  /** Revision of the rule file (see `LoadedRule.revision`). */
  readonly revision?: string;
  readonly repositoryId?: number;
  /** Subject of the evaluation: the lane of a delivery, or the item of a sweep. */
  readonly subject?: string;
  /** Id of the run. */
  readonly run?: string;
  /** Commit from which the rule file was read. */
  readonly commit?: string;
  /** True if the incident occurred in a sweep. */
  readonly isSweep?: boolean;
  /** True if everyone who can read the repository of the rule may see the reason. */
  readonly isPublic?: boolean;
};

/** A single occurrence of a problem. */
export type Occurrence = Details & { readonly kind: IncidentKind; readonly at: Date };

/** A problem that has occurred at least once and is not resolved. */
export type Incident = Details & {
  readonly kind: IncidentKind;
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
};

/**
 * Returns whether an incident is open at an instant. An incident that is dated far in the future because of a wrong
 * clock is not open.
 */
export function isOpen(
  { kind, lastAt }: { readonly kind: IncidentKind; readonly lastAt: Date },
  now: Date,
): boolean {
  const { lastsMs } = kindRow(kind);
  return lastsMs === undefined || Math.abs(now.getTime() - lastAt.getTime()) < lastsMs;
}

/**
 * Returns whether an incident shows that rules of the operator see less than they should. Others cannot cause one,
 * because the files and rules of repositories and organizations do not count.
 */
export function isSevere({ kind, level }: Pick<Incident, 'kind' | 'level'>): boolean {
  return level === 'operator' && kindRow(kind).isSevere === true;
}

/**
 * Results of the rules of a run: rules that failed or named a stranger, and rules that were evaluated without a
 * failure.
 */
export type RuleResults = {
  readonly failed: readonly Occurrence[];
  readonly passed: readonly string[];
};

/** Why a rule failed. */
type RuleFailure = { readonly reason: string; readonly isPublic: boolean };

/**
 * Returns the rules that failed in a run, each once with its first reason, and the rules that passed. A rule fails if
 * its conditions or steps cannot be evaluated, if the forge refuses one of its changes, or if a limit delays a
 * protective change.
 */
export function ruleResultsOf(run: Run, about: { readonly repositoryId?: number | undefined }): RuleResults {
  const failures = new Map<string, RuleFailure>();
  const add = (rule: string, failure: RuleFailure): void => {
    if (!failures.has(rule)) failures.set(rule, failure);
  };
  // An unusable file has a separate verdict in the run, and is a different kind of incident.
  const verdicts = run.rules.filter(({ rule, source }) => rule !== source);
  for (const { rule, verdict, reason = '', code } of verdicts) {
    if (verdict === 'failed') add(rule, { reason, isPublic: isInternal(code) });
  }
  const changes = new Map(run.changes.map((change) => [change.id, change]));
  for (const { change: id, status, error } of run.outcomes) {
    const change = status === 'failed' ? changes.get(id) : undefined;
    const reason = `${change?.action} ${change?.target}: ${error ?? ''}`;
    for (const rule of change?.rules ?? []) add(rule, { reason, isPublic: false });
  }
  for (const { change, why, until } of run.refused) {
    if (change.protects === undefined || until === undefined || change.observed) continue;
    const reason = `${change.target} protects its subject, and waits until ${until}: ${why}. Nothing is merged there until then.`;
    for (const rule of change.rules) add(rule, { reason, isPublic: true });
  }
  const misplaced = new Set(
    run.outcomes.flatMap((outcome) => (outcome.misplaced ? (changes.get(outcome.change)?.rules ?? []) : [])),
  );
  const byRule = new Map(verdicts.map((verdict) => [verdict.rule, verdict]));
  const strangers = run.refused.flatMap(({ change, why, account }): readonly Occurrence[] => {
    const verdict = byRule.get(change.rules[0] ?? '');
    if (account === undefined || verdict === undefined || run.mode !== 'enforce' || change.observed)
      return [];
    const occurrence = occurrenceOf(verdict, { reason: why, isPublic: false }, run, about.repositoryId);
    return [{ ...occurrence, kind: 'account-changed', key: account.toLowerCase() }];
  });
  return {
    failed: [
      ...verdicts.flatMap((verdict) => {
        const failure = failures.get(verdict.rule);
        if (failure === undefined) return [];
        const occurrence = occurrenceOf(verdict, failure, run, about.repositoryId);
        return misplaced.has(verdict.rule)
          ? [occurrence, { ...occurrence, kind: 'merged-elsewhere' as const }]
          : [occurrence];
      }),
      ...new Map(strangers.map((one) => [one.key, one])).values(),
    ],
    passed: verdicts
      .filter(({ rule, verdict }) => !failures.has(rule) && verdict !== 'skipped')
      .map(({ rule }) => rule),
  };
}

/**
 * Returns whether an error comes from the rule itself, so that people other than operators may see it. A response of
 * the forge may name objects that only the bot's account can see.
 */
function isInternal(code: string | undefined): boolean {
  return code === undefined || code === 'rules-broken' || code === 'usage';
}

function occurrenceOf(
  { rule, source, level = 'operator', revision }: Verdict,
  { reason, isPublic }: RuleFailure,
  { id, trigger }: Run,
  repositoryId: number | undefined,
): Occurrence {
  return {
    kind: 'rule-failed',
    key: rule,
    at: new Date(trigger.at),
    reason: shorten(reason),
    level,
    source,
    run: id,
    ...(isPublic ? { isPublic } : {}),
    ...(trigger.kind === 'schedule' ? { isSweep: true } : {}),
    ...(revision === undefined ? {} : { revision }),
    ...(repositoryId === undefined ? {} : { repositoryId }),
  };
}

/** Returns the failures of the rules of a repository's file, without details that only operators may see. */
export function reportedFailuresOf(
  incidents: readonly Incident[],
  repositoryId: number,
): readonly ReportedFailure[] {
  return incidents
    .filter(
      ({ kind, level, repositoryId: at }) =>
        kind === 'rule-failed' && level === 'repository' && at === repositoryId,
    )
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ key, count, lastAt, reason, isPublic }) => {
      const name = key.slice(key.lastIndexOf('#') + 1);
      const times = count === 1 ? 'once' : `${count} times`;
      const last = lastAt.toISOString().slice(0, 16).replace('T', ' ');
      const why = isPublic ? reason : 'the forge refused a request; the operator of Reeve sees which';
      // Reported at the 1st, 10th, 100th, … occurrence, because a rule that fails on every event must not post a status
      // for each event.
      const magnitude = Math.floor(Math.log10(count));
      return {
        text: `rule ${name} failed ${times}, last ${last} UTC: ${why}`,
        identity: `failed ${magnitude} ${key}`,
      };
    });
}
