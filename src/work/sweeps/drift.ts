import { observedWords } from '../../engine/describe-change.ts';
import type { Run } from '../../engine/record.ts';

/**
 * A persistent difference from the desired state of a rule, because the rule only observes, or because its change was
 * refused or failed.
 */
export type Drift = {
  readonly rule: string;
  /** Item of the sweep: `acme/demo`. */
  readonly item: string;
  readonly target: string;
  /** Live value and desired value. */
  readonly live: unknown;
  readonly wanted: unknown;
  /** Time of the first sweep that found the drift, as RFC 3339. */
  readonly since: string;
  /** Time of the last sweep that found the drift, as RFC 3339. */
  readonly seen: string;
  /** Why the drift persists. */
  readonly why: string;
};

/** The part of the store that is used here. The CI action has no store, and implements this one with its state. */
type DriftStore = {
  remember(key: string, value: unknown): Promise<void>;
  recall(key: string): Promise<unknown>;
  revise(key: string, edit: (value: unknown) => unknown): Promise<unknown>;
};

/** Maximum number of drift entries kept per rule. Further ones are counted by the sweep, but not listed. */
const maxEntries = 1_000;
const indexKey = 'drift';

/** Drift of one rule during its sweep. */
export class DriftBook {
  readonly #store: DriftStore;
  readonly #rule: string;
  #entries: readonly Drift[];
  #isChanged = false;

  private constructor(store: DriftStore, rule: string, entries: readonly Drift[]) {
    this.#store = store;
    this.#rule = rule;
    this.#entries = entries;
  }

  /** Loads the drift of a rule. */
  static async open(store: DriftStore, rule: string): Promise<DriftBook> {
    // Store boundary: only this class writes the value under this key.
    const entries = ((await store.recall(keyOf(rule))) ?? []) as readonly Drift[];
    return new DriftBook(store, rule, entries);
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Applies the result of a run for an item: resolved drift is removed, and persistent drift keeps its `since`. */
  note(item: string, run: Run, now: Date): void {
    const found = driftOf(run);
    const before = this.#entries.filter((entry) => entry.item === item);
    if (found.length === 0 && before.length === 0) return;
    this.#isChanged = true;
    const at = now.toISOString();
    const after = found.map((one): Drift => {
      const known = before.find(({ target }) => target === one.target);
      return { rule: this.#rule, item, ...one, since: known?.since ?? at, seen: at };
    });
    const others = this.#entries.filter((entry) => entry.item !== item);
    this.#entries = [...others, ...after].slice(-maxEntries);
  }

  /** After a complete sweep, removes items that the sweep has not seen. */
  close(sweptFrom: Date): void {
    const from = sweptFrom.toISOString();
    const kept = this.#entries.filter(({ seen }) => seen >= from);
    this.#isChanged ||= kept.length < this.#entries.length;
    this.#entries = kept;
  }

  /** Saves the changes. */
  async save(): Promise<void> {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    // All rules share one index. The drift of a rule is written only by the rule's sweep, of which one runs at a time.
    await this.#store.revise(indexKey, (value) => {
      const known = (value ?? []) as readonly string[];
      return known.includes(this.#rule) ? value : [...known, this.#rule];
    });
    await this.#store.remember(keyOf(this.#rule), this.size === 0 ? undefined : this.#entries);
  }
}

function keyOf(rule: string): string {
  return `${indexKey} ${rule}`;
}

/** Returns the drift of all rules, oldest first. */
export async function readDrift(store: DriftStore): Promise<readonly Drift[]> {
  const rules = ((await store.recall(indexKey)) ?? []) as readonly string[];
  const found: Drift[] = [];
  for (const rule of rules) {
    found.push(...(((await store.recall(keyOf(rule))) ?? []) as readonly Drift[]));
  }
  return found.toSorted((a, b) => (a.since < b.since ? -1 : 1));
}

/** Drift found by one run. */
type FoundDrift = {
  readonly target: string;
  readonly live: unknown;
  readonly wanted: unknown;
  readonly why: string;
};

/** Returns the wanted changes of a run that were not made. */
export function driftOf(run: Run): readonly FoundDrift[] {
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
