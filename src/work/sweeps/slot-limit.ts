import type { Run } from '../../engine/record.ts';
import type { LoadedRule } from '../../rules/rule.ts';
import type { SweepStore } from './sweep-store.ts';

/**
 * The limit of items that a rule changes in one slot. An item is counted before its changes are sent, and no more once it is
 * known that none was: a sweep that is interrupted and goes on changes fewer items, never more. Items that were changed in a
 * slot are passed over in the following ones until a sweep has come to the end of all items: those that change in each slot
 * do not keep the others from their turn.
 */
export interface SlotLimit {
  readonly items: number;
  /** Whether an item has wanted changes for which there was no room. */
  readonly isReached: boolean;
  /** Returns whether an item was changed in an earlier slot while others had to wait. */
  passesOver(item: string): boolean;
  /** Counts an item whose changes are about to be sent; false where the slot has no room for it. */
  begin(): Promise<boolean>;
  /** Notes the result of the item that was counted last. */
  end(item: string, run: Run): Promise<void>;
  /** Stores which items had their turn. `isComplete`: the sweep came to the end of all items. */
  save(isComplete: boolean): Promise<void>;
}

/** What is stored of a slot. */
type SlotCount = { readonly slot: string; readonly changed: number };

const countKey = (rule: string): string => `sweep-items ${rule}`;
const turnKey = (rule: string): string => `sweep-turn ${rule}`;

/** Returns the items that were changed in earlier slots while others had to wait. */
export async function readTurn(recall: SweepStore['recall'], rule: string): Promise<ReadonlySet<string>> {
  // The border to the store: what is under this key was written below alone.
  return new Set(((await recall(turnKey(rule))) ?? []) as readonly string[]);
}

/**
 * Opens the limit of a rule in a slot; undefined where it has none, or only observes. Where a person asked for some items alone
 * (`isPartial`), no turns are taken.
 */
export async function openSlotLimit(
  store: Pick<SweepStore, 'recall' | 'remember'>,
  { id: rule, limits: { items }, mode }: LoadedRule,
  { slot, isPartial = false }: { readonly slot: string; readonly isPartial?: boolean | undefined },
): Promise<SlotLimit | undefined> {
  if (items === undefined || mode !== 'enforce') return undefined;
  // The border to the store: what is under this key was written here alone.
  const stored = (await store.recall(countKey(rule))) as SlotCount | undefined;
  let changed = stored?.slot === slot ? stored.changed : 0;
  const earlier: ReadonlySet<string> = isPartial ? new Set() : await readTurn(store.recall, rule);
  const later = new Set<string>();
  let isReached = false;
  let isSaved = true;
  const count = async (by: number): Promise<void> => {
    changed += by;
    await store.remember(countKey(rule), { slot, changed } satisfies SlotCount);
  };
  return {
    items,
    get isReached() {
      return isReached;
    },
    passesOver: (item) => earlier.has(item),
    async begin() {
      isReached = changed >= items;
      if (!isReached) await count(1);
      return !isReached;
    },
    async end(item, { outcomes }) {
      // What failed may have been made all the same.
      if (!outcomes.some(({ status }) => status === 'applied' || status === 'failed')) return count(-1);
      later.add(item);
      isSaved = false;
    },
    async save(isComplete) {
      if (isPartial || (isSaved && !isComplete)) return;
      isSaved = true;
      const isOver = isComplete && !isReached;
      if (isOver && earlier.size + later.size === 0) return;
      await store.remember(turnKey(rule), isOver ? undefined : [...earlier, ...later]);
    },
  };
}
