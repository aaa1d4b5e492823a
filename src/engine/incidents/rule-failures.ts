import type { ReportedFailure } from '../../rules/sources/report.ts';
import type { Verdict } from '../../rules/verdict.ts';
import type { Run } from '../record.ts';
import { type Incident, type Occurrence, shorten } from './incident.ts';

/** What a run says about its rules: which failed, or named a stranger, and which were evaluated without a failure. */
export type RuleResults = {
  readonly failed: readonly Occurrence[];
  readonly passed: readonly string[];
};

/** Why a rule failed. */
type RuleFailure = { readonly reason: string; readonly isPublic: boolean };

/**
 * Returns the rules that failed in a run, each once with its first reason, and those that passed. A rule fails where its
 * conditions or steps could not be evaluated, where the forge refused a change that it asked for, or where a limit keeps a protective
 * change waiting.
 */
export function ruleResultsOf(run: Run, about: { readonly repositoryId?: number | undefined }): RuleResults {
  const failures = new Map<string, RuleFailure>();
  const add = (rule: string, failure: RuleFailure): void => {
    if (!failures.has(rule)) failures.set(rule, failure);
  };
  // A file that cannot be used stands in the run as a verdict of its own, and is an incident of another kind.
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
    const reason = `${change.target} protects what it is about, and waits until ${until}: ${why}. Nothing is merged there before.`;
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

/** An answer of the forge may name what only the account of the bot may know; what the rule itself got wrong does not. */
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

/** Returns the failures of rules in the file of a repository, without what only an operator may know. */
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
      // Reported at the 1st, 10th, 100th … time: a rule that fails on every event must not post a status for each.
      const magnitude = Math.floor(Math.log10(count));
      return {
        text: `rule ${name} failed ${times}, last ${last} UTC: ${why}`,
        identity: `failed ${magnitude} ${key}`,
      };
    });
}
