import { isRecoverable } from '../../rules/recoverable.ts';
import type { Plan } from '../plan.ts';
import { levelOfChange, type PlannedChange } from '../proposal.ts';
import type { Budget } from './budgets.ts';
import type { WriteHistory } from './write-history.ts';

/** A run that an hourly budget or a pause stopped: it keeps its trigger and runs again from live state. */
export type Deferral = {
  /** Time until the budget has room for it. */
  readonly afterMs: number;
  /** The budget or the pause. */
  readonly why: string;
  /** A pause stopped it: it runs again as soon as a pause ends. */
  readonly isPaused?: true;
  /**
   * What the trigger runs again for, where live state alone decides that: a later trigger about the same subject with the
   * same key does all that this one would do.
   */
  readonly key?: string;
};

type DeferralOptions = {
  readonly past: WriteHistory;
  readonly hour: Budget;
  /** Identity of the trigger, by which its reservation is found when it runs again. */
  readonly owner: string;
  /** Says whether a change is to be sent: what is only observed spends nothing. */
  readonly isSent: (planned: PlannedChange) => boolean;
  readonly now: Date;
};

/** Wait of changes that are more than a whole hour's budget, once the first of them were made. */
const hourMs = 3_600_000;

/**
 * Returns the plan without the changes for which the hourly budgets have no room, and when the run may be repeated. Changes
 * of the operator and organizations go first and together, then those of repository files, together too: half of what rules
 * want could make their conditions false, and the other half would never be made. The caller notes what is left in the
 * ledger in the same moment.
 */
export function deferBeyondHour(
  plan: Plan,
  options: DeferralOptions,
): { readonly plan: Plan; readonly deferral?: Deferral } {
  const { past, hour, owner, isSent, now } = options;
  const sent = plan.changes.filter(isSent);
  const files = sent.filter((planned) => levelOfChange(planned) === 'repository');
  const own = sent.filter((planned) => !files.includes(planned));
  const ownRoom = roomFor(own.length, hour.all);
  const filesRoom = roomFor(files.length, Math.min(hour.repository, hour.all - ownRoom));
  const wait = (all: number, repository: number): number =>
    past.reservations.waitMs(owner, { all, repository }, hour);
  const ownWaitMs = own.length === 0 ? 0 : wait(ownRoom, 0);
  const filesWaitMs = files.length === 0 ? 0 : wait(ownRoom + filesRoom, filesRoom);
  const waitMs = Math.max(ownWaitMs, filesWaitMs);

  const deferred = new Set([
    ...own.slice(ownWaitMs > 0 ? 0 : ownRoom),
    ...files.slice(ownWaitMs > 0 || filesWaitMs > 0 ? 0 : filesRoom),
  ]);
  past.reservations.release(owner);
  if (deferred.size === 0) return { plan };

  const left = [...deferred];
  const ofFiles = left.filter((planned) => files.includes(planned)).length;
  const afterMs = waitMs > 0 ? waitMs : hourMs;
  past.reservations.reserve(owner, { all: left.length, repository: ofFiles }, afterMs);
  const until = new Date(now.getTime() + afterMs).toISOString();
  const isFilesOnly = ofFiles === left.length && ownWaitMs === 0;
  const why = isFilesOnly
    ? `over the budget of changes an hour in one repository, ${hour.all} in all and ${hour.repository} for rules of repositories`
    : `over the budget of ${hour.all} changes an hour in one repository`;
  return {
    plan: {
      changes: plan.changes.filter((planned) => !deferred.has(planned)),
      refused: [...plan.refused, ...left.map((planned) => ({ planned, why: `deferred, ${why}`, until }))],
    },
    deferral: { afterMs, why, ...deferralKey(left) },
  };
}

function roomFor(wanted: number, budget: number): number {
  return Math.min(wanted, Math.max(budget, 0));
}

/** Rules that speak of what happened, and not of how things are, need their own trigger: those have no key. */
export function deferralKey(deferred: readonly PlannedChange[]): { readonly key?: string } {
  const rules = new Map(deferred.flatMap(({ proposals }) => proposals.map(({ rule }) => [rule.id, rule])));
  if (![...rules.values()].every(isRecoverable)) return {};
  return { key: [...rules.keys()].sort().join('\n') };
}
