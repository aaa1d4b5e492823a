import { mergeQueueKind } from '../../actions/queue-desk.ts';
import { BoundedMap } from '../../platform/cache/bounded-map.ts';
import type { PlannedChange } from '../proposal.ts';
import type { Run } from '../record.ts';
import {
  type BudgetLedger,
  type ComparedWrite,
  type LedgerEntry,
  type LedgerState,
  type NotedWrite,
  noteWrites,
  unusedMs,
  WriteHistory,
} from './write-history.ts';

/** Reads the stored runs of a repository page by page, newest first. */
export type ReadRuns = (
  repositoryId: number,
  before: string | undefined,
) => Promise<{
  readonly items: readonly Run[];
  readonly next: string | undefined;
}>;

/** Maximum number of flips of a target within ten minutes; further flips wait. */
export const maxFlips = 5;
const hourMs = 3_600_000;
const maxPlaces = 5_000;

/** The part of a store that the ledger needs; `revise` replaces plain data atomically. */
export type LedgerStore = {
  readonly isShared: boolean;
  revise(key: string, edit: (value: unknown) => unknown): Promise<unknown>;
};

/** Counts the writes of a place from the stored runs, if there is no ledger for that place yet. */
type LoadLedger = (place: number | string) => Promise<LedgerState>;

/**
 * Creates the ledger. When a repository is first used, its writes are counted from the stored runs, so that a restart
 * does not reset the budget. After that, the ledger is kept in memory or, if processes share a store, in the store, so
 * that the processes share one budget. `now` is the system clock, which stored runs use as well.
 */
export function createBudgetLedger(options: {
  readonly now: () => Date;
  readonly readRuns?: ReadRuns;
  /** Store shared by processes; by default, the ledger is kept in memory. */
  readonly store?: LedgerStore;
}): BudgetLedger {
  const { readRuns, store } = options;
  const nowMs = (): number => options.now().getTime();

  const load: LoadLedger = async (place) => {
    const found: NotedWrite[] = [];
    const state = (): LedgerState => ({ writes: found.sort((a, b) => a.atMs - b.atMs), reserved: [] });
    if (typeof place === 'string' || readRuns === undefined) return state();
    for (let before: string | undefined, page = 0; page < 20; page += 1) {
      const { items, next } = await readRuns(place, before);
      const recent = items.filter((run) => Date.parse(run.trigger.at) > nowMs() - hourMs);
      found.push(...recent.flatMap((run) => noteWrites(run.id, entriesOf(run))));
      if (next === undefined || recent.length < items.length) break;
      before = next;
    }
    return state();
  };
  return store?.isShared ? new SharedLedger(store, load, nowMs) : new LedgerInMemory(load, nowMs);
}

class LedgerInMemory implements BudgetLedger {
  readonly #places = new BoundedMap<number | string, Promise<WriteHistory>>(maxPlaces);
  readonly #load: LoadLedger;
  readonly #nowMs: () => number;

  constructor(load: LoadLedger, nowMs: () => number) {
    this.#load = load;
    this.#nowMs = nowMs;
  }

  async edit<Result>(place: number | string, work: (past: WriteHistory) => Result): Promise<Result> {
    const known = this.#places.get(place);
    if (known !== undefined) return work(await known);
    const past = this.#load(place).then((state) => new WriteHistory(state, this.#nowMs));
    this.#places.set(place, past);
    past.catch(() => this.#places.delete(place));
    return work(await past);
  }
}

/**
 * Returns the key of a change's target, without the name of the repository and the id of the object, so that the target
 * stays the same when the repository is renamed or a hook is recreated.
 */
export function targetKey(params: Readonly<Record<string, unknown>> | undefined, target: string): string {
  const { owner: _owner, repo: _repo, id: _id, ...rest } = params ?? {};
  return `${JSON.stringify(rest)} ${target}`;
}

/** Returns a planned change in the form that the ledger compares. */
export function writeOf({ change, proposals }: PlannedChange): ComparedWrite {
  return {
    target: targetKey(change.input.params, change.target),
    before: JSON.stringify(change.before) ?? '',
    after: JSON.stringify(change.after) ?? '',
    rules: [...new Set(proposals.map(({ rule }) => rule.id))],
  };
}

/**
 * Returns the writes of a stored run that count. Writes of a merge queue do not count, because the queue has its own
 * budget.
 */
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
      before: JSON.stringify(change.before) ?? '',
      after: JSON.stringify(change.after) ?? '',
      rules: change.rules,
      by: run.trigger.sender,
    }));
}

/**
 * Prefix of the keys of ledgers. Their values have an instant `at`: the time of the latest write, or the end of the
 * latest reservation.
 */
export const ledgerPrefix = 'writes ';
/** How long a ledger is kept after the time in `at`. */
export const ledgerKeptMs = 3_600_000;

/**
 * The stored form of a ledger. It is compact, because every run with changes reads and replaces it. A group contains
 * the writes of one run: first the name of the group, then for each write its index, its time in ms, whether a
 * repository file wanted it, the digests of the target, of the state after and of the state before, the digests of its
 * rules (`a,b`), and the digest of the account that caused it. A reservation contains the digest of its owner, its time
 * in ms, its counts, its line, and its work. Entries of earlier versions have no rules, account, line or work.
 */
