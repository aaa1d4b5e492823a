import { randomUUID } from 'node:crypto';
import type { Event } from '../../../contract/events/events.ts';
import { BoundedMap } from '../../../platform/cache/bounded-map.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Store } from '../../../store/store.ts';
import { mapConcurrently } from '../map-concurrently.ts';
import { applyNote, type EventNote, noteOf } from './apply-event.ts';
import { maxItems, type RepositorySnapshot } from './snapshot.ts';

/** What was last seen of each repository, advanced by catching up and by the deliveries that were settled. */
export interface Snapshots {
  read(repositoryId: number): Promise<RepositorySnapshot | undefined>;
  /** Replaces a snapshot by what `change` makes of it, with all that was noted until then. */
  edit(
    repositoryId: number,
    change: (seen: RepositorySnapshot | undefined) => RepositorySnapshot | undefined,
  ): Promise<void>;
  /** Takes in an event that was handled, so that catching up does not find it again. */
  note(event: Event): Promise<void>;
  /** Writes what this process alone knows; after a crash before it, what is found again changes nothing. */
  save(): Promise<void>;
}

type SnapshotStore = Pick<Store, 'isShared' | 'recall' | 'revise'>;

/** Repositories that are known to have a snapshot. */
const maxKnown = 10_000;
/** Notes of a repository, and notes of all repositories in memory, beyond which they are written to the snapshots. */
const maxNotes = 100;
const maxUnstored = 2_000;
/** Snapshots that are written at the same time: they share a transaction, and others have their turn in between. */
const savedAtOnce = 16;
/** Notes in memory are written together after this time at the latest, when another comes. */
const saveAfterMs = 30_000;

export function createSnapshots(store: SnapshotStore, clock: Pick<Clock, 'monotonicMs'>): Snapshots {
  const notes = store.isShared ? createSharedNotes(store) : createNotesInMemory();
  const known = new BoundedMap<number, true>(maxKnown);
  let savedAtMs = clock.monotonicMs();
  const keyOf = (id: number): string => `seen ${id}`;

  const snapshots: Snapshots = {
    async read(id) {
      // The notes first: what is moved from them into the snapshot meanwhile is applied twice.
      const noted = await notes.read(id);
      return applyAll(await store.recall(keyOf(id)), noted);
    },
    async edit(id, change) {
      const noted = await notes.read(id);
      await store.revise(keyOf(id), (value) => {
        const after = change(applyAll(value, noted));
        return after === undefined || after === value ? value : { ...after, items: latest(after.items) };
      });
      await notes.drop(id, noted);
    },
    async note(event) {
      const id = event.repository?.id;
      const note = noteOf(event);
      if (id === undefined || note === undefined) return;
      // What was never seen has no baseline yet: the first catch-up makes it.
      if (!known.has(id) && (await store.recall(keyOf(id))) === undefined) return;
      known.set(id, true);
      const count = await notes.add(id, note);
      if (count >= maxNotes) await fold(id);
      if (notes.countUnstored() > maxUnstored) await fold(notes.unstored()[0] ?? id);
      if (clock.monotonicMs() - savedAtMs > saveAfterMs) await snapshots.save();
    },
    async save() {
      savedAtMs = clock.monotonicMs();
      await mapConcurrently(notes.unstored(), savedAtOnce, fold);
    },
  };
  const fold = (id: number): Promise<void> => snapshots.edit(id, (seen) => seen);
  return snapshots;
}

/** The border to the store: what is under these keys was written above alone. */
function applyAll(value: unknown, notes: readonly KeptNote[]): RepositorySnapshot | undefined {
  let seen = value as RepositorySnapshot | undefined;
  for (const { note } of notes) seen = seen && applyNote(seen, note);
  return seen;
}

function latest(items: RepositorySnapshot['items']): RepositorySnapshot['items'] {
  const entries = Object.entries(items);
  if (entries.length <= maxItems) return items;
  return Object.fromEntries(
    entries.toSorted(([, a], [, b]) => Date.parse(b.updated) - Date.parse(a.updated)).slice(0, maxItems),
  );
}

/** A note, and the name by which it is forgotten. */
type KeptNote = { readonly name: string; readonly note: EventNote };

/** What handled events said of repositories since their snapshots were written, in order. */
interface EventNotes {
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
function createNotesInMemory(): EventNotes {
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
function createSharedNotes(store: Pick<Store, 'recall' | 'revise'>): EventNotes {
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
