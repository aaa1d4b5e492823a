import { unusedMs } from './reservations.ts';
import {
  type BudgetLedger,
  createWriteHistory,
  type KeptHistory,
  type LedgerState,
  type NotedWrite,
  type WriteHistory,
} from './write-history.ts';

/** The part of the store that the ledger needs; `revise` replaces plain data in one step. */
export type SharedLedgerStore = {
  revise(key: string, edit: (value: unknown) => unknown): Promise<unknown>;
};

/** The beginning of the keys of ledgers. Their values have an instant `at`: the last one that still counts. */
export const ledgerPrefix = 'writes ';
/** Time after its `at` that a ledger is kept. */
export const ledgerKeptMs = 3_600_000;
const hourMs = 3_600_000;

/**
 * A ledger as it is stored, as short as it can be, because every run with changes reads and replaces it. A group are the writes
 * of one run: its name, then place, instant in ms, whether a file of a repository wanted it, the digests of target, state after and
 * state before, those of its rules (`a,b`), and that of the account that caused it. A reservation: the digest of its owner, its instant
 * in ms, its counts, and its line. What earlier versions wrote has no rules, account and line.
 */
type StoredLedger = {
  readonly at: string;
  readonly writes: readonly StoredGroup[];
  readonly reserved: readonly (readonly [string, number, number, number, string?])[];
};
type StoredGroup = readonly [string, ...StoredWrite[]];
type StoredWrite = readonly [number, number, 0 | 1, string, string, string, string?, string?];

/** A step that waits for its turn, and what came of it. */
type Step = {
  readonly take: (past: KeptHistory) => void;
  readonly end: () => void;
  readonly fail: (error: unknown) => void;
};

/**
 * Creates the ledger of processes that share a store. Runs of one process that want to write in one place at once go to the store
 * together, so that not more than one run per process competes. `load` counts what no ledger has counted yet.
 */
export function createSharedLedger(options: {
  readonly store: SharedLedgerStore;
  readonly load: (place: number | string) => Promise<LedgerState>;
  readonly nowMs: () => number;
}): BudgetLedger {
  const { store, load, nowMs } = options;
  const waiting = new Map<number | string, Step[]>();

  const takeTogether = async (place: number | string, steps: readonly Step[]): Promise<void> => {
    let counted: LedgerState | undefined;
    for (let isThere = false; !isThere; ) {
      await store.revise(`${ledgerPrefix}${place}`, (value) => {
        isThere = value !== undefined || counted !== undefined;
        if (!isThere) return value;
        // The border to the store: what is under this key was written here alone.
        const before = value === undefined ? counted : readLedger(value as StoredLedger);
        const past = createWriteHistory(before ?? nothingWritten, nowMs);
        for (const step of steps) step.take(past);
        return value !== undefined && past.state === before ? value : formatLedger(past.state, nowMs());
      });
      if (!isThere) counted = await load(place);
    }
  };
  const takeAll = async (place: number | string): Promise<void> => {
    for (;;) {
      const steps = waiting.get(place) ?? [];
      if (steps.length === 0) break;
      waiting.set(place, []);
      try {
        await takeTogether(place, steps);
        for (const { end } of steps) end();
      } catch (error) {
        for (const { fail } of steps) fail(error);
      }
    }
    waiting.delete(place);
  };

  return {
    edit<Result>(place: number | string, work: (past: WriteHistory) => Result): Promise<Result> {
      const { promise, step } = createStep(work);
      const others = waiting.get(place);
      if (others !== undefined) others.push(step);
      else {
        waiting.set(place, [step]);
        void takeAll(place);
      }
      return promise;
    },
  };
}

const nothingWritten: LedgerState = { writes: [], reserved: [] };

function createStep<Result>(work: (past: WriteHistory) => Result): {
  readonly promise: Promise<Result>;
  readonly step: Step;
} {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  let came: { readonly result: Result } | { readonly error: unknown } = { error: undefined };
  const step: Step = {
    take(past) {
      const before = past.state;
      try {
        came = { result: work(past) };
      } catch (error) {
        // The steps of other runs beside this one count all the same.
        past.state = before;
        came = { error };
      }
    },
    end: () => ('result' in came ? resolve(came.result) : reject(came.error)),
    fail: reject,
  };
  return { promise, step };
}

function readLedger({ writes, reserved }: StoredLedger): LedgerState {
  return {
    writes: writes.flatMap(([of, ...group]) =>
      group.map(([place, atMs, isOfFile, target, after, before, rules = '', by]): NotedWrite => {
        // Other levels are counted alike.
        const level = isOfFile ? 'repository' : 'operator';
        const write = { of, place, atMs, level, target, before, after } as const;
        return { ...write, rules: rules.split(',').filter(Boolean), ...(by === undefined ? {} : { by }) };
      }),
    ),
    reserved: reserved.map(([owner, atMs, all, repository, line = '']) => ({
      owner,
      atMs,
      all,
      repository,
      line,
    })),
  };
}

/** What is older than an hour is left out, as is room that was not used. */
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
    reserved: reserved.map(({ owner, atMs, all, repository, line }) =>
      line === '' ? [owner, atMs, all, repository] : [owner, atMs, all, repository, line],
    ),
  };
}
