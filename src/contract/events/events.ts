import { ReeveError } from '../../errors.ts';
import { checkMembers, isRecord, type MemberKind } from './payload-members.ts';
import type { RepositoryRef, Subject, SubjectKind } from './subject.ts';

/** Members of Forgejo's Actions events in addition to the run: which of them are present differs between its releases. */
const ofRun = {
  repository: 'optionalRepository',
  organization: 'optionalAccount',
  sender: 'optionalAccount',
} as const;

/**
 * The families that a rule's `on` names, and the Event-Types each has on the wire. Where the delivery's headers disagree,
 * Event-Type decides: Event merges several kinds, and `pull_request_comment` means two different things in the two.
 * Source: forge `modules/webhook/type.go`, `services/webhook/notifier.go`; Forgejo for `action_run_*`.
 */
const families = {
  pull_request: {
    types: {
      pull_request: ['opened', 'closed', 'reopened', 'edited', 'deleted'],
      pull_request_sync: ['synchronized'],
      pull_request_assign: ['assigned', 'unassigned'],
      pull_request_label: ['label_updated', 'label_cleared'],
      pull_request_milestone: ['milestoned', 'demilestoned'],
      pull_request_review_request: ['review_requested', 'review_request_removed'],
    },
    subject: 'pull_request',
    members: { action: 'text', number: 'positive', pull_request: 'numbered', repository: 'repository' },
  },
  pull_request_review: {
    types: {
      pull_request_review_approved: ['approved'],
      pull_request_review_rejected: ['rejected'],
      pull_request_review_comment: ['commented'],
    },
    subject: 'pull_request',
    members: { action: 'text', number: 'positive', pull_request: 'numbered', repository: 'repository' },
  },
  issues: {
    types: {
      issues: ['opened', 'closed', 'reopened', 'edited', 'deleted'],
      issue_assign: ['assigned', 'unassigned'],
      issue_label: ['label_updated', 'label_cleared'],
      issue_milestone: ['milestoned', 'demilestoned'],
    },
    subject: 'issue',
    members: { action: 'text', number: 'positive', issue: 'numbered', repository: 'repository' },
  },
  issue_comment: {
    types: { issue_comment: ['created', 'edited', 'deleted'] },
    subject: 'issue',
    members: { action: 'text', issue: 'numbered', comment: 'identified', repository: 'repository' },
  },
  pull_request_comment: {
    types: { pull_request_comment: ['created', 'edited', 'deleted'] },
    subject: 'pull_request',
    members: { action: 'text', issue: 'numbered', comment: 'identified', repository: 'repository' },
  },
  push: {
    types: { push: [] },
    subject: 'branch',
    members: { ref: 'text', before: 'text', after: 'text', repository: 'repository' },
  },
  create: {
    types: { create: [] },
    subject: 'branch',
    members: { ref: 'text', ref_type: 'text', repository: 'repository' },
  },
  delete: {
    types: { delete: [] },
    subject: 'branch',
    members: { ref: 'text', ref_type: 'text', repository: 'repository' },
  },
  fork: {
    types: { fork: [] },
    subject: 'repository',
    members: { forkee: 'object', repository: 'repository' },
  },
  repository: {
    types: { repository: ['created', 'deleted'] },
    subject: 'repository',
    members: { action: 'text', repository: 'repository' },
  },
  release: {
    types: { release: ['published', 'updated', 'deleted'] },
    subject: 'repository',
    members: { action: 'text', release: 'object', repository: 'repository' },
  },
  wiki: {
    types: { wiki: ['created', 'edited', 'deleted'] },
    subject: 'repository',
    members: { action: 'text', page: 'text', repository: 'repository' },
  },
  package: {
    types: { package: ['created', 'deleted'] },
    subject: 'repository',
    members: { action: 'text', package: 'holder', organization: 'optionalAccount' },
  },
  status: {
    types: { status: [] },
    subject: 'repository',
    members: { sha: 'text', state: 'text', repository: 'repository' },
  },
  workflow_run: {
    types: { workflow_run: ['requested', 'in_progress', 'completed'] },
    subject: 'repository',
    members: { action: 'text', workflow_run: 'object', repository: 'repository' },
  },
  workflow_job: {
    types: { workflow_job: ['queued', 'waiting', 'in_progress', 'completed'] },
    subject: 'repository',
    members: { action: 'text', workflow_job: 'object', repository: 'repository' },
  },
  action_run_failure: {
    types: { action_run_failure: [] },
    subject: 'repository',
    members: { action: 'text', run: 'holder', ...ofRun },
  },
  action_run_recover: {
    types: { action_run_recover: [] },
    subject: 'repository',
    members: { action: 'text', run: 'holder', ...ofRun },
  },
  action_run_success: {
    types: { action_run_success: [] },
    subject: 'repository',
    members: { action: 'text', run: 'holder', ...ofRun },
  },
} as const satisfies Record<string, FamilyRow>;

