import type { Store } from '../../store/store.ts';

/** What is remembered of one runner. Instants are RFC 3339. */
export type RunnerRecord = {
  readonly name: string;
  readonly labels: readonly string[];
  readonly status: 'online' | 'offline' | 'gone';
  readonly busy: boolean;
  readonly disabled: boolean;
  /** Since when it has this status, as far as we saw. */
  readonly since: string;
  /** When it was last seen at work, else when it was first seen. */
  readonly activeAt: string;
  /** The latest changes between online and offline. */
  readonly changes: readonly string[];
  /** Rules that have been told that it is gone. */
  readonly told?: readonly string[];
};

/** The runners of one level: `organization acme`, `repository acme/demo`, `user reeve`, `instance`; by id. */
type RunnerRecords = Readonly<Record<string, RunnerRecord>>;

/** A runner as a forge lists it now, whichever forge. */
export type SeenRunner = {
  readonly id: number;
  readonly name: string;
  readonly status: 'online' | 'offline';
  readonly busy: boolean;
  readonly disabled: boolean;
  readonly labels: readonly string[];
};

/** What Reeve remembers of runners, because forges say nothing of when they were last seen. */
export interface RunnerMemory {
  /** Takes in a complete listing of a level and returns what is known of it now, those that are gone included. */
  observe(level: string, seen: readonly SeenRunner[], now: Date): Promise<RunnerRecords>;
  /** Remembers that a rule has been told of runners that are gone. */
  told(level: string, ids: readonly string[], rule: string): Promise<void>;
  /** Returns every level with what is known of its runners. */
  levels(): Promise<Readonly<Record<string, RunnerRecords>>>;
}

/** Changes between online and offline are counted over this time. */
export const flapsWithinMs = 3_600_000;
/** A runner that is gone is remembered this long, for rules that have not heard of it yet. */
const goneForMs = 7 * 86_400_000;
const maxChanges = 50;
const indexKey = 'runners';

export function createRunnerMemory(store: Pick<Store, 'remember' | 'recall'>): RunnerMemory {
  let writing: Promise<unknown> = Promise.resolve();
  // One after the other: two rules that look at the same level must not undo each other.
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const turn = writing.then(work, work);
    writing = turn.catch(() => {}); // The caller of the turn gets the error.
    return turn;
  };
  const keyOf = (level: string): string => `${indexKey} ${level}`;
  // The border to the store: what is under these keys was written here alone.
  const read = async (level: string) => ((await store.recall(keyOf(level))) ?? {}) as RunnerRecords;
  const names = async () => ((await store.recall(indexKey)) ?? []) as readonly string[];

  return {
    observe: (level, seen, now) =>
      inTurn(async () => {
        const before = await read(level);
        // Most repositories have none, and never had: ten thousand names of them would be written again for each.
        if (seen.length === 0 && Object.keys(before).length === 0) return before;
        const known = await names();
        if (!known.includes(level)) await store.remember(indexKey, [...known, level]);
        const records = merge(before, seen, now);
        await store.remember(keyOf(level), records);
        return records;
      }),
    told: (level, ids, rule) =>
      inTurn(async () => {
        const records = await read(level);
        const marked = Object.entries(records).map(([id, record]) => [
          id,
          ids.includes(id) ? { ...record, told: [...new Set([...(record.told ?? []), rule])] } : record,
        ]);
        await store.remember(keyOf(level), Object.fromEntries(marked));
      }),
    async levels() {
      const found: Record<string, RunnerRecords> = {};
      for (const level of await names()) found[level] = await read(level);
      return found;
    },
  };
}

function merge(before: RunnerRecords, seen: readonly SeenRunner[], now: Date): RunnerRecords {
  const at = now.toISOString();
  const after: Record<string, RunnerRecord> = {};
  for (const { id, name, labels, status, busy, disabled } of seen) {
    const known = before[id];
    const changed = known !== undefined && known.status !== status;
    const recent = (known?.changes ?? []).filter(
      (change) => now.getTime() - Date.parse(change) < flapsWithinMs,
    );
    after[id] = {
      name,
      labels,
      status,
      busy,
      disabled,
      since: known && !changed ? known.since : at,
      activeAt: busy || known === undefined ? at : known.activeAt,
      changes: changed ? [...recent, at].slice(-maxChanges) : recent,
    };
  }
  for (const [id, known] of Object.entries(before)) {
    if (after[id] !== undefined) continue;
    if (known.status !== 'gone') after[id] = { ...known, status: 'gone', busy: false, since: at };
    else if (now.getTime() - Date.parse(known.since) < goneForMs) after[id] = known;
  }
  return after;
}
