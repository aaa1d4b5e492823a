import type { RepositoryRef, Subject } from '../../../contract/events/subject.ts';
import { operations } from '../../../contract/operations.ts';
import type { NotificationThread } from '../../../contract/resources/notifications.ts';
import { createUnlimitedMeter } from '../../../patterns/meter.ts';
import { BoundedMap } from '../../../platform/cache/bounded-map.ts';
import { ReeveError } from '../../../platform/errors.ts';
import type { Each } from '../../../rules/rule.ts';
import { narrowNotifications } from './narrow.ts';
import { failuresIn, type ListPosition, servedRepositories, toRepositoryRef } from './repositories.ts';
import type { Target, TargetPage, Walk } from './target.ts';

/** A place: only threads that changed at this instant or before are still to come. */
type NotificationsPosition = { readonly before?: string };

const itemsPerPage = 50;
const maxStalePages = 20;
/** Identities remembered: far more than can share one instant. */
const maxSeen = 5_000;

/** A place among repositories: the page of them, how many of it are done, and where to go on in the next one. */
type InRepositoriesPosition = ListPosition & {
  readonly done: number;
  readonly inside?: NotificationsPosition;
};

/** Asks for one page of threads. */
type ThreadLister = (query: Readonly<Record<string, unknown>>) => Promise<readonly NotificationThread[]>;

/** Yields the account's notifications: all of them, or repository by repository where `each` names some. */
export function targetsInNotifications(each: Each, walk: Walk): AsyncGenerator<TargetPage> {
  if (each.in !== undefined) return inNamedRepositories(each.in, walk);
  const list: ThreadLister = (query) => walk.client.call(operations.listNotifications, { query });
  return threadsIn(list, walk, walk.from as NotificationsPosition | undefined);
}

async function* inNamedRepositories(scope: NonNullable<Each['in']>, walk: Walk): AsyncGenerator<TargetPage> {
  const from = walk.from as InRepositoriesPosition | undefined;
  const served = {
    ...walk.served,
    listed: [...walk.served.listed, ...scope.written.filter((one) => !one.startsWith('!'))],
  };
  const meter = createUnlimitedMeter();
  const isNamed = ({ owner, name }: RepositoryRef): boolean => scope.matches(`${owner}/${name}`, meter);
  for await (const page of servedRepositories(walk.client, served, from)) {
    const isFirst = from?.source === page.place.source && from.page === page.place.page;
    const refs = page.repositories.map(toRepositoryRef).filter(isNamed);
    for (let done = isFirst ? from.done : 0; done < refs.length; done += 1) {
      const { owner, name: repo } = refs[done] ?? { owner: '', name: '' };
      const list: ThreadLister = (query) =>
        walk.client.call(operations.listRepositoryNotifications, { params: { owner, repo }, query });
      const inside = isFirst && done === from.done ? from.inside : undefined;
      try {
        for await (const { targets, next } of threadsIn(list, walk, inside)) {
          yield { targets, next: { ...page.place, done, inside: next } };
        }
      } catch (error) {
        // A lost connection ends the sweep, which goes on from here; what one repository refuses does not.
        if (!(error instanceof ReeveError) || error.retryable) throw error;
        const next = { ...page.place, done: done + 1 } satisfies InRepositoriesPosition;
        yield { targets: [], next, failures: [{ item: `${owner}/${repo}`, error }] };
      }
    }
    const isAbout = (subject: Subject): boolean =>
      subject.repository === undefined || isNamed(subject.repository);
    yield { targets: [], next: { ...page.following, done: 0 }, failures: failuresIn(page, isAbout) };
  }
}

/**
 * Yields the threads of a list, last changed first. Marking one takes it out of the list and moves the others up,
 * so the next request is never "page 2" but "what changed before the last one seen"; within one instant the pages are
 * counted, and read again until they bring nothing new.
 */
async function* threadsIn(
  list: ThreadLister,
  walk: Walk,
  from: NotificationsPosition | undefined,
): AsyncGenerator<TargetPage> {
  const { before: last, ...narrowed } = narrowNotifications(walk.rule.condition?.source, walk.now);
  let before = from?.before ?? last;
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
    const threads = await list(query);
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
