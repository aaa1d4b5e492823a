import type { Plan } from '../plan.ts';
import { levelOfChange, type PlannedChange } from '../proposal.ts';
import { isSent, type RunInput } from '../run-input.ts';
import { budgets } from './budgets.ts';
import { type Deferral, deferBeyondHour } from './deferral.ts';
import { type LedgerEntry, targetKey, type WriteHistory } from './ledger.ts';

/** A plan whose changes have their place in the hourly budgets. */
export type Reserved = {
  /** The plan without the changes that the budgets have no room for now. */
  readonly plan: Plan;
  /** Set where changes were left out: when the same trigger is to run again. */
  readonly deferral?: Deferral | undefined;
  /** Returns the places of the changes that were not applied; takes the ids of those that were. */
  release(applied: ReadonlySet<string>): void;
};

/**
 * Reserves room in the hourly budgets for the changes that will be sent. Synchronous, so that a run beside this one cannot
 * spend the same budget. `past` is what was written where the plan goes; absent: nothing is counted.
 */
export function reserve(plan: Plan, past: WriteHistory | undefined, input: RunInput): Reserved {
  if (past === undefined) return { plan, release() {} };
  // The trigger holds the place in the order of those that wait.
  const { delivery = input.id, item = '' } = input.trigger;
  const { plan: made, deferral } = deferBeyondHour(plan, {
    past,
    hour: (input.budgets ?? budgets).hour,
    owner: `${delivery} ${item}`,
    isSent: (planned) => isSent(planned, input),
    now: input.now,
  });
  const noted = made.changes.filter((planned) => isSent(planned, input));
  const takeBack = past.record(noted.map((planned) => entryOf(planned, input.now)));
  return {
    plan: made,
    deferral,
    release: (applied) => takeBack(noted.flatMap(({ id }, place) => (applied.has(id) ? [] : [place]))),
  };
}

function entryOf(planned: PlannedChange, now: Date): LedgerEntry {
  const { input, target, value, before } = planned.change;
  return {
    atMs: now.getTime(),
    level: levelOfChange(planned),
    target: targetKey(input.params, target),
    value: JSON.stringify(value) ?? '',
    before: JSON.stringify(before) ?? '',
  };
}
