import type { Client } from '../../../client/client.ts';
import { readMember } from '../../../contract/events/payload-members.ts';
import { operations } from '../../../contract/operations.ts';
import type { Comment } from '../../../contract/resources/comments.ts';
import type { PullReview } from '../../../contract/resources/reviews.ts';
import type { CommitStatus } from '../../../contract/resources/statuses.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { freshPages } from '../targets/repositories.ts';
import {
  type CurrentItem,
  type CurrentRepository,
  deliveredReviewKey,
  type KnownActs,
  type MissedEvent,
  overlapMs,
  type RepositorySnapshot,
} from './snapshots.ts';

/** Maximum number of heads whose statuses are read in one poll of a repository. */
const maxHeads = 20;
/** Maximum number of statuses of one head that are read. */
const statusesPerPage = 50;
const maxStatusPages = 4;
/** Maximum number of comments and reviews of a repository that are remembered: the latest. */
const maxSeen = 1_000;

/** Comments, reviews and statuses of a repository, as far as they were read. */
export type CurrentActs = {
  readonly comments: readonly Comment[];
  readonly reviews: readonly { readonly number: number; readonly review: PullReview }[];
  /** Newest statuses by head. */
  readonly statuses: ReadonlyMap<string, readonly CommitStatus[]>;
  /** All heads of open pull requests. */
  readonly heads: readonly string[];
  /** Issues by number that the events name and the lists do not contain. */
  readonly issues: ReadonlyMap<number, Readonly<Record<string, unknown>>>;
  /** Position among the heads from which the next poll continues. */
  readonly cursor: number;
};

type Place = { readonly owner: string; readonly repo: string };

/**
 * Reads the comments since those that are known, the reviews of pull requests that have changed, and, for polling, the
 * statuses of open heads.
 */
export async function readActs(
  params: Place,
  client: Client,
  {
    before,
    known,
    live,
    at,
    cursor,
    unsettledSince,
  }: {
    readonly before: RepositorySnapshot | undefined;
    readonly known: KnownActs | undefined;
    readonly live: CurrentRepository;
    /** Instant of the forge's clock up to which items are known. */
    readonly at: string;
    /** Position among the heads whose statuses are read; absent: no statuses are read. */
    readonly cursor?: number;
    /** Instant since which the last reading has found changes, or left some; absent: it has found none. */
    readonly unsettledSince?: string | undefined;
  },
): Promise<CurrentActs> {
  const sinceMs = Date.parse(known?.comments.at ?? at) - overlapMs;
  const query = { since: new Date(sinceMs).toISOString() };
  const comments: Comment[] = [];
  const pages = freshPages(
    (from) => client.pages(operations.listRepositoryComments, { params, query }, from),
    {
      idOf: ({ id }) => id,
    },
  );
  for await (const { items } of pages) comments.push(...items);

  const open = live.items.filter(({ kind, value }) => kind === 'pull_request' && value.state === 'open');
  const reviews: { number: number; review: PullReview }[] = [];
  for (const { number, value } of live.items) {
    const updatedMs = Date.parse(String(value.updated_at));
    // Forges return whole seconds: a review in the second of a change that was just found changes no instant.
    if (before === undefined) break;
    const isChanged =
      before.items[number]?.updated !== value.updated_at ||
      updatedMs >= Date.parse(unsettledSince ?? '') - overlapMs;
    if (!isChanged || updatedMs < sinceMs || !('head' in value)) continue;
    const found = client.items(operations.listReviews, { params: { ...params, index: number } });
    for await (const review of found) reviews.push({ number, review });
  }

  const heads = cursor === undefined ? [] : [...new Set(open.map(headOf).filter((sha) => sha !== ''))];
  const unread = heads.filter((sha) => !known?.statuses[sha]);
  const turned = [...heads.slice((cursor ?? 0) % Math.max(heads.length, 1)), ...heads].slice(0, heads.length);
  const chosen = [...new Set([...unread, ...turned])].slice(0, maxHeads);
  const statuses = new Map<string, readonly CommitStatus[]>();
  for (const sha of chosen) {
    const found = await readStatuses({ ...params, ref: sha }, client);
    if (found !== undefined) statuses.set(sha, found);
  }

  const issues = new Map<number, Readonly<Record<string, unknown>>>();
  for (const comment of comments) {
    const number = numberOf(comment);
    if (before === undefined || number === undefined || issues.has(number) || live.issues?.has(number))
      continue;
    if (known?.comments.seen[comment.id] !== undefined) continue;
    try {
      issues.set(number, await client.call(operations.getIssue, { params: { ...params, index: number } }));
    } catch (error) {
      if (!(error instanceof ReeveError) || error.code !== 'forge-not-found') throw error;
    }
  }
  const next = heads.length <= maxHeads ? 0 : (cursor ?? 0) + Math.max(maxHeads - unread.length, 0);
  return { comments, reviews, statuses, heads, issues, cursor: next };
}

