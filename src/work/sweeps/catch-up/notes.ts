import { randomUUID } from 'node:crypto';
import type { Store } from '../../../store/store.ts';
import type { EventNote } from './apply-event.ts';

/** A note, and the name by which it is forgotten. */
export type KeptNote = { readonly name: string; readonly note: EventNote };

/** What handled events said of repositories since their snapshots were written, in order. */
export interface EventNotes {
  /** Adds a note and returns how many the repository has. */
  add(repositoryId: number, note: EventNote): Promise<number>;
  read(repositoryId: number): Promise<readonly KeptNote[]>;
  /** Forgets notes that are in the snapshot. */
  drop(repositoryId: number, notes: readonly KeptNote[]): Promise<void>;
  /** Returns the repositories whose notes would be lost with this process, longest first. */
  unstored(): readonly number[];
  /** Returns how many notes would be lost with this process. */
  countUnstored(): number;
}

/** Notes of a repository in memory while the store refuses them, the newest. */
const maxKept = 1_000;

/** Creates notes in memory, for a process that has the store for itself: a note costs no write. */
export function createNotesInMemory(): EventNotes {
  const kept = new Map<number, readonly KeptNote[]>();
  let count = 0;
  const keep = (id: number, notes: readonly KeptNote[]): void => {
    count += notes.length - (kept.get(id)?.length ?? 0);
    if (notes.length === 0) kept.delete(id);
    else kept.set(id, notes);
  };
  return {
    async add(id, note) {
      const notes = [...(kept.get(id) ?? []), { name: randomUUID(), note }].slice(-maxKept);
      keep(id, notes);
      return notes.length;
    },
    read: async (id) => kept.get(id) ?? [],
    async drop(id, notes) {
      keep(id, without(kept.get(id) ?? [], notes));
    },
    unstored: () => [...kept.keys()],
    countUnstored: () => count,
  };
}

/**
 * Creates notes in a store that processes share: deliveries of one branch or issue are handled by one process after the other, and
 * a pass of catching up by any of them has to know what all have handled.
 */
export function createSharedNotes(store: Pick<Store, 'recall' | 'revise'>): EventNotes {
  const keyOf = (id: number): string => `seen notes ${id}`;
  // The border to the store: what is under these keys was written here alone.
  const listIn = (value: unknown): readonly KeptNote[] => (value ?? []) as readonly KeptNote[];
  return {
    async add(id, note) {
      const added = { name: randomUUID(), note };
      return listIn(await store.revise(keyOf(id), (value) => [...listIn(value), added])).length;
    },
    read: async (id) => listIn(await store.recall(keyOf(id))),
    async drop(id, notes) {
      if (notes.length === 0) return;
      await store.revise(keyOf(id), (value) => {
        const left = without(listIn(value), notes);
        return left.length === 0 ? undefined : left;
      });
    },
    unstored: () => [],
    countUnstored: () => 0,
  };
}

function without(notes: readonly KeptNote[], gone: readonly KeptNote[]): readonly KeptNote[] {
  const names = new Set(gone.map(({ name }) => name));
  return notes.filter(({ name }) => !names.has(name));
}
