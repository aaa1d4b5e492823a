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

/** The part of a store that keeps plain data. */
type RunnerStore = {
  recall(key: string): Promise<unknown>;
  revise(key: string, edit: (value: unknown) => unknown): Promise<unknown>;
};

export function createRunnerMemory(store: RunnerStore): RunnerMemory {
  const keyOf = (level: string): string => `${indexKey} ${level}`;
  // The border to the store: what is under these keys was written here alone.
  const recordsIn = (value: unknown): RunnerRecords => (value ?? {}) as RunnerRecords;
  const namesIn = (value: unknown): readonly string[] => (value ?? []) as readonly string[];
  const read = async (level: string) => recordsIn(await store.recall(keyOf(level)));

  // In one step each: two rules that look at the same level, in whatever processes, must not undo each other.
  return {
    async observe(level, seen, now) {
      const before = await read(level);
      // Most repositories have none, and never had: ten thousand names of them would be written again for each.
      if (seen.length === 0 && Object.keys(before).length === 0) return before;
      await store.revise(indexKey, (names) =>
        namesIn(names).includes(level) ? names : [...namesIn(names), level],
      );
      return recordsIn(await store.revise(keyOf(level), (records) => merge(recordsIn(records), seen, now)));
    },
    async told(level, ids, rule) {
      await store.revise(keyOf(level), (records) =>
        Object.fromEntries(
          Object.entries(recordsIn(records)).map(([id, record]) => [
            id,
            ids.includes(id) ? { ...record, told: [...new Set([...(record.told ?? []), rule])] } : record,
          ]),
        ),
      );
    },
    async levels() {
      const found: Record<string, RunnerRecords> = {};
      for (const level of namesIn(await store.recall(indexKey))) found[level] = await read(level);
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