function headOf({ value }: CurrentItem): string {
  return String(readMember(value.head, 'sha') ?? '');
}

/** Returns the newest statuses of a commit; undefined if it no longer exists. */
async function readStatuses(
  params: Place & { readonly ref: string },
  client: Client,
): Promise<readonly CommitStatus[] | undefined> {
  const found: CommitStatus[] = [];
  try {
    for (let page = 1; page <= maxStatusPages; page += 1) {
      const query = { page, limit: statusesPerPage };
      const { statuses = [] } = await client.call(operations.getCombinedStatus, { params, query });
      found.push(...(statuses ?? []));
      if ((statuses ?? []).length < statusesPerPage) break;
    }
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'forge-not-found') return undefined;
    throw error;
  }
  return found;
}

/** Returns the number of the issue or pull request of a comment. */
function numberOf({ issue_url, pull_request_url }: Comment): number | undefined {
  const [, number] = /\/(?:issues|pulls)\/(\d+)$/.exec(issue_url || pull_request_url || '') ?? [];
  return number === undefined ? undefined : Number(number);
}

/** A comment, review or status that is not known. `act`: its key among those that are known, and its time. */
export type FoundAct = MissedEvent & { readonly act?: { readonly key: string; readonly at: string } };

/** Returns the events of comments, reviews and statuses that are not known. */
export function* actDifferences(
  known: KnownActs | undefined,
  acts: CurrentActs,
  live: CurrentRepository,
): Generator<FoundAct> {
  // What was there at the first reading is no event.
  if (known === undefined) return;
  const sinceMs = Date.parse(known.comments.at) - overlapMs;
  for (const comment of acts.comments) {
    const event = commentEvent(comment, { known, acts, live, sinceMs });
    if (event !== undefined) yield event;
  }
  for (const { number, review } of acts.reviews) {
    const eventType = reviewTypes[review.state ?? ''];
    const submittedMs = Date.parse(review.submitted_at ?? '');
    const act = { key: reviewKey(review), at: review.submitted_at ?? '' };
    const delivered = known.comments.seen[deliveredReviewKey(number, review.user?.id, eventType ?? '')];
    const isSeen =
      known.comments.seen[act.key] !== undefined || Date.parse(delivered ?? '') + overlapMs >= submittedMs;
    const pull = live.items.find((item) => item.number === number);
    if (eventType === undefined || isSeen || !(submittedMs >= sinceMs) || pull === undefined) continue;
    yield {
      eventType,
      payload: {
        action: 'reviewed',
        number,
        pull_request: pull.value,
        review: { type: eventType, content: review.body ?? '' },
        ...(review.user ? { sender: review.user } : {}),
      },
      key: `${number} review ${review.id}`,
      act,
    };
  }
  for (const [sha, statuses] of acts.statuses) {
    const ids = known.statuses[sha];
    if (ids === null) continue;
    for (const status of statuses) {
      const { id, context, status: state, description, target_url, created_at, updated_at, creator } = status;
      if ((ids?.[context ?? ''] ?? 0) >= id) continue;
      const fields = { id, sha, state: state ?? '', context: context ?? '', created_at, updated_at };
      yield {
        eventType: 'status',
        payload: { ...fields, description: description ?? '', target_url: target_url ?? '', creator },
        key: `status ${sha} ${context} ${id}`,
      };
    }
  }
}

