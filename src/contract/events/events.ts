import { ReeveError } from '../../platform/errors.ts';
import { eventFamilies, type Family, familyOf } from './event-families.ts';
import { checkMembers, isRecord } from './payload-members.ts';
import type { RepositoryRef, Subject, SubjectKind } from './subject.ts';

/** The sender of an event. The bot recognizes itself by `id`, because names can change. */
type Sender = { readonly id: number; readonly login: string };

/** A parsed event of a delivery. It only identifies its subject; decisions about writes use live state. */
export type Event = {
  readonly eventType: string;
  /** Undefined for an unknown kind, which is stored and counted but matches no rule. */
  readonly family: Family | undefined;
  readonly activity: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly subject: Subject | undefined;
  readonly repository: RepositoryRef | undefined;
  /** Id of the repository's owner or, for events without a repository, of the organization. */
  readonly ownerId: number | undefined;
  /** Absent for runs of Forgejo's Actions, unless they were started manually. */
  readonly sender: Sender | undefined;
};

/**
 * Parses the payload of a delivery as an event. Throws `delivery-malformed` if the body does not fit the kind in the
 * header; an unknown kind is not an error.
 */
export function parseEvent(eventType: string, payload: unknown): Event {
  if (!isRecord(payload))
    throw new ReeveError('delivery-malformed', `the body of ${eventType} is not an object`);
  const family = familyOf(eventType);
  const row = family === undefined ? undefined : eventFamilies[family];
  if (row !== undefined) checkMembers(eventType, payload, { sender: 'optionalAccount', ...row.members });
  const repository = eventRepository(family, payload);
  return {
    eventType,
    family,
    activity: activityOf(eventType, family, payload),
    payload,
    repository,
    subject:
      row && repository
        ? { ...subjectOf(row.subject, repository, payload), ...reviewOf(eventType, payload) }
        : undefined,
    ownerId: ownerIdOf(family, payload),
    sender: senderOf(payload.sender) ?? dispatcherOf(payload.run),
  };
}

/**
 * Parses the payload of a webhook as an event. Also throws `delivery-malformed` if the sender is missing: without a
 * sender, the bot's own changes cannot be recognized.
 */
export function parseDelivery(eventType: string, payload: unknown): Event {
  const event = parseEvent(eventType, payload);
  if (event.family !== undefined) {
    checkMembers(eventType, event.payload, { sender: 'account', ...eventFamilies[event.family].members });
  }
  return event;
}

/**
 * Returns the activity of an event. Reviews always have `action: reviewed`, so their activity is derived from the
 * Event-Type.
 */
function activityOf(eventType: string, family: Family | undefined, payload: Record<string, unknown>): string {
  if (family === 'pull_request_review') return eventFamilies[family].types[eventType]?.[0] ?? '';
  return typeof payload.action === 'string' ? payload.action : '';
}

function sourceOfRepository(family: Family | undefined, payload: Record<string, unknown>): unknown {
  // The top-level repository of a package event is always null; Forgejo's Actions events contain the repository in the
  // run.
  if (family === 'package') return isRecord(payload.package) ? payload.package.repository : undefined;
  return payload.repository ?? (isRecord(payload.run) ? payload.run.repository : undefined);
}

function eventRepository(
  family: Family | undefined,
  payload: Record<string, unknown>,
): RepositoryRef | undefined {
  const repository = sourceOfRepository(family, payload);
  if (!isRecord(repository) || !Number.isSafeInteger(repository.id)) return undefined;
  const full = typeof repository.full_name === 'string' ? repository.full_name.split('/') : [];
  const [owner, name] = full;
  if (full.length !== 2 || !owner || !name) return undefined;
  return { id: repository.id as number, owner, name };
}

function subjectOf(kind: SubjectKind, repository: RepositoryRef, payload: Record<string, unknown>): Subject {
  if (kind === 'pull_request' || kind === 'issue') {
    const inner = isRecord(payload.pull_request) ? payload.pull_request : payload.issue;
    const index = payload.number ?? (isRecord(inner) ? inner.number : undefined);
    if (!Number.isSafeInteger(index))
      throw new ReeveError('delivery-malformed', `the body has no ${kind} number`);
    const comment = isRecord(payload.comment) ? payload.comment.id : undefined;
    const about = { kind, repository, index: index as number };
    return Number.isSafeInteger(comment) ? { ...about, comment: comment as number } : about;
  }
  if (kind === 'branch' && typeof payload.ref === 'string') {
    const ref = payload.ref.replace(/^refs\/(heads|tags)\//, '');
    const { before, after } = payload;
    const moved = typeof before === 'string' && typeof after === 'string';
    const isTag = payload.ref_type === 'tag' || payload.ref.startsWith('refs/tags/');
    const about = { kind, repository, ref, ...(isTag ? { isTag } : {}) };
    return moved ? { ...about, range: { before, after } } : about;
  }
  return { kind: 'repository', repository };
}

const stateOfReview: Readonly<Record<string, string>> = {
  pull_request_review_approved: 'APPROVED',
  pull_request_review_rejected: 'REQUEST_CHANGES',
  pull_request_review_comment: 'COMMENT',
};

/**
 * Returns what identifies the review of an event: its author and state. The payload does not contain the id of the
 * review.
 */
function reviewOf(eventType: string, payload: Record<string, unknown>): Pick<Subject, 'review'> {
  const state = stateOfReview[eventType];
  const reviewer = senderOf(payload.sender);
  return state !== undefined && reviewer ? { review: { reviewer: reviewer.id, state } } : {};
}

function ownerIdOf(family: Family | undefined, payload: Record<string, unknown>): number | undefined {
  const repository = sourceOfRepository(family, payload);
  // A user's package that is not linked to a repository has only an owner.
  const own = isRecord(payload.package) ? payload.package.owner : undefined;
  const owner = isRecord(repository) ? repository.owner : (payload.organization ?? own);
  return isRecord(owner) && Number.isSafeInteger(owner.id) ? (owner.id as number) : undefined;
}

function senderOf(sender: unknown): Sender | undefined {
  if (!isRecord(sender) || !Number.isSafeInteger(sender.id)) return undefined;
  return { id: sender.id as number, login: typeof sender.login === 'string' ? sender.login : '' };
}

/**
 * Returns the account that started a run of Forgejo's Actions manually or through the API. Events of runs have no
 * sender; without this account, a rule that starts a workflow when another has ended would react to its own runs
 * forever. Returns undefined for all other runs, such as those started by a push: they report the checks of a commit.
 */
function dispatcherOf(run: unknown): Sender | undefined {
  return isRecord(run) && run.trigger_event === 'workflow_dispatch' ? senderOf(run.trigger_user) : undefined;
}

/**
 * Returns the lane of a delivery: `repository id#index`; without an index, the repository's id; without a repository,
 * the owner's id; otherwise one common lane. The deliveries of a lane are processed in order.
 */
export function laneOf(event: Event): string {
  if (event.repository) {
    const index = event.subject?.index;
    return index === undefined ? `${event.repository.id}` : `${event.repository.id}#${index}`;
  }
  return event.ownerId === undefined ? 'instance' : `owner ${event.ownerId}`;
}
