import type { Event } from '../../contract/events/events.ts';
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

/**
 * Returns what is known of a repository after an event that was handled: only what that event told. The payload shows
 * the whole item, but a push that was missed before it is in there, too, and is still to be found.
 */
export function applyEvent(snapshot: RepositorySnapshot, event: Event): RepositorySnapshot {
  const { family, payload, subject } = event;
  if (family === 'push' || family === 'create' || family === 'delete') return withRef(snapshot, event);
  const item = toItemSnapshot(payload.pull_request, 'pull_request') ?? toItemSnapshot(payload.issue, 'issue');
  if (item === undefined || subject?.index === undefined) return snapshot;
  const known = snapshot.items[subject.index];
  const after = known === undefined ? firstOf(snapshot, item, event) : merged(known, item, event);
  return after === known
    ? snapshot
    : { ...snapshot, items: { ...snapshot.items, [subject.index]: after as ItemSnapshot } };
}

/** One that was never seen was opened, or reopened, while Reeve was stopped, unless this event says just that. */
function firstOf(
  { items }: RepositorySnapshot,
  item: ItemSnapshot,
  { activity }: Event,
): ItemSnapshot | undefined {
  // Where there are more than are kept, it may have been known once.
  const isFull = Object.keys(items).length >= maxItems;
  return isFull || activity === 'opened' || activity === 'reopened' ? item : undefined;
}

function merged(known: ItemSnapshot, item: ItemSnapshot, { activity }: Event): ItemSnapshot {
  // Deliveries may be handled out of order; the comments of a pull request come with its issue side.
  if (Date.parse(known.updated) > Date.parse(item.updated) || known.kind !== item.kind) return known;
  const fields = told[activity] ?? [];
  const after = { ...known, ...Object.fromEntries(fields.map((field) => [field, item[field]])) };
  const isWhole = (['state', 'labels', 'text', 'head'] as const).every(
    (field) => after[field] === item[field],
  );
  return isWhole ? item : after;
}

function withRef(snapshot: RepositorySnapshot, { family, payload, subject }: Event): RepositorySnapshot {
  if (subject?.ref === undefined) return snapshot;
  const isTag = payload.ref_type === 'tag' || String(payload.ref).startsWith('refs/tags/');
  const before = isTag ? snapshot.tags : snapshot.refs;
  // Tags that were never read have no baseline yet: the first catch-up makes it.
  if (before === undefined) return snapshot;
  const known = before[subject.ref];
  const commit = family === 'create' ? payload.sha : family === 'push' ? payload.after : undefined;
  const refs = { ...before };
  if (typeof commit !== 'string' || isDeleted(commit)) {
    delete refs[subject.ref];
  } else {
    const from = String(payload.before);
    const follows = known === undefined ? isDeleted(from) : known === from || known === commit;
    // A push that does not begin at our snapshot comes after one that was missed.
    if (family === 'push' && !isTag && !follows) return snapshot;
    refs[subject.ref] = commit;
  }
  return { ...snapshot, [isTag ? 'tags' : 'refs']: refs };
}

function isDeleted(commit: string): boolean {
  return /^0+$/.test(commit);
}
