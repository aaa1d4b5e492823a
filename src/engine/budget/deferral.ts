import { count } from '../../platform/count.ts';
import { isRecoverable } from '../../rules/verdict.ts';
import { levelOfChange, type Plan, type PlannedChange, type RefusedChange } from '../proposal.ts';
import { type Budget, shareOfAccount, unreserved } from './budgets.ts';
import { targetKey } from './ledger.ts';
import {
  type Claimant,
  digestOfText,
  type Line,
  lineOfAccount,
  ordinaryLine,
  protectiveLine,
  type WriteHistory,
} from './write-history.ts';

/** A run that a limit or a pause stopped. The run is repeated with the same trigger, from live state. */
export type Deferral = {
  /** Time until the limit ends. */
  readonly afterMs: number;
  /** Reason: the limit or the pause. */
  readonly why: string;
  /** Set if a pause stopped the run: it is repeated as soon as a pause ends. */
  readonly isPaused?: true;
  /**
   * Key of the deferred work, if that work depends only on live state: a later trigger about the same subject with the
   * same key supersedes this one.
   */
  readonly key?: string;
};

type DeferralOptions = {
  readonly past: WriteHistory;
  readonly hour: Budget;
  /** Identity of the trigger. When the run is repeated, it identifies the reservation. */
  readonly owner: string;
  /** Identity of the subject, with which a later run about it takes over the reservation. */
  readonly subject: string;
  /** Digest of the account without write access that caused the run; absent: no such account caused it. */
  readonly stranger?: string | undefined;
  /** Returns whether a change will be sent. Observed changes are not sent and use no budget. */
  readonly isSent: (planned: PlannedChange) => boolean;
  readonly now: Date;
};

/** If changes exceed the budget of a whole hour, the rest is delayed by this time after the first of them were made. */
const hourMs = 3_600_000;
/** Minimum time between two writes to the same target from the reserved part of a budget. */
const reservedPaceMs = 60_000;

/**
 * Returns the plan without the changes that exceed the hourly budgets, and the time at which the run may be repeated.
 * Protective changes go first and may use the whole budget; other changes may use only the unreserved part. Changes of
 * the operator and of organizations go before those of repository files. Each of these two groups waits as a whole:
 * half of the changes could make the conditions false, and the other half would then never be made. The caller records
 * the admitted changes in the ledger in the same step.
 */
export function deferBeyondHour(
  plan: Plan,
  options: DeferralOptions,
): { readonly plan: Plan; readonly deferral?: Deferral } {
  const { past, hour, owner, subject, stranger, isSent, now } = options;
  const sent = plan.changes.filter(isSent);
  const protective = sent.filter(({ change }) => change.protects !== undefined);
  const ordinary = sent.filter((planned) => !protective.includes(planned));
  const rest = unreserved(hour);
  const reserved = { all: hour.all - rest.all, repository: hour.repository - rest.repository };

  const by = { owner, subject };
  const first = admit(protective, { past, by, hour, line: protectiveLine, why: whyOver(hour, 0) });
  const paced = isWithin(first.admitted, past, rest) ? [] : pace(first.admitted, past, now);
  const second = admit(ordinary, {
    past,
    by,
    hour: rest,
    taken: countOf(first.admitted),
    line: ordinaryLine,
    why: whyOver(hour, reserved.all),
  });
  const third =
    stranger === undefined
      ? undefined
      : admit(second.admitted, {
          past,
          by,
          hour: shareOfAccount(hour),
          line: lineOfAccount(stranger),
          why: whyOver(shareOfAccount(hour), 0, ' that one account without write access causes'),
        });
  const lines = [first, second, ...(third ? [third] : [])];
  for (const { claimant } of lines) past.release(claimant);
  for (const { left, line, claimant } of lines) {
    if (left.length > 0) past.reserve(claimant, countOf(left.map((one) => one.planned)), waitOf(left), line);
  }
  const left = [...first.left, ...paced, ...second.left, ...(third?.left ?? [])];
  if (left.length === 0) return { plan };
  const gone = new Set(left.map(({ planned }) => planned));
  const refused = left.map(({ planned, why, afterMs }): RefusedChange => {
    const until = new Date(now.getTime() + afterMs).toISOString();
    return { planned, why: `deferred, ${why}`, until, isLimited: true };
  });
  const [soonest] = left.toSorted((a, b) => a.afterMs - b.afterMs);
  return {
    plan: {
      changes: plan.changes.filter((planned) => !gone.has(planned)),
      refused: [...plan.refused, ...refused],
    },
    deferral: {
      afterMs: soonest?.afterMs ?? hourMs,
      why: soonest?.why ?? '',
      ...deferralKey(left.map(({ planned }) => planned)),
    },
  };
}

/** A change that does not currently fit into the budget. */
type LeftChange = { readonly planned: PlannedChange; readonly afterMs: number; readonly why: string };

/**
 * Admits changes to a line up to its capacity. Changes of the operator and of organizations are admitted before those
 * of repository files.
 */
