import { subjectKey } from '../../actions/sent-messages.ts';
import { operations } from '../../contract/operations.ts';
import { senderPermission } from '../../facts/collaborators.ts';
import { requestOf } from '../../facts/fact.ts';
import { isWriter } from '../../facts/write-access.ts';
import { ReeveError } from '../../platform/errors.ts';
import { levelOfChange, type Plan, type PlannedChange } from '../proposal.ts';
import { isSent, type RunInput } from '../run-context.ts';
import { budgets, shareOfAccount } from './budgets.ts';
import { type Deferral, deferBeyondHour } from './deferral.ts';
import { writeOf } from './ledger.ts';
import {
  type BudgetLedger,
  digestOfAccount,
  digestOfText,
  type LedgerEntry,
  type WriteHistory,
} from './write-history.ts';

/** A plan that takes the recent writes into account, possibly with further results. */
type Made = { readonly plan: Plan };

/** A plan whose changes fit into the hourly budgets. */
export type Reserved<M extends Made> = {
  /** The plan without the changes that do not fit into the budgets at present. */
  readonly made: M;
  /** Set if changes were left out: states when the same trigger must run again. */
  readonly deferral?: Deferral | undefined;
  /** Releases the reservations of changes that were not applied. `applied` contains the ids of the applied changes. */
  release(applied: ReadonlySet<string>): Promise<void>;
};

/** The ledger of a plan, and the plan's place in it. If absent, nothing is counted. */
export type LedgerPlace = { readonly ledger: BudgetLedger; readonly place: number | string };

/**
 * Makes a plan based on the recent writes of its place, and reserves the changes to send in the hourly budgets,
 * atomically: a concurrent run in any process cannot use the same part of a budget. `makePlan` may be called several
 * times.
 */
export async function reserve<M extends Made>(
  makePlan: (past: WriteHistory | undefined) => M,
  at: LedgerPlace | undefined,
  input: RunInput,
): Promise<Reserved<M>> {
  if (at === undefined) return { made: makePlan(undefined), release: async () => {} };
  const { ledger, place } = at;
  const by = causerOf(input);
  const edit = (isStranger: boolean | undefined) =>
    ledger.edit(place, (past) => {
      const wanted = makePlan(past);
      // The forge is queried only if the sender's permission matters; nothing is recorded before its response.
      const isDoubtful =
        by !== undefined && isStranger === undefined && isOverShare(past, by, wanted.plan, input);
      return isDoubtful ? undefined : reserveIn(past, wanted, input, isStranger ? by : undefined);
    });
  const reserved = (await edit(undefined)) ?? (await edit(!(await maySenderWrite(input))));
  if (reserved === undefined) throw new ReeveError('internal', 'a plan without room and without a reason');
  const { made, deferral, noted, name } = reserved;
  return {
    made,
    deferral,
    async release(applied) {
      const notSent = noted.flatMap(({ id }, at) => (applied.has(id) ? [] : [at]));
      if (notSent.length === 0) return;
      // If this cannot be stored, the changes count for an hour although they were not made. Changes that were made are
      // recorded in any case.
      await ledger.edit(place, (past) => past.takeBack(name, notSent)).catch(() => {});
    },
  };
}

/** Returns the account whose act caused the run; undefined for Reeve's own account, and for a run without an event. */
function causerOf({ event, account }: RunInput): number | undefined {
  const id = event?.sender?.id;
  return id === undefined || id <= 0 || id === account?.id ? undefined : id;
}

/** Returns whether this plan would exceed the hourly share of an account without write access. */
function isOverShare(past: WriteHistory, by: number, { changes }: Plan, input: RunInput): boolean {
  const share = shareOfAccount((input.budgets ?? budgets).hour);
  const spent = past.spent(digestOfAccount(by));
  const wanted = changes.filter((planned) => isSent(planned, input));
  const ofFiles = wanted.filter((planned) => levelOfChange(planned) === 'repository');
  return spent.all + wanted.length > share.all || spent.repository + ofFiles.length > share.repository;
}

/**
 * Returns whether the sender has write access. If Reeve's account administers the repository, it may query the
 * permission; otherwise it may be able to list the possible assignees: accounts with write access, and members of teams
 * that read issues or pull requests. If the forge allows neither, the sender counts as having no access: the sender's
 * changes are delayed, not dropped.
 */
async function maySenderWrite({ facts, client, event }: RunInput): Promise<boolean> {
  const { repository } = facts.subject;
  try {
    return isWriter(await facts.ask(requestOf(senderPermission)));
  } catch (error) {
    if (!(error instanceof ReeveError)) return false;
    if (error.keepsWork) throw error;
    if (error.code !== 'forge-forbidden' || client === undefined || repository === undefined) return false;
  }
  try {
    const params = { owner: repository.owner, repo: repository.name };
    const people = await client.call(operations.listAssignees, { params });
    return people.some(({ id }) => id === event?.sender?.id);
  } catch (error) {
    if (error instanceof ReeveError && error.keepsWork) throw error;
    return false;
  }
}

function reserveIn<M extends Made>(
  past: WriteHistory,
  wanted: M,
  input: RunInput,
  stranger: number | undefined,
) {
  // The trigger identifies the run's place in the queue of waiting runs.
  const { delivery = input.id, item = '' } = input.trigger;
  const { plan, deferral } = deferBeyondHour(wanted.plan, {
    past,
    hour: (input.budgets ?? budgets).hour,
    owner: digestOfText(`${delivery} ${item}`),
    subject: subjectKey(input.facts.subject),
    stranger: stranger === undefined ? undefined : digestOfAccount(stranger),
    isSent: (planned) => isSent(planned, input),
    now: input.now,
  });
  const noted = plan.changes.filter((planned) => isSent(planned, input));
  const name = past.record(noted.map((planned) => entryOf(planned, input)));
  return { made: { ...wanted, plan }, deferral, noted, name };
}

function entryOf(planned: PlannedChange, run: RunInput): LedgerEntry {
  return { ...writeOf(planned), atMs: run.now.getTime(), level: levelOfChange(planned), by: causerOf(run) };
}
