import type { Event } from '../../../contract/events/events.ts';
import { BoundedMap } from '../../../platform/cache/bounded-map.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Store } from '../../../store/store.ts';
import { mapConcurrently } from '../map-concurrently.ts';
import { applyNote, noteOf } from './apply-event.ts';
import { createNotesInMemory, createSharedNotes, type KeptNote } from './notes.ts';
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
