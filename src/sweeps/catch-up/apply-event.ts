import type { Event } from '../../contract/events/events.ts';
import { maxItems, type SeenItem, type SeenRepository, seenItemOf } from './snapshot.ts';

/** What each activity tells of an item. Others (a comment, an assignment) tell nothing that is kept. */
const told: Readonly<Record<string, readonly (keyof SeenItem)[]>> = {
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
export function withEvent(seen: SeenRepository, event: Event): SeenRepository {
  const { family, payload, subject } = event;
  if (family === 'push' || family === 'create' || family === 'delete') return withRef(seen, event);
  const item = seenItemOf(payload.pull_request, 'pull_request') ?? seenItemOf(payload.issue, 'issue');
  if (item === undefined || subject?.index === undefined) return seen;
  const known = seen.items[subject.index];
  const after = known === undefined ? firstOf(seen, item, event) : merged(known, item, event);
  return after === known ? seen : { ...seen, items: { ...seen.items, [subject.index]: after as SeenItem } };
}

/** One that was never seen was opened, or reopened, while Reeve was stopped, unless this event says just that. */
function firstOf({ items }: SeenRepository, item: SeenItem, { activity }: Event): SeenItem | undefined {
  // Where there are more than are kept, it may have been known once.
  const isFull = Object.keys(items).length >= maxItems;
  return isFull || activity === 'opened' || activity === 'reopened' ? item : undefined;
}

function merged(known: SeenItem, item: SeenItem, { activity }: Event): SeenItem {
  // Deliveries may be handled out of order; the comments of a pull request come with its issue side.
  if (Date.parse(known.updated) > Date.parse(item.updated) || known.kind !== item.kind) return known;
  const fields = told[activity] ?? [];
  const after = { ...known, ...Object.fromEntries(fields.map((field) => [field, item[field]])) };
  const isWhole = (['state', 'labels', 'text', 'head'] as const).every(
    (field) => after[field] === item[field],
  );
  return isWhole ? item : after;
}

function withRef(seen: SeenRepository, { family, payload, subject }: Event): SeenRepository {
  if (subject?.ref === undefined) return seen;
  const isTag = payload.ref_type === 'tag' || String(payload.ref).startsWith('refs/tags/');
  const before = isTag ? seen.tags : seen.refs;
  // Tags that were never read have no baseline yet: the first catch-up makes it.
  if (before === undefined) return seen;
  const known = before[subject.ref];
  const commit = family === 'create' ? payload.sha : family === 'push' ? payload.after : undefined;
  const refs = { ...before };
  if (typeof commit !== 'string' || isNothing(commit)) {
    delete refs[subject.ref];
  } else {
    const from = String(payload.before);
    const follows = known === undefined ? isNothing(from) : known === from || known === commit;
    // A push that does not begin at our snapshot comes after one that was missed.
    if (family === 'push' && !isTag && !follows) return seen;
    refs[subject.ref] = commit;
  }
  return { ...seen, [isTag ? 'tags' : 'refs']: refs };
}

function isNothing(commit: string): boolean {
  return /^0+$/.test(commit);
}
