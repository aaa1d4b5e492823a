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

/** What sweeps know of one rule's drift while they run. */
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

  /** Opens the book of a rule's drift. */
  static async open(store: Store, rule: string): Promise<DriftBook> {
    // The border to the store: what is under this key was written here alone.
    const entries = ((await store.recall(keyOf(rule))) ?? []) as readonly Drift[];
    return new DriftBook(store, rule, entries);
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Takes in what a run over an item found: what is no longer there is forgotten, what stays keeps its `since`. */
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

  /** Forgets items that this sweep has not seen, once it has seen all there are. */
  close(sweptFrom: Date): void {
    const from = sweptFrom.toISOString();
    const kept = this.#entries.filter(({ seen }) => seen >= from);
    this.#isChanged ||= kept.length < this.#entries.length;
    this.#entries = kept;
  }

  /** Writes what changed. */
  async save(): Promise<void> {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    // All rules have one index; the drift of a rule is written by its sweep, of which there is one at a time.
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

/** Returns everything that is not as some rule wants it, longest first. */
export async function readDrift(store: Store): Promise<readonly Drift[]> {
  const rules = ((await store.recall(indexKey)) ?? []) as readonly string[];
  const found: Drift[] = [];
  for (const rule of rules) {
    found.push(...(((await store.recall(keyOf(rule))) ?? []) as readonly Drift[]));
  }
  return found.toSorted((a, b) => (a.since < b.since ? -1 : 1));
}

/** Drift as one run sees it. */
type FoundDrift = {
  readonly target: string;
  readonly live: unknown;
  readonly wanted: unknown;
  readonly why: string;
};

/** Returns what a run wanted and did not get. */
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
