import type { MemberKind } from './payload-members.ts';
import type { SubjectKind } from './subject.ts';

/** Fields of Forgejo's Actions events other than `run`; the fields that are present differ between releases. */
const ofRun = {
  repository: 'optionalRepository',
  organization: 'optionalAccount',
  sender: 'optionalAccount',
} as const;

/**
 * Event families, as named in a rule's `on`, with the Event-Types of each. If the headers of a delivery disagree,
 * Event-Type decides: Event merges several kinds, and `pull_request_comment` has a different meaning in each header.
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
    visibleTo: 'pulls',
    members: { action: 'text', number: 'positive', pull_request: 'numbered', repository: 'repository' },
  },
  pull_request_review: {
    types: {
      pull_request_review_approved: ['approved'],
      pull_request_review_rejected: ['rejected'],
      pull_request_review_comment: ['commented'],
    },
    subject: 'pull_request',
    visibleTo: 'pulls',
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
    visibleTo: 'issues',
    members: { action: 'text', number: 'positive', issue: 'numbered', repository: 'repository' },
  },
  issue_comment: {
    types: { issue_comment: ['created', 'edited', 'deleted'] },
    subject: 'issue',
    visibleTo: 'issues',
    members: { action: 'text', issue: 'numbered', comment: 'identified', repository: 'repository' },
  },
  pull_request_comment: {
    types: { pull_request_comment: ['created', 'edited', 'deleted'] },
    subject: 'pull_request',
    visibleTo: 'pulls',
    members: { action: 'text', issue: 'numbered', comment: 'identified', repository: 'repository' },
  },
  push: {
    types: { push: [] },
    subject: 'branch',
    visibleTo: 'code',
    members: { ref: 'text', before: 'text', after: 'text', repository: 'repository' },
  },
  create: {
    types: { create: [] },
    subject: 'branch',
    visibleTo: 'code',
    members: { ref: 'text', ref_type: 'text', repository: 'repository' },
  },
  delete: {
    types: { delete: [] },
    subject: 'branch',
    visibleTo: 'code',
    members: { ref: 'text', ref_type: 'text', repository: 'repository' },
  },
  fork: {
    types: { fork: [] },
    subject: 'repository',
    visibleTo: 'administrators',
    members: { forkee: 'object', repository: 'repository' },
  },
  repository: {
    types: { repository: ['created', 'deleted'] },
    subject: 'repository',
    visibleTo: 'administrators',
    members: { action: 'text', repository: 'repository' },
  },
  release: {
    types: { release: ['published', 'updated', 'deleted'] },
    subject: 'repository',
    visibleTo: 'administrators',
    members: { action: 'text', release: 'object', repository: 'repository' },
  },
  wiki: {
    types: { wiki: ['created', 'edited', 'deleted'] },
    subject: 'repository',
    visibleTo: 'administrators',
    members: { action: 'text', page: 'text', repository: 'repository' },
  },
  package: {
    types: { package: ['created', 'deleted'] },
    subject: 'repository',
    visibleTo: 'administrators',
    members: { action: 'text', package: 'holder', organization: 'optionalAccount' },
  },
  status: {
    types: { status: [] },
    subject: 'repository',
    visibleTo: 'code',
    members: { sha: 'text', state: 'text', repository: 'repository' },
  },
  workflow_run: {
    types: { workflow_run: ['requested', 'in_progress', 'completed'] },
    subject: 'repository',
    visibleTo: 'administrators',
    members: { action: 'text', workflow_run: 'object', repository: 'repository' },
  },
  workflow_job: {
    types: { workflow_job: ['queued', 'waiting', 'in_progress', 'completed'] },
    subject: 'repository',
    visibleTo: 'administrators',
    members: { action: 'text', workflow_job: 'object', repository: 'repository' },
  },
  action_run_failure: {
    types: { action_run_failure: [] },
    subject: 'repository',
    visibleTo: 'administrators',
    members: { action: 'text', run: 'holder', ...ofRun },
  },
  action_run_recover: {
    types: { action_run_recover: [] },
    subject: 'repository',
    visibleTo: 'administrators',
    members: { action: 'text', run: 'holder', ...ofRun },
  },
  action_run_success: {
    types: { action_run_success: [] },
    subject: 'repository',
    visibleTo: 'administrators',
    members: { action: 'text', run: 'holder', ...ofRun },
  },
} as const satisfies Record<string, FamilyRow>;

/** A part of a repository with its own access level. */
export type ReadableUnit = 'issues' | 'pulls' | 'code';

type FamilyRow = {
  /** Activities by Event-Type; empty if the kind has no `action` field. */
  readonly types: Readonly<Record<string, readonly string[]>>;
  readonly subject: SubjectKind;
  /**
   * Audience of deliveries of this family on the dashboard: readers of a unit of the repository, or only its
   * administrators.
   */
  readonly visibleTo: ReadableUnit | 'administrators';
  /**
   * Required fields of a body of this kind. The signature covers only the body, so these fields detect a body that is
   * sent with a different Event-Type header.
   */
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

/** Returns the activities of a family over all its Event-Types. */
export function activitiesOf(family: Family): readonly string[] {
  return [...new Set(Object.values(eventFamilies[family].types).flat())];
}