const reviewTypes: Readonly<Record<string, string>> = {
  APPROVED: 'pull_request_review_approved',
  REQUEST_CHANGES: 'pull_request_review_rejected',
  COMMENT: 'pull_request_review_comment',
};

/** Key of a review among the comments that were seen. */
const reviewKey = ({ id }: PullReview): string => `review ${id}`;

/**
 * Returns the event of a comment. The author of a new comment caused the event, unless the comment was edited before it
 * was read: then its text may be that of another person, so the event names no account.
 */
function commentEvent(
  comment: Comment,
  {
    known,
    acts,
    live,
    sinceMs,
  }: {
    readonly known: KnownActs;
    readonly acts: CurrentActs;
    readonly live: CurrentRepository;
    readonly sinceMs: number;
  },
): FoundAct | undefined {
  const { id, created_at, updated_at, user } = comment;
  const seen = known.comments.seen[id];
  const number = numberOf(comment);
  if (seen === updated_at || number === undefined) return undefined;
  const issue = live.issues?.get(number) ?? acts.issues.get(number);
  if (issue === undefined) return undefined;
  const isNew = seen === undefined && Date.parse(created_at ?? '') >= sinceMs;
  const isUnedited = Date.parse(created_at ?? '') === Date.parse(updated_at ?? '');
  const isPull = Boolean(issue.pull_request);
  return {
    eventType: isPull ? 'pull_request_comment' : 'issue_comment',
    payload: {
      action: isNew ? 'created' : 'edited',
      issue,
      comment,
      is_pull: isPull,
      ...(isNew && isUnedited && user ? { sender: user } : {}),
    },
    key: `comment ${id} ${updated_at}`,
    act: { key: String(id), at: updated_at ?? '' },
  };
}

/**
 * Returns what is known after reading. `latest` may have notes since then. `left`: keys of acts that are left to the next
 * reading.
 */
export function advanceActs(
  latest: KnownActs | undefined,
  { comments, reviews, statuses, heads }: CurrentActs,
  { items }: CurrentRepository,
  { startedAt, left }: { readonly startedAt: Date; readonly left?: ReadonlySet<string> },
): KnownActs {
  const seen: Record<string, string> = { ...latest?.comments.seen };
  let at = latest?.comments.at;
  const see = (key: string, updated: string): void => {
    if (left?.has(key)) return;
    if (seen[key] === undefined || Date.parse(seen[key]) < Date.parse(updated)) seen[key] = updated;
    if (at === undefined || Date.parse(updated) > Date.parse(at)) at = updated;
  };
  for (const { id, updated_at } of comments) if (updated_at) see(String(id), updated_at);
  for (const { review } of reviews)
    if (review.submitted_at && review.state !== 'PENDING') see(reviewKey(review), review.submitted_at);
  const updated = items.map(({ value }) => String(value.updated_at)).filter((one) => one !== 'undefined');
  at ??= updated.toSorted((a, b) => Date.parse(b) - Date.parse(a))[0] ?? startedAt.toISOString();
  const newest = Object.entries(seen)
    .toSorted(([, a], [, b]) => Date.parse(b) - Date.parse(a))
    .slice(0, maxSeen);

  const kept: Record<string, Readonly<Record<string, number>> | null> = {};
  for (const sha of heads) {
    const read = statuses.get(sha);
    const known = latest?.statuses[sha];
    const ids: Record<string, number> = { ...known };
    for (const { id, context } of read ?? []) ids[context ?? ''] = Math.max(ids[context ?? ''] ?? 0, id);
    // A new head that was not read: the next poll reads it.
    if (read === undefined && known === undefined && latest !== undefined) continue;
    // Null: a head that was there at the first poll and was not read yet.
    kept[sha] = read === undefined ? (known ?? null) : ids;
  }
  return {
    // What is left happened before this reading.
    readAt: left?.size ? (latest?.readAt ?? startedAt.toISOString()) : startedAt.toISOString(),
    comments: { at: left?.size ? (latest?.comments.at ?? at) : at, seen: Object.fromEntries(newest) },
    statuses: kept,
  };
}
