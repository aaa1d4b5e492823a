import type { ForgeRequest } from '../client/request-log.ts';
import type { Level } from '../rules/rule.ts';
import type { Verdict } from '../rules/verdict.ts';

/**
 * The types of a run, which are the same in the store, on the command line (`--json`), on the dashboard and in the CI
 * summary. Source: section 5 of the rule language. The types are plain data, because later versions must be able to
 * read the data that is stored today.
 */

/** Trigger of a run. */
export type Trigger = {
  readonly door: 'webhook' | 'cron' | 'cli' | 'ci';
  /** The event family (`pull_request`), or `schedule`. */
  readonly kind: string;
  /** The payload's `action` field (`opened`); empty if this kind of event has none. */
  readonly activity: string;
  /** Reeve's id of the delivery. */
  readonly delivery?: string;
  /** Set if the delivery has the same body as an earlier one: it was redelivered, or it was recorded and replayed. */
  readonly repeated?: true;
  /** The change of an earlier run that caused the event, if the event is Reeve's own and triggers other rules. */
  readonly because?: { readonly run: string; readonly change: string };
  /** Set if the sender is Reeve's account, and no recorded write of Reeve explains the event. */
  readonly isByPerson?: true;
  readonly slot?: string;
  readonly item?: string;
  /** Id of the account that caused the event. Absent in runs of earlier versions. */
  readonly sender?: number;
  /** Time of the run, RFC 3339. */
  readonly at: string;
};

/**
 * Returns what started a run, for display: the event with its activity, or for a sweep started by hand that it was,
 * which its slot shows (`sweeps/by-hand.ts`).
 */
export function describeTrigger({ kind, activity, slot = '' }: Trigger): string {
  const byHand = /(#open)?#by hand@[^@]*$/.exec(slot);
  if (byHand) return byHand[1] === undefined ? 'swept by hand' : 'applied by hand';
  return activity === '' ? kind : `${kind}.${activity}`;
}

/** A recorded change; see `actions/change.ts` for the fields of the change itself. */
export type RecordedChange = {
  readonly id: string;
  /** Identities of the rules that requested the change (`source path#rule name`). */
  readonly rules: readonly string[];
  /** The most powerful level of those rules; absent in runs of earlier versions. */
  readonly level?: Level;
  readonly step: string;
  readonly action: string;
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly input: unknown;
  readonly target: string;
  readonly value: unknown;
  readonly before: unknown;
  readonly after: unknown;
  readonly reason: string;
  /** Why the change is irreversible, if it is. */
  readonly irreversible?: string;
  /**
   * Set if the change protects its subject from a merge; see `actions/change.ts`. Absent in runs of earlier versions.
   */
  readonly protects?: 'tightens' | 'may-tighten';
  /**
   * Set if only rules in `observe` mode want the change, so that it is never sent. Absent in runs of earlier versions.
   */
  readonly observed?: true;
};

export type Outcome = {
  readonly change: string;
  readonly status: 'applied' | 'skipped' | 'failed' | 'planned';
  readonly error?: string;
  /** Set if the change was applied in a place other than planned: an incident that no later run resolves. */
  readonly misplaced?: true;
  /** Fields of the result that only the response of the forge contains. Absent in runs of earlier versions. */
  readonly made?: Readonly<Record<string, unknown>>;
};

/** A wanted change that was not sent. */
type RecordedRefusal = {
  readonly change: RecordedChange;
  readonly why: string;
  /** RFC 3339; set if a limit defers the change: the trigger runs again at this instant. */
  readonly until?: string;
  /**
   * Login that no longer belongs to the account of its first use, if that is the reason. Absent in runs of earlier
   * versions.
   */
  readonly account?: string;
};

export type RunMode = 'enforce' | 'observe' | 'plan';

export type Run = {
  readonly schema: 1;
  readonly id: string;
  readonly mode: RunMode;
  readonly trigger: Trigger;
  readonly rules: readonly Verdict[];
  readonly changes: readonly RecordedChange[];
  readonly refused: readonly RecordedRefusal[];
  readonly outcomes: readonly Outcome[];
  /** Number of requests sent to the forge, as counted by the client. */
  readonly requests: number;
  /**
   * The first of these requests, each with its response. Absent in runs of earlier versions and in runs without a
   * forge.
   */
  readonly forgeRequests?: readonly ForgeRequest[];
  /** Number of requests that are missing from that list. Absent: none. */
  readonly forgeRequestsLeftOut?: number;
  readonly ms: number;
};

/** Returns the errors of the changes of a run that a rule wanted and that failed, for example because the forge refused them. */
export function failedChangesOf(
  { changes, outcomes }: Pick<Run, 'changes' | 'outcomes'>,
  rule: string,
): readonly string[] {
  const wanted = new Set(changes.filter(({ rules }) => rules.includes(rule)).map(({ id }) => id));
  return outcomes
    .filter(({ change, status }) => status === 'failed' && wanted.has(change))
    .map(({ error }) => error ?? 'a change failed');
}

/** Returns whether a rule of a run could not be evaluated, or a change failed. */
export function hasFailed({ rules, outcomes }: Pick<Run, 'rules' | 'outcomes'>): boolean {
  return (
    rules.some(({ verdict }) => verdict === 'failed') || outcomes.some(({ status }) => status === 'failed')
  );
}

/** Returns what a run says about a rule that matched and changed nothing; undefined for any other rule. */
export function idleWordsOf({ changes, refused }: Run, { rule, verdict }: Verdict): string | undefined {
  if (verdict !== 'matched') return undefined;
  const all = [...changes, ...refused.map(({ change }) => change)];
  return all.some(({ rules }) => rules.includes(rule)) ? undefined : 'nothing to change';
}
