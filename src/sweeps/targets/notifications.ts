import { BoundedMap } from '../../cache/bounded-map.ts';
import type { RepositoryRef, Subject } from '../../contract/events/subject.ts';
import { operations } from '../../contract/operations.ts';
import type { NotificationThread } from '../../contract/resources/notifications.ts';
import { ReeveError } from '../../errors.ts';
import { narrowNotifications } from './narrow.ts';
import { toRepositoryRef } from './repositories.ts';
import type { Target, TargetPage, Walk } from './target.ts';

/** A place: only threads that changed at this instant or before are still to come. */
type NotificationsPosition = { readonly before?: string };

const itemsPerPage = 50;
const maxStalePages = 20;
/** Identities remembered: far more than can share one instant. */
const maxSeen = 5_000;

/**
 * Yields the account's notifications, last changed first. Marking one takes it out of the list and moves the others up,
 * so the next request is never "page 2" but "what changed before the last one seen"; within one instant the pages are
 * counted, and read again until they bring nothing new.
 */
export async function* targetsInNotifications(walk: Walk): AsyncGenerator<TargetPage> {
  const { before: last, ...narrowed } = narrowNotifications(walk.rule.condition?.source, walk.now);
  let before = (walk.from as NotificationsPosition | undefined)?.before ?? last;
  const seen = new BoundedMap<number, true>(maxSeen);
  let page = 1;
  let isNews = false;
  let stale = 0;
  for (;;) {
    const query = {
      ...listQuery(narrowed),
      ...(before === undefined ? {} : { before }),
      limit: itemsPerPage,
      page,
    };
    const threads = await walk.client.call(operations.listNotifications, { query });
    const fresh = threads.filter(({ id }) => !seen.has(id));
    for (const { id } of fresh) seen.set(id, true);
    const end = threads.at(-1);
    if (end === undefined) {
      if (page === 1 || !isNews) return;
      page = 1;
      isNews = false;
      continue;
    }
    isNews ||= fresh.length > 0;
    stale = fresh.length === 0 ? stale + 1 : 0;
    if (stale > maxStalePages) {
      throw new ReeveError(
        'forge-paging',
        `the notifications do not end: ${stale} pages brought nothing new`,
      );
    }
    const until = end.updated_at ?? before;
    const targets = fresh.map(targetOf).filter(({ subject }) => walk.isInScope(subject));
    yield {
      targets,
      next: { ...(until === undefined ? {} : { before: until }) } satisfies NotificationsPosition,
    };
    const isSameInstant =
      until === undefined || (before !== undefined && Date.parse(until) >= Date.parse(before));
    page = isSameInstant ? page + 1 : 1;
    if (!isSameInstant) isNews = false;
    before = isSameInstant ? before : until;
  }
}

function listQuery(narrowed: Omit<ReturnType<typeof narrowNotifications>, 'before'>) {
  const { 'status-types': statuses, 'subject-type': types, ...rest } = narrowed;
  return {
    ...rest,
    ...(statuses ? { 'status-types': [...statuses] } : {}),
    ...(types ? { 'subject-type': [...types] } : {}),
  };
}

function targetOf(notification: NotificationThread): Target {
  const repository = notification.repository ? toRepositoryRef(notification.repository) : undefined;
  return {
    key: `notification ${notification.id}`,
    subject: subjectOf(notification, repository),
    item: { notification },
  };
}

/** The number of an issue or pull request is the end of its API address. */
function subjectOf(thread: NotificationThread, repository: RepositoryRef | undefined): Subject {
  const number = /\/(?:issues|pulls)\/(\d+)$/.exec(thread.subject?.url ?? '')?.[1];
  return {
    kind: 'notification',
    thread: thread.id,
    ...(repository ? { repository } : {}),
    ...(number === undefined ? {} : { index: Number(number) }),
  };
}
