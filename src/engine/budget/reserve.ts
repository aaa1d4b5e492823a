import type { Plan } from '../plan.ts';
import { levelOfChange, type PlannedChange } from '../proposal.ts';
import { isSent, type RunInput } from '../run-input.ts';
import { budgets } from './budgets.ts';
import { type Deferral, deferBeyondHour } from './deferral.ts';
import { targetKey } from './ledger.ts';
import { type BudgetLedger, digestOfText, type LedgerEntry, type WriteHistory } from './write-history.ts';

/** A plan that was made on what was written of late, and what came of it besides. */
type Made = { readonly plan: Plan };

/** A plan whose changes have their place in the hourly budgets. */
export type Reserved<M extends Made> = {
  /** What was planned, without the changes that the budgets have no room for now. */
  readonly made: M;
  /** Set where changes were left out: when the same trigger is to run again. */
  readonly deferral?: Deferral | undefined;
  /** Returns the places of the changes that were not applied; takes the ids of those that were. */
  release(applied: ReadonlySet<string>): Promise<void>;
};

/** Where a plan goes: the ledger, and the place in it. Absent: nothing is counted. */
export type LedgerPlace = { readonly ledger: BudgetLedger; readonly place: number | string };

/**
 * Makes a plan on what was written where it goes, and reserves room in the hourly budgets for the changes that will be sent: one
 * step, so that a run beside this one, in whatever process, cannot spend the same budget. `makePlan` may be called several times.
 */
export async function reserve<M extends Made>(
  makePlan: (past: WriteHistory | undefined) => M,
  at: LedgerPlace | undefined,
  input: RunInput,
): Promise<Reserved<M>> {
  if (at === undefined) return { made: makePlan(undefined), release: async () => {} };
  const { ledger, place } = at;
  const { made, deferral, noted, name } = await ledger.edit(place, (past) =>
    reserveIn(past, makePlan(past), input),
  );
  return {
    made,
    deferral,
    async release(applied) {
      const notSent = noted.flatMap(({ id }, at) => (applied.has(id) ? [] : [at]));
      if (notSent.length === 0) return;
      // Where this cannot be stored, they count for an hour although they were not made. What was made is recorded all the same.
      await ledger.edit(place, (past) => past.takeBack(name, notSent)).catch(() => {});
    },
  };
}

function reserveIn<M extends Made>(past: WriteHistory, wanted: M, input: RunInput) {
  // The trigger holds the place in the order of those that wait.
  const { delivery = input.id, item = '' } = input.trigger;
  const { plan, deferral } = deferBeyondHour(wanted.plan, {
    past,
    hour: (input.budgets ?? budgets).hour,
    owner: digestOfText(`${delivery} ${item}`),
    isSent: (planned) => isSent(planned, input),
    now: input.now,
  });
  const noted = plan.changes.filter((planned) => isSent(planned, input));
  const name = past.record(noted.map((planned) => entryOf(planned, input.now)));
  return { made: { ...wanted, plan }, deferral, noted, name };
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
