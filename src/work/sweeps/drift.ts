import { observedWords } from '../../engine/describe-change.ts';
import type { Run } from '../../engine/record.ts';
import type { Store } from '../../store/store.ts';

/** A lasting difference from the desired state of a rule: the rule observes, or its change was refused or failed. */
export type Drift = {
  readonly rule: string;
  /** The item of the sweep: `acme/demo`. */
  readonly item: string;
  readonly target: string;
  /** The live value, and the desired value. */
  readonly live: unknown;
  readonly wanted: unknown;
  /** RFC 3339; time of the first sweep that found it. */
  readonly since: string;
  /** RFC 3339; time of the last sweep that found it. */
  readonly seen: string;
  /** Why it remains. */
  readonly why: string;
};

/** Maximum drift entries kept per rule; further ones are counted by the sweep, not listed. */
const maxEntries = 1_000;
const indexKey = 'drift';

/** Drift of one rule, during its sweep. */
export class DriftBook {
  readonly #store: Store;
  readonly #rule: string;
  #entries: readonly Drift[];
  #isChanged = false;

  private constructor(store: Store, rule: string, entries: readonly Drift[]) {
    this.#store = store;
    this.#rule = rule;
    this.#entries = entries;
  }

  /** Loads the drift of a rule. */
  static async open(store: Store, rule: string): Promise<DriftBook> {
    // Store boundary: the value under this key was written only here.
    const entries = ((await store.recall(keyOf(rule))) ?? []) as readonly Drift[];
    return new DriftBook(store, rule, entries);
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Applies the result of a run over an item: resolved drift is removed, lasting drift keeps its `since`. */
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

  /** Removes items that this sweep has not seen, after a complete sweep. */
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
    // All rules share one index; the drift of a rule is written by its sweep, which runs once at a time.
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
export async function readDrift(store: Store): Promise<readonly Drift[]> {
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
function driftOf(run: Run): readonly FoundDrift[] {
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
