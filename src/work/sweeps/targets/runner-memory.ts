/** Stored state of one runner. Instants are RFC 3339. */
export type RunnerRecord = {
  readonly name: string;
  readonly labels: readonly string[];
  readonly status: 'online' | 'offline' | 'gone';
  readonly busy: boolean;
  readonly disabled: boolean;
  /** Start of the current status, as far as observed. */
  readonly since: string;
  /** Time at which the runner was last seen busy, otherwise first seen. */
  readonly activeAt: string;
  /** The latest changes between online and offline. */
  readonly changes: readonly string[];
  /** Time of the latest complete listing of its level. Absent in records of earlier versions. */
  readonly listedAt?: string;
  /** Rules that have been notified of the runner's removal. */
  readonly told?: readonly string[];
};

/**
 * The runners of one level, by id. A level is `organization acme`, `repository acme/demo`, `user reeve` or `instance`.
 */
type RunnerRecords = Readonly<Record<string, RunnerRecord>>;

/** A runner in the current listing, on any forge. */
export type SeenRunner = {
  readonly id: number;
  readonly name: string;
  readonly status: 'online' | 'offline';
  readonly busy: boolean;
  readonly disabled: boolean;
  readonly labels: readonly string[];
};

/** Memory of runners, because forges do not return when they were last seen. */
export interface RunnerMemory {
  /** Applies a complete listing of a level. Returns the level's known runners, including removed ones. */
  observe(level: string, seen: readonly SeenRunner[], now: Date): Promise<RunnerRecords>;
  /** Records that a rule has been notified of removed runners. */
  told(level: string, ids: readonly string[], rule: string): Promise<void>;
  /** Returns every level with its known runners. */
  levels(): Promise<Readonly<Record<string, RunnerRecords>>>;
}

/** Time window in which changes between online and offline are counted. */
export const flapsWithinMs = 3_600_000;
/** Time for which a removed runner is remembered, for rules that have not been notified yet. */
const goneForMs = 7 * 86_400_000;
const maxChanges = 50;
const indexKey = 'runners';

/** The part of a store that keeps plain data. */
type RunnerStore = {
  recall(key: string): Promise<unknown>;
  revise(key: string, edit: (value: unknown) => unknown): Promise<unknown>;
};

/** Creates a memory that keeps nothing, for a visit without a store. */
export function createEmptyRunnerMemory(): RunnerMemory {
  return createRunnerMemory({ recall: async () => undefined, revise: async (_, edit) => edit(undefined) });
}

export function createRunnerMemory(store: RunnerStore): RunnerMemory {
  const keyOf = (level: string): string => `${indexKey} ${level}`;
  // Store boundary: only the code here writes the values under these keys.
  const recordsIn = (value: unknown): RunnerRecords => (value ?? {}) as RunnerRecords;
  const namesIn = (value: unknown): readonly string[] => (value ?? []) as readonly string[];
  const read = async (level: string) => recordsIn(await store.recall(keyOf(level)));

  // Each method is atomic, because two rules that read the same level, in any process, must not overwrite each other's
  // data.
  return {
    async observe(level, seen, now) {
      const before = await read(level);
      // Most repositories have never had a runner, and storing thousands of empty entries would rewrite all their names
      // each time.
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
      listedAt: at,
    };
  }
  for (const [id, known] of Object.entries(before)) {
    if (after[id] !== undefined) continue;
    if (known.status !== 'gone')
      after[id] = { ...known, status: 'gone', busy: false, since: at, listedAt: at };
    else if (now.getTime() - Date.parse(known.since) < goneForMs) after[id] = { ...known, listedAt: at };
  }
  return after;
}
