import { mergeQueueKind } from '../../actions/merging/queue-desk.ts';
import { BoundedMap } from '../../cache/bounded-map.ts';
import type { Level } from '../../rules/rule.ts';
import type { Run } from '../record.ts';
import type { Budget } from './budgets.ts';
import { createReservations, type Reservations } from './reservations.ts';

/** One write to one target. `value` and `before` are compared as JSON. */
export type LedgerEntry = {
  readonly atMs: number;
  readonly level: Level;
  /** What it decided, without the names of the repository: `targetKey`. */
  readonly target: string;
  readonly value: string;
  readonly before: string;
};

/** What was written in one place of late. Asked after the plan is made, so that two runs at once see each other. */
export interface WriteHistory {
  /** Writes of the last hour, by all rules and by files of repositories among them. */
  spent(): Budget;
  /** Room in the hourly budgets for runs that were deferred. */
  readonly reservations: Reservations;
  /** How often in the last ten minutes the target's value returned to an earlier one; and whether this one would. */
  flips(target: string, value: unknown): { readonly count: number; readonly returns: boolean };
  /** Notes writes that are about to be sent. The returned function takes back those that were not, by place in the list. */
  record(entries: readonly LedgerEntry[]): (notSent: readonly number[]) => void;
}

/** Remembers what was written, by place: a repository's id, or what else a subject has. */
export interface BudgetLedger {
  /** Returns the past of a place; the first time, as the store remembers it. */
  of(place: number | string): Promise<WriteHistory>;
}

/** Returns the stored runs of a repository, newest first, page by page. */
export type ReadRuns = (
  repositoryId: number,
  before: string | undefined,
) => Promise<{
  readonly items: readonly Run[];
  readonly next: string | undefined;
}>;

/** How often a value may return to an earlier one on one target within ten minutes. */
export const maxFlips = 5;
const hourMs = 3_600_000;
const flipMs = 600_000;
const maxPlaces = 5_000;

/**
 * Creates the ledger. It is counted from the stored runs when a repository is first seen, so that a restart forgives
 * nothing, and in memory from then on. `now` is the system's clock: stored runs carry its instants.
 */
export function createBudgetLedger(options: { now: () => Date; readRuns?: ReadRuns }): BudgetLedger {
  const places = new BoundedMap<number | string, Promise<WriteHistory>>(maxPlaces);
  const nowMs = (): number => options.now().getTime();

  const load = async (place: number | string): Promise<LedgerEntry[]> => {
    const found: LedgerEntry[] = [];
    if (typeof place === 'string' || options.readRuns === undefined) return found;
    for (let before: string | undefined, page = 0; page < 20; page += 1) {
      const { items, next } = await options.readRuns(place, before);
      const recent = items.filter((run) => Date.parse(run.trigger.at) > nowMs() - hourMs);
      found.push(...recent.flatMap(entriesOf));
      if (next === undefined || recent.length < items.length) break;
      before = next;
    }
    return found.sort((a, b) => a.atMs - b.atMs);
  };

  return {
    async of(place) {
      const known = places.get(place);
      if (known !== undefined) return known;
      const past = load(place).then((entries) => createWriteHistory(entries, nowMs));
      places.set(place, past);
      past.catch(() => places.delete(place));
      return past;
    },
  };
}

function createWriteHistory(loaded: readonly LedgerEntry[], nowMs: () => number): WriteHistory {
  const entries = loaded.map((entry) => ({ ...entry }));
  const since = (ms: number): readonly LedgerEntry[] => entries.filter(({ atMs }) => atMs > nowMs() - ms);
  const writes = (): readonly LedgerEntry[] => {
    const now = nowMs();
    // What is too old to count goes here, so that the list of a busy place stays as short as its last hour. A write that is
    // in the future was made before the clock was set back: it counts for an hour from now, not for longer.
    entries.splice(0, entries.length, ...since(hourMs));
    for (const entry of entries) entry.atMs = Math.min(entry.atMs, now);
    return entries;
  };
  return {
    spent: () => ({
      all: writes().length,
      repository: entries.filter(({ level }) => level === 'repository').length,
    }),
    reservations: createReservations({ writes, nowMs }),
    flips(target, value) {
      const history = since(flipMs).filter((entry) => entry.target === target);
      return { count: countReturns(history), returns: seenBefore(history, JSON.stringify(value) ?? '') };
    },
    record(writes) {
      const noted = writes.map((entry) => ({ ...entry }));
      entries.push(...noted);
      return (notSent) => {
        const gone = new Set(notSent.map((place) => noted[place]));
        entries.splice(0, entries.length, ...entries.filter((entry) => !gone.has(entry)));
      };
    },
  };
}

function countReturns(history: readonly LedgerEntry[]): number {
  return history.filter(({ value }, place) => seenBefore(history.slice(0, place), value)).length;
}

/** The value that stood before the first write was there earlier, too. */
function seenBefore(history: readonly LedgerEntry[], value: string): boolean {
  return history[0]?.before === value || history.some((entry) => entry.value === value);
}

/**
 * Returns what a change decides, without the names of the repository and the number of the thing: a rename does not make it
 * another target, nor does a hook that is made anew.
 */
export function targetKey(params: Readonly<Record<string, unknown>> | undefined, target: string): string {
  const { owner: _owner, repo: _repo, id: _id, ...rest } = params ?? {};
  return `${JSON.stringify(rest)} ${target}`;
}

/** Returns the writes of a stored run that count; a merge queue has a budget of its own. */
function entriesOf(run: Run): readonly LedgerEntry[] {
  if (run.trigger.kind === mergeQueueKind) return [];
  const written = new Set(
    run.outcomes.filter(({ status }) => status === 'applied').map(({ change }) => change),
  );
  return run.changes
    .filter(({ id }) => written.has(id))
    .map((change) => ({
      atMs: Date.parse(run.trigger.at),
      level: change.level ?? 'repository',
      target: targetKey((change.input as { params?: Record<string, unknown> } | null)?.params, change.target),
      value: JSON.stringify(change.value) ?? '',
      before: JSON.stringify(change.before) ?? '',
    }));
}
