/** Kinds of subjects of an event, a sweep item or a command. */
export const subjectKinds = [
  'repository',
  'organization',
  'pull_request',
  'issue',
  'branch',
  'milestone',
  'notification',
  'runner',
] as const;
export type SubjectKind = (typeof subjectKinds)[number];

/** Identifies a repository: `id` survives a rename; `owner` and `name` are the current path. */
export type RepositoryRef = { readonly id: number; readonly owner: string; readonly name: string };

export type Subject = {
  readonly kind: SubjectKind;
  readonly repository?: RepositoryRef;
  /** Set if the repository was archived when it was listed or read. Absent: it was not, or this is unknown. */
  readonly isArchived?: true;
  /** Number of the issue or pull request. */
  readonly index?: number;
  /** Short name of the branch or tag, if the subject is a branch or tag. */
  readonly ref?: string;
  /** Set if the ref is a tag. */
  readonly isTag?: true;
  /** Commits of the ref before and after a push; all zeros before its creation or after its deletion. */
  readonly range?: { readonly before: string; readonly after: string };
  /** Id of the comment that an event is about. */
  readonly comment?: number;
  /** Author and state of the review that an event is about; payloads do not contain its id. */
  readonly review?: { readonly reviewer: number; readonly state: string };
  readonly organization?: string;
  /** Id of the milestone, if the subject is a milestone. */
  readonly milestone?: number;
  /** Id of the notification thread, if the subject is a notification. */
  readonly thread?: number;
};
