import type { Event } from '../../../contract/events/events.ts';
import { type ItemSnapshot, maxItems, type RepositorySnapshot, toItemSnapshot } from './snapshot.ts';

/** What each activity tells of an item. Others (a comment, an assignment) tell nothing that is kept. */
const told: Readonly<Record<string, readonly (keyof ItemSnapshot)[]>> = {
  closed: ['state'],
  reopened: ['state'],
  synchronized: ['head'],
  edited: ['text'],
  label_updated: ['labels'],
  label_cleared: ['labels'],
};

/** What an event says of a repository, in few words: of an item, or of a branch or tag. Plain data. */
export type EventNote =
  | { readonly item: ItemSnapshot; readonly index: number; readonly activity: string }
  | {
      readonly ref: string;
      readonly isTag: boolean;
      /** Where it is now; absent: it is gone. */
      readonly commit?: string;
      /** Where a push began. */
      readonly from?: string;
    };

/** Returns what an event says of its repository; undefined where it says nothing that is kept. */
export function noteOf({ family, activity, payload, subject }: Event): EventNote | undefined {
  if (family === 'push' || family === 'create' || family === 'delete') {
    if (subject?.ref === undefined) return undefined;
    const isTag = payload.ref_type === 'tag' || String(payload.ref).startsWith('refs/tags/');
    const commit = family === 'create' ? payload.sha : family === 'push' ? payload.after : undefined;
    return {
      ref: subject.ref,
      isTag,
      ...(typeof commit === 'string' && !isDeleted(commit) ? { commit } : {}),
      ...(family === 'push' ? { from: String(payload.before) } : {}),
    };
  }
  const item = toItemSnapshot(payload.pull_request, 'pull_request') ?? toItemSnapshot(payload.issue, 'issue');
  if (item === undefined || subject?.index === undefined) return undefined;
  return { item, index: subject.index, activity };
}

/**
 * Returns what is known of a repository after an event that was handled: only what that event told. The payload shows
 * the whole item, but a push that was missed before it is in there, too, and is still to be found. A note may be applied twice.
 */
export function applyNote(snapshot: RepositorySnapshot, note: EventNote): RepositorySnapshot {
  if ('ref' in note) return withRef(snapshot, note);
  const { item, index, activity } = note;
  const known = snapshot.items[index];
  const after = known === undefined ? firstOf(snapshot, item, activity) : merged(known, item, activity);
  return after === undefined || after === known
    ? snapshot
    : { ...snapshot, items: { ...snapshot.items, [index]: after } };
}

/** One that was never seen was opened, or reopened, while Reeve was stopped, unless this event says just that. */
function firstOf(
  { items }: RepositorySnapshot,
  item: ItemSnapshot,
  activity: string,
): ItemSnapshot | undefined {
  // Where there are more than are kept, it may have been known once.
  const isFull = Object.keys(items).length >= maxItems;
  return isFull || activity === 'opened' || activity === 'reopened' ? item : undefined;
}

function merged(known: ItemSnapshot, item: ItemSnapshot, activity: string): ItemSnapshot {
  // Deliveries may be handled out of order; the comments of a pull request come with its issue side.
  if (Date.parse(known.updated) > Date.parse(item.updated) || known.kind !== item.kind) return known;
  const fields = told[activity] ?? [];
  const after = { ...known, ...Object.fromEntries(fields.map((field) => [field, item[field]])) };
  const isWhole = (['state', 'labels', 'text', 'head'] as const).every(
    (field) => after[field] === item[field],
  );
  return isWhole ? item : after;
}

function withRef(
  snapshot: RepositorySnapshot,
  { ref, isTag, commit, from }: Extract<EventNote, { ref: string }>,
): RepositorySnapshot {
  const before = isTag ? snapshot.tags : snapshot.refs;
  // Tags that were never read have no baseline yet: the first catch-up makes it.
  if (before === undefined) return snapshot;
  const known = before[ref];
  const refs = { ...before };
  if (commit === undefined) {
    delete refs[ref];
  } else {
    const follows =
      from === undefined || (known === undefined ? isDeleted(from) : known === from || known === commit);
    // A push that does not begin at our snapshot comes after one that was missed.
    if (!isTag && !follows) return snapshot;
    refs[ref] = commit;
  }
  return { ...snapshot, [isTag ? 'tags' : 'refs']: refs };
}

function isDeleted(commit: string): boolean {
  return /^0+$/.test(commit);
}
