/** What an event, an item of a sweep or a call on the command line is about. */
export type SubjectKind =
  | 'repository'
  | 'pull_request'
  | 'issue'
  | 'branch'
  | 'organization'
  | 'notification'
  | 'runner';

/** Names a repository; `id` is its identity (it survives a rename), `owner` and `name` are where it is found now. */
export type RepositoryRef = { readonly id: number; readonly owner: string; readonly name: string };

export type Subject = {
  readonly kind: SubjectKind;
  readonly repository?: RepositoryRef;
  /** Number of the issue or pull request. */
  readonly index?: number;
  /** Short name of the branch (or tag) where the subject is one. */
  readonly ref?: string;
  /** The ref is a tag. */
  readonly isTag?: true;
  /** Commits that a push moved the ref between; all zeros where it was made or removed. */
  readonly range?: { readonly before: string; readonly after: string };
  /** Id of the comment that an event is about. */
  readonly comment?: number;
  /** Whose review of which state an event is about; payloads have no id of it. */
  readonly review?: { readonly reviewer: number; readonly state: string };
  readonly organization?: string;
  /** Id of the notification thread where the subject is one. */
  readonly thread?: number;
};