type StoredLedger = {
  readonly at: string;
  readonly writes: readonly StoredGroup[];
  readonly reserved: readonly (readonly [string, number, number, number, string?, string?])[];
};
type StoredGroup = readonly [string, ...StoredWrite[]];
type StoredWrite = readonly [number, number, 0 | 1, string, string, string, string?, string?];

/** A queued step and its result. */
type Step = {
  readonly take: (past: WriteHistory) => void;
  readonly end: () => void;
  readonly fail: (error: unknown) => void;
};

/**
 * The ledger of processes that share a store. Concurrent runs of one process that write in the same place are combined
 * into one update of the store, so at most one run per process competes for the update.
 */
class SharedLedger implements BudgetLedger {
  readonly #store: LedgerStore;
  readonly #load: LoadLedger;
  readonly #nowMs: () => number;
  readonly #waiting = new Map<number | string, Step[]>();

  constructor(store: LedgerStore, load: LoadLedger, nowMs: () => number) {
    this.#store = store;
    this.#load = load;
    this.#nowMs = nowMs;
  }

  edit<Result>(place: number | string, work: (past: WriteHistory) => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      const step = createStep(work, resolve, reject);
      const others = this.#waiting.get(place);
      if (others !== undefined) others.push(step);
      else {
        this.#waiting.set(place, [step]);
        void this.#takeAll(place);
      }
    });
  }

  async #takeAll(place: number | string): Promise<void> {
    for (;;) {
      const steps = this.#waiting.get(place) ?? [];
      if (steps.length === 0) break;
      this.#waiting.set(place, []);
      try {
        await this.#takeTogether(place, steps);
        for (const { end } of steps) end();
      } catch (error) {
        for (const { fail } of steps) fail(error);
      }
    }
    this.#waiting.delete(place);
  }

  async #takeTogether(place: number | string, steps: readonly Step[]): Promise<void> {
    let counted: LedgerState | undefined;
    for (let isThere = false; !isThere; ) {
      await this.#store.revise(`${ledgerPrefix}${place}`, (value) => {
        isThere = value !== undefined || counted !== undefined;
        if (!isThere) return value;
        // The cast is safe: only this code writes the value under this key.
        const before = value === undefined ? counted : readLedger(value as StoredLedger);
        const past = new WriteHistory(before ?? nothingWritten, this.#nowMs);
        for (const step of steps) step.take(past);
        return value !== undefined && past.state === before ? value : formatLedger(past.state, this.#nowMs());
      });
      if (!isThere) counted = await this.#load(place);
    }
  }
}

const nothingWritten: LedgerState = { writes: [], reserved: [] };

function createStep<Result>(
  work: (past: WriteHistory) => Result,
  resolve: (result: Result) => void,
  reject: (error: unknown) => void,
): Step {
  let came: { readonly result: Result } | { readonly error: unknown } = { error: undefined };
  return {
    take(past) {
      const before = past.state;
      try {
        came = { result: work(past) };
      } catch (error) {
        // The failed step is undone; the steps of other runs in the batch still count.
        past.state = before;
        came = { error };
      }
    },
    end: () => ('result' in came ? resolve(came.result) : reject(came.error)),
    fail: reject,
  };
}

function readLedger({ writes, reserved }: StoredLedger): LedgerState {
  return {
    writes: writes.flatMap(([of, ...group]) =>
      group.map(([place, atMs, isOfFile, target, after, before, rules = '', by]): NotedWrite => {
        // All other levels are stored as operator.
        const level = isOfFile ? 'repository' : 'operator';
        const write = { of, place, atMs, level, target, before, after } as const;
        return { ...write, rules: rules.split(',').filter(Boolean), ...(by === undefined ? {} : { by }) };
      }),
    ),
    reserved: reserved.map(([owner, atMs, all, repository, line = '', work]) => ({
      owner,
      work,
      atMs,
      all,
      repository,
      line,
    })),
  };
}

/**
 * Returns the stored form of a ledger, without entries older than an hour and without reservations that were not used.
 */
function formatLedger(state: LedgerState, nowMs: number): StoredLedger {
  const groups: [string, ...StoredWrite[]][] = [];
  const writes = state.writes.filter(({ atMs }) => atMs > nowMs - hourMs);
  const reserved = state.reserved.filter(({ atMs }) => atMs > nowMs - unusedMs);
  const latestMs = Math.max(nowMs, ...reserved.slice(-1).map(({ atMs }) => atMs + unusedMs));
  for (const { of, place, atMs, level, target, after, before, rules, by } of writes) {
    const isOfFile = level === 'repository' ? 1 : 0;
    const known = [place, atMs, isOfFile, target, after, before, rules.join()] as const;
    const write: StoredWrite = by === undefined ? known : [...known, by];
    const group = groups.at(-1);
    if (group?.[0] === of) group.push(write);
    else groups.push([of, write]);
  }
  return {
    at: new Date(latestMs).toISOString(),
    writes: groups,
    reserved: reserved.map(({ owner, work, atMs, all, repository, line }) => {
      const counts = [owner, atMs, all, repository] as const;
      if (work !== undefined) return [...counts, line, work];
      return line === '' ? counts : [...counts, line];
    }),
  };
}
