import { BoundedMap } from '../../cache/bounded-map.ts';
import type { Clock } from '../../clock.ts';
import type { Event } from '../../contract/events/events.ts';
import type { Store } from '../../store/store.ts';
import { applyEvent } from './apply-event.ts';
import { maxItems, type RepositorySnapshot } from './snapshot.ts';

/** What was last seen of each repository, advanced by catching up and by the deliveries that were settled. */
export interface Snapshots {
  read(repositoryId: number): Promise<RepositorySnapshot | undefined>;
  write(repositoryId: number, snapshot: RepositorySnapshot): Promise<void>;
  /** Takes in an event that was handled, so that catching up does not find it again. */
  note(event: Event): Promise<void>;
  /** Writes what was noted; after a crash before it, what is found again changes nothing. */
  save(): Promise<void>;
}

/** Repositories kept in memory. */
const maxRepositories = 50;
/** Notes are written together after this time at the latest, when another comes. */
const saveAfterMs = 30_000;

export function createSnapshots(
  store: Pick<Store, 'remember' | 'recall'>,
  clock: Pick<Clock, 'monotonicMs'>,
): Snapshots {
  const cache = new BoundedMap<number, { seen: RepositorySnapshot; isDirty: boolean }>(maxRepositories);
  let savedAtMs = clock.monotonicMs();
  const keyOf = (id: number): string => `seen ${id}`;

  const put = async (id: number, snapshot: RepositorySnapshot, isDirty: boolean): Promise<void> => {
    const removed = cache.put(id, { seen: snapshot, isDirty });
    if (removed?.[1].isDirty) await store.remember(keyOf(removed[0]), removed[1].seen);
  };

  const snapshots: Snapshots = {
    async read(id) {
      const known = cache.get(id);
      if (known) return known.seen;
      // The border to the store: what is under this key was written here alone.
      return (await store.recall(keyOf(id))) as RepositorySnapshot | undefined;
    },
    async write(id, snapshot) {
      const bounded = { ...snapshot, items: latest(snapshot.items) };
      await store.remember(keyOf(id), bounded);
      await put(id, bounded, false);
    },
    async note(event) {
      const id = event.repository?.id;
      const before = id === undefined ? undefined : await snapshots.read(id);
      // What was never seen has no baseline yet: the first catch-up makes it.
      if (id === undefined || before === undefined) return;
      const after = applyEvent(before, event);
      if (after === before) return;
      await put(id, after, true);
      if (clock.monotonicMs() - savedAtMs > saveAfterMs) await snapshots.save();
    },
    async save() {
      savedAtMs = clock.monotonicMs();
      for (const [id, entry] of cache) {
        if (!entry.isDirty) continue;
        entry.isDirty = false;
        try {
          await store.remember(keyOf(id), { ...entry.seen, items: latest(entry.seen.items) });
        } catch (error) {
          entry.isDirty = true;
          throw error;
        }
      }
    },
  };
  return snapshots;
}

function latest(items: RepositorySnapshot['items']): RepositorySnapshot['items'] {
  const entries = Object.entries(items);
  if (entries.length <= maxItems) return items;
  return Object.fromEntries(
    entries.toSorted(([, a], [, b]) => Date.parse(b.updated) - Date.parse(a.updated)).slice(0, maxItems),
  );
}
