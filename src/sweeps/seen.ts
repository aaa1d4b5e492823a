import type { Event } from '../contract/events.ts';
import type { Store } from '../store/store.ts';

/** An issue or pull request as it was last seen. */
export type SeenItem = {
  readonly kind: 'issue' | 'pull_request';
  readonly state: string;
  /** RFC 3339. */
  readonly updated: string;
  /** Names in order, one a line. */
  readonly labels: string;
  /** Title, text and target branch. */
  readonly text: string;
  /** Commit of a pull request. */
  readonly head?: string;
};

/** A repository as it was last seen, so that what was missed can be found by reading. */
export type SeenRepository = {
  /** The forge's own instant up to which changes are known, RFC 3339. */
  readonly at: string;
  readonly items: Readonly<Record<string, SeenItem>>;
  /** Branch → commit. */
  readonly refs: Readonly<Record<string, string>>;
  /** Tag → commit, or tag object where a delivery named that. Absent: tags were never read. */
  readonly tags?: Readonly<Record<string, string>>;
  /** The repository was made while nobody listened: all that is in it was missed. Gone once it has been read. */
  readonly isNew?: true;
};

/** What was last seen of each repository, advanced by catching up and by the deliveries that were settled. */
export interface Seen {
  read(repositoryId: number): Promise<SeenRepository | undefined>;
  write(repositoryId: number, seen: SeenRepository): Promise<void>;
  /** Takes in an event that was handled, so that catching up does not find it again. */
  note(event: Event): Promise<void>;
  /** Writes what was noted; after a crash before it, what is found again changes nothing. */
  save(): Promise<void>;
}

/** Repositories kept in memory, and items kept of each: the latest. */
const maxRepositories = 50;
const maxItems = 1_000;
/** Notes are written together after this time at the latest, when another comes. */
const saveAfterMs = 30_000;

/** Creates it on the store. */
export function createSeen(store: Pick<Store, 'remember' | 'recall'>, nowMs: () => number): Seen {
  const kept = new Map<number, { seen: SeenRepository; isDirty: boolean }>();
  let savedAtMs = nowMs();
  const keyOf = (id: number): string => `seen ${id}`;

  const put = async (id: number, seen: SeenRepository, isDirty: boolean): Promise<void> => {
    kept.delete(id);
    kept.set(id, { seen, isDirty });
    const [oldest] = kept;
    if (kept.size <= maxRepositories || oldest === undefined) return;
    kept.delete(oldest[0]);
    if (oldest[1].isDirty) await store.remember(keyOf(oldest[0]), oldest[1].seen);
  };

  const seenStore: Seen = {
    async read(id) {
      const known = kept.get(id);
      if (known) return known.seen;
      // The border to the store: what is under this key was written here alone.
      return (await store.recall(keyOf(id))) as SeenRepository | undefined;
    },
    async write(id, seen) {
      const bounded = { ...seen, items: latest(seen.items) };
      await store.remember(keyOf(id), bounded);
      await put(id, bounded, false);
    },
    async note(event) {
      const id = event.repository?.id;
      const before = id === undefined ? undefined : await seenStore.read(id);
      // What was never seen has no baseline yet: the first catch-up makes it.
      if (id === undefined || before === undefined) return;
      const after = withEvent(before, event);
      if (after === before) return;
      await put(id, after, true);
      if (nowMs() - savedAtMs > saveAfterMs) await seenStore.save();
    },
    async save() {
      savedAtMs = nowMs();
      for (const [id, entry] of kept) {
        if (!entry.isDirty) continue;
        entry.isDirty = false;
        await store.remember(keyOf(id), { ...entry.seen, items: latest(entry.seen.items) });
      }
    },
  };
  return seenStore;
}

function latest(items: SeenRepository['items']): SeenRepository['items'] {
  const entries = Object.entries(items);
  if (entries.length <= maxItems) return items;
  return Object.fromEntries(
    entries.toSorted(([, a], [, b]) => Date.parse(b.updated) - Date.parse(a.updated)).slice(0, maxItems),
  );
}

function withEvent(seen: SeenRepository, { family, payload, subject }: Event): SeenRepository {
  if (family === 'push' || family === 'create' || family === 'delete') {
    if (subject?.ref === undefined) return seen;
    const commit = family === 'create' ? payload.sha : family === 'push' ? payload.after : undefined;
    const isThere = typeof commit === 'string' && !/^0+$/.test(commit);
    const isTag = payload.ref_type === 'tag' || String(payload.ref).startsWith('refs/tags/');
    // Tags that were never read have no baseline yet: the first catch-up makes it.
    if (isTag && seen.tags === undefined) return seen;
    const refs = { ...(isTag ? seen.tags : seen.refs) };
    if (isThere) refs[subject.ref] = commit;
    else delete refs[subject.ref];
    return { ...seen, [isTag ? 'tags' : 'refs']: refs };
  }
  const item = seenItemOf(payload.pull_request, 'pull_request') ?? seenItemOf(payload.issue, 'issue');
  if (item === undefined || subject?.index === undefined) return seen;
  const known = seen.items[subject.index];
  // Deliveries may be handled out of order; the comments of a pull request come with its issue side.
  if (known && (Date.parse(known.updated) > Date.parse(item.updated) || known.kind !== item.kind))
    return seen;
  return { ...seen, items: { ...seen.items, [subject.index]: item } };
}

/** Returns how an issue or pull request looks, from what a forge says of it, or undefined where it says too little. */
export function seenItemOf(value: unknown, kind: SeenItem['kind']): SeenItem | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { state, updated_at, labels, title, body, head, base } = value as Readonly<Record<string, unknown>>;
  if (typeof state !== 'string' || typeof updated_at !== 'string') return undefined;
  const commit = memberOf(head, 'sha');
  return {
    kind,
    state,
    updated: updated_at,
    labels: (Array.isArray(labels) ? labels : [])
      .map((label) => String(memberOf(label, 'name')))
      .sort()
      .join('\n'),
    text: `${String(title ?? '')}\n${String(memberOf(base, 'ref') ?? '')}\n${digestOf(String(body ?? ''))}`,
    ...(typeof commit === 'string' ? { head: commit } : {}),
  };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Enough to notice that a text is another one: its length and a sum of 32 bits. */
function digestOf(text: string): string {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0;
  return `${text.length}:${sum}`;
}