function admit(
  changes: readonly PlannedChange[],
  {
    past,
    by,
    hour,
    taken = { all: 0, repository: 0 },
    line,
    why,
  }: {
    readonly past: WriteHistory;
    readonly by: { readonly owner: string; readonly subject: string };
    readonly hour: Budget;
    /** Part of this budget that the same run already uses in another line. */
    readonly taken?: Budget;
    readonly line: Line;
    readonly why: (isOfFiles: boolean) => string;
  },
): {
  readonly admitted: readonly PlannedChange[];
  readonly left: readonly LeftChange[];
  readonly line: Line;
  readonly claimant: Claimant;
} {
  const { key } = deferralKey(changes);
  const work = key === undefined || changes.length === 0 ? undefined : digestOfText(`${by.subject}\n${key}`);
  const claimant = { owner: by.owner, work };
  const files = changes.filter((planned) => levelOfChange(planned) === 'repository');
  const own = changes.filter((planned) => !files.includes(planned));
  const all = hour.all - taken.all;
  const ownRoom = roomFor(own.length, all);
  const filesRoom = roomFor(files.length, Math.min(hour.repository - taken.repository, all - ownRoom));
  const wait = (own: number, files: number): number => {
    const wanted = { all: taken.all + own + files, repository: taken.repository + files };
    return past.waitMs(claimant, wanted, hour, line);
  };
  const ownWaitMs = own.length === 0 ? 0 : wait(ownRoom, 0);
  const filesWaitMs = files.length === 0 ? 0 : Math.max(ownWaitMs, wait(ownRoom, filesRoom));
  const leave = (group: readonly PlannedChange[], room: number, waitMs: number): readonly LeftChange[] =>
    group.slice(waitMs > 0 ? 0 : room).map((planned) => ({
      planned,
      afterMs: waitMs > 0 ? waitMs : hourMs,
      why: why(group === files && ownWaitMs === 0),
    }));
  const left = [...leave(own, ownRoom, ownWaitMs), ...leave(files, filesRoom, filesWaitMs)];
  const gone = new Set(left.map(({ planned }) => planned));
  return { admitted: changes.filter((planned) => !gone.has(planned)), left, line, claimant };
}

/**
 * Returns the protective changes that would use the reserved part of the budget although their target was written
 * within the last minute.
 */
function pace(admitted: readonly PlannedChange[], past: WriteHistory, now: Date): readonly LeftChange[] {
  return admitted.flatMap((planned) => {
    const { input, target } = planned.change;
    const lastMs = past.lastWriteMs(targetKey(input.params, target));
    const afterMs = lastMs === undefined ? 0 : lastMs + reservedPaceMs - now.getTime();
    const why = `the reserved part of the budget allows one change per minute for ${target}`;
    return afterMs > 0 ? [{ planned, afterMs, why }] : [];
  });
}

function isWithin(
  changes: readonly PlannedChange[],
  past: WriteHistory,
  { all, repository }: Budget,
): boolean {
  const spent = past.spent();
  const wanted = countOf(changes);
  return spent.all + wanted.all <= all && spent.repository + wanted.repository <= repository;
}

function countOf(changes: readonly PlannedChange[]): Budget {
  const ofFiles = changes.filter((planned) => levelOfChange(planned) === 'repository');
  return { all: changes.length, repository: ofFiles.length };
}

function waitOf(left: readonly LeftChange[]): number {
  return Math.max(...left.map(({ afterMs }) => afterMs));
}

/** Returns the function that describes an exhausted budget. */
function whyOver(
  { all, repository }: Budget,
  reserved: number,
  causing = '',
): (isOfFiles: boolean) => string {
  const kept = reserved > 0 ? `, ${reserved} of them reserved for protective changes` : '';
  return (isOfFiles) =>
    isOfFiles
      ? `over the budget of changes per hour in one repository${causing}, ${all} in all and ${repository} for rules of repositories${kept}`
      : `over the budget of ${count(all, 'change')} per hour in one repository${causing}${kept}`;
}

function roomFor(wanted: number, budget: number): number {
  return Math.min(wanted, Math.max(budget, 0));
}

/** Combines several deferrals into one: the run is repeated when the first of them is due. */
export function joinDeferrals(deferrals: readonly Deferral[]): Deferral | undefined {
  const [first] = deferrals.toSorted((a, b) => a.afterMs - b.afterMs);
  if (first === undefined) return undefined;
  const { afterMs, why } = first;
  const keys = deferrals.flatMap(({ key }) => (key === undefined ? [] : [key]));
  const rules = [...new Set(keys.flatMap((key) => key.split('\n')))].sort();
  return {
    afterMs,
    why,
    ...(deferrals.some(({ isPaused }) => isPaused) ? { isPaused: true } : {}),
    ...(keys.length === deferrals.length ? { key: rules.join('\n') } : {}),
  };
}

/**
 * Returns the deferral key. A rule that depends on something that happened, instead of on live state only, needs the
 * original trigger, so it has no key.
 */
export function deferralKey(deferred: readonly PlannedChange[]): { readonly key?: string } {
  const rules = new Map(deferred.flatMap(({ proposals }) => proposals.map(({ rule }) => [rule.id, rule])));
  if (![...rules.values()].every(isRecoverable)) return {};
  return { key: [...rules.keys()].sort().join('\n') };
}
