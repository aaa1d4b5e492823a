import { observedWords } from '../../engine/describe-change.ts';
import type { Run } from '../../engine/record.ts';
import type { Store } from '../../store/store.ts';

/** One thing that is not as a rule wants it, and stays so: the rule observes, or its change was refused or failed. */
export type Drift = {
  readonly rule: string;
  /** The item of the sweep: `acme/demo`. */
  readonly item: string;
  readonly target: string;
  /** What is live, and what the rule wants. */
  readonly live: unknown;
  readonly wanted: unknown;
  /** RFC 3339; when a sweep first saw it. */
  readonly since: string;
  /** RFC 3339; when a sweep last saw it. */
  readonly seen: string;
  /** Why it stays. */
  readonly why: string;
};

/** Drift of each rule is kept up to this many entries; what is beyond is counted by the sweep, not listed. */
const maxEntries = 1_000;
const indexKey = 'drift';

type DriftStore = Pick<Store, 'remember' | 'recall' | 'revise'>;

/** What sweeps know of one rule's drift while they run. */
export interface DriftBook {
  /** Takes in what a run over an item found: what is no longer there is forgotten, what stays keeps its `since`. */
  note(item: string, run: Run, now: Date): void;
  /** Forgets items that this sweep has not seen, once it has seen all there are. */
  close(sweptFrom: Date): void;
  /** Writes what changed. */
  save(): Promise<void>;
  readonly size: number;
}

/** Opens the book of a rule's drift. */
export async function openDriftBook(store: DriftStore, rule: string): Promise<DriftBook> {
  const key = `${indexKey} ${rule}`;
  // The border to the store: what is under this key was written here alone.
  let entries = ((await store.recall(key)) ?? []) as readonly Drift[];
  let isChanged = false;
  return {
    get size() {
      return entries.length;
    },
    note(item, run, now) {
      const found = driftOf(run);
      const before = entries.filter((entry) => entry.item === item);
      if (found.length === 0 && before.length === 0) return;
      isChanged = true;
      const at = now.toISOString();
      const after = found.map((one): Drift => {
        const known = before.find(({ target }) => target === one.target);
        return { rule, item, ...one, since: known?.since ?? at, seen: at };
      });
      entries = [...entries.filter((entry) => entry.item !== item), ...after].slice(-maxEntries);
    },
    close(sweptFrom) {
      const from = sweptFrom.toISOString();
      const kept = entries.filter(({ seen }) => seen >= from);
      isChanged ||= kept.length < entries.length;
      entries = kept;
    },
    async save() {
      if (!isChanged) return;
      isChanged = false;
      // All rules have one index; the drift of a rule is written by its sweep, of which there is one at a time.
      await store.revise(indexKey, (value) => {
        const known = (value ?? []) as readonly string[];
        return known.includes(rule) ? value : [...known, rule];
      });
      await store.remember(key, entries.length === 0 ? undefined : entries);
    },
  };
}

/** Returns everything that is not as some rule wants it, longest first. */
export async function readDrift(store: Pick<Store, 'recall'>): Promise<readonly Drift[]> {
  const rules = ((await store.recall(indexKey)) ?? []) as readonly string[];
  const found: Drift[] = [];
  for (const rule of rules) {
    found.push(...(((await store.recall(`${indexKey} ${rule}`)) ?? []) as readonly Drift[]));
  }
  return found.toSorted((a, b) => (a.since < b.since ? -1 : 1));
}

/** What a run wanted and did not get. */
function driftOf(run: Run): readonly Pick<Drift, 'target' | 'live' | 'wanted' | 'why'>[] {
  const outcomes = new Map(run.outcomes.map((outcome) => [outcome.change, outcome]));
  const left = run.changes.flatMap((change) => {
    const outcome = outcomes.get(change.id);
    if (outcome === undefined || outcome.status === 'applied' || outcome.status === 'skipped') return [];
    return [{ change, why: outcome.error ?? observedWords }];
  });
  return [...left, ...run.refused].map(({ change, why }) => ({
    target: change.target,
    live: change.before,
    wanted: change.value,
    why,
  }));
}