type FamilyRow = {
  /** Event-Type → its activities; empty if the kind has no `action` member. */
  readonly types: Readonly<Record<string, readonly string[]>>;
  readonly subject: SubjectKind;
  /** Members a body of this kind must have: the signature covers the body alone, so a changed header must not fit. */
  readonly members: Readonly<Record<string, MemberKind>>;
};

export type Family = keyof typeof families;

export const eventFamilies: Readonly<Record<Family, FamilyRow>> = families;

const familyOfType = new Map<string, Family>(
  Object.entries(eventFamilies).flatMap(([family, row]) =>
    Object.keys(row.types).map((type) => [type, family as Family] as const),
  ),
);

/** Returns the family of an Event-Type, or undefined for an unknown kind. */
export function familyOf(eventType: string): Family | undefined {
  return familyOfType.get(eventType);
}

/** Returns the activities of a family, over all its Event-Types. */
export function activitiesOf(family: Family): readonly string[] {
  return [...new Set(Object.values(eventFamilies[family].types).flat())];
}

/** The sender of an event. The bot recognises itself by `id`; names change. */
type Sender = { readonly id: number; readonly login: string };

/** An event from a delivery. It only shows where to look: decisions about writes use live state. */
export type Event = {
  readonly eventType: string;
  /** Undefined for a kind that is not in the table: it is stored and counted, and reaches no rule. */
  readonly family: Family | undefined;
  readonly activity: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly subject: Subject | undefined;
  readonly repository: RepositoryRef | undefined;
  /** Id of the repository's owner, or of the organization, for events without a repository. */
  readonly ownerId: number | undefined;
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
    sender: senderOf(payload.sender),
  };
}

/**
 * Parses the payload of a webhook as an event. Throws `delivery-malformed` also if the sender is missing: without one,
 * the bot's own changes cannot be recognised.
 */
export function parseDelivery(eventType: string, payload: unknown): Event {
  const event = parseEvent(eventType, payload);
  if (event.family !== undefined) {
    checkMembers(eventType, event.payload, { sender: 'account', ...eventFamilies[event.family].members });
  }
  return event;
}

/** Reviews always have `action: reviewed`; the activity is derived from the Event-Type. */
function activityOf(eventType: string, family: Family | undefined, payload: Record<string, unknown>): string {
  if (family === 'pull_request_review') return eventFamilies[family].types[eventType]?.[0] ?? '';
  return typeof payload.action === 'string' ? payload.action : '';
}

function sourceOfRepository(family: Family | undefined, payload: Record<string, unknown>): unknown {
  // The top-level repository of a package event is always null; runs of Forgejo's actions carry it inside.
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
      throw new ReeveError('delivery-malformed', `the body has no number of the ${kind}`);
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

/** Payloads of reviews do not contain the id of the review; it is found by its author and state. */
function reviewOf(eventType: string, payload: Record<string, unknown>): Pick<Subject, 'review'> {
  const state = stateOfReview[eventType];
  const reviewer = senderOf(payload.sender);
  return state !== undefined && reviewer ? { review: { reviewer: reviewer.id, state } } : {};
}

function ownerIdOf(family: Family | undefined, payload: Record<string, unknown>): number | undefined {
  const repository = sourceOfRepository(family, payload);
  // A package of a user that is not linked to a repository has only an owner.
  const own = isRecord(payload.package) ? payload.package.owner : undefined;
  const owner = isRecord(repository) ? repository.owner : (payload.organization ?? own);
  return isRecord(owner) && Number.isSafeInteger(owner.id) ? (owner.id as number) : undefined;
}

function senderOf(sender: unknown): Sender | undefined {
  if (!isRecord(sender) || !Number.isSafeInteger(sender.id)) return undefined;
  return { id: sender.id as number, login: typeof sender.login === 'string' ? sender.login : '' };
}

/**
 * Returns the lane of a delivery, within which order is kept: `repository id # index`; without an index the repository's
 * id; without a repository the owner's id; otherwise one common lane.
 */
export function laneOf(event: Event): string {
  if (event.repository) {
    const index = event.subject?.index;
    return index === undefined ? `${event.repository.id}` : `${event.repository.id}#${index}`;
  }
  return event.ownerId === undefined ? 'instance' : `owner ${event.ownerId}`;
}
