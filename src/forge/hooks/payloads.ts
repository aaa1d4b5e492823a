/** A resource in the API's form (`toIssue`, `toRepository` …). */
type Resource = object;

/** Previous texts of an edit; contains only the changed fields. */
export type PayloadChanges = { readonly title?: string; readonly body?: string; readonly ref?: string };

/** Fields of every repository event. */
type Surroundings = { readonly repository: Resource; readonly sender: Resource };

type SubjectEvent = Surroundings & {
  readonly action: string;
  readonly number: number;
  readonly changes?: PayloadChanges | undefined;
  /** Id of the commit, set if a commit message or a merge closed or reopened the issue. */
  readonly commitId?: string | undefined;
};

/**
 * Builds the payload of `issues`, `issue_assign`, `issue_label` and `issue_milestone`. The payload does not name the
 * changed label or assignee.
 */
export function issuePayload(event: SubjectEvent & { readonly issue: Resource }): Resource {
  return {
    action: event.action,
    number: event.number,
    ...changesOf(event.changes),
    issue: event.issue,
    repository: event.repository,
    sender: event.sender,
    commit_id: event.commitId ?? '',
  };
}

/**
 * Builds the payload of `issue_comment` and `pull_request_comment`; pass `pullRequest` if the issue is a pull request.
 */
export function commentPayload(
  event: Surroundings & {
    readonly action: 'created' | 'edited' | 'deleted';
    readonly issue: Resource;
    readonly pullRequest?: Resource | undefined;
    readonly comment: Resource;
    readonly changes?: PayloadChanges | undefined;
  },
): Resource {
  return {
    action: event.action,
    issue: event.issue,
    ...(event.pullRequest === undefined ? {} : { pull_request: event.pullRequest }),
    comment: event.comment,
    ...changesOf(event.changes),
    repository: event.repository,
    sender: event.sender,
    is_pull: event.pullRequest !== undefined,
  };
}

/** Builds the payload of every event of the pull request family. `before` and `after` exist only for `synchronized`. */
export function pullPayload(
  event: SubjectEvent & {
    readonly pullRequest: Resource;
    readonly before?: string | undefined;
    readonly after?: string | undefined;
    readonly requestedReviewer?: Resource | undefined;
    readonly review?: { readonly type: string; readonly content: string } | undefined;
  },
): Resource {
  return {
    action: event.action,
    ...(event.before === undefined ? {} : { before: event.before }),
    ...(event.after === undefined ? {} : { after: event.after }),
    number: event.number,
    ...changesOf(event.changes),
    pull_request: event.pullRequest,
    requested_reviewer: event.requestedReviewer ?? null,
    repository: event.repository,
    sender: event.sender,
    commit_id: event.commitId ?? '',
    review: event.review ?? null,
  };
}

/** Returns the `changes` field. Label lists are always empty; unchanged fields are omitted. */
function changesOf(changes: PayloadChanges | undefined): { changes?: Resource } {
  if (changes === undefined) return {};
  const texts = Object.entries(changes).map(([name, from]) => [name, { from }]);
  return { changes: { ...Object.fromEntries(texts), added_labels: null, removed_labels: null } };
}

/** Builds the payload of `push`. `pusher` and `sender` are the same account. */
export function pushPayload(
  event: Surroundings & {
    /** Full name of the ref. */
    readonly ref: string;
    readonly before: string;
    readonly after: string;
    readonly compareUrl: string;
    readonly commits: readonly Resource[];
    readonly totalCommits: number;
    readonly headCommit: Resource | null;
  },
): Resource {
  return {
    ref: event.ref,
    before: event.before,
    after: event.after,
    compare_url: event.compareUrl,
    commits: event.commits,
    total_commits: event.totalCommits,
    head_commit: event.headCommit,
    repository: event.repository,
    pusher: event.sender,
    sender: event.sender,
  };
}

/** Builds the payload of `create`; `ref` is the short name. */
export function createPayload(
  event: Surroundings & { readonly sha: string; readonly ref: string; readonly refType: 'branch' | 'tag' },
): Resource {
  return {
    sha: event.sha,
    ref: event.ref,
    ref_type: event.refType,
    repository: event.repository,
    sender: event.sender,
  };
}

/** Builds the payload of `delete`; `ref` is the short name. */
export function deletePayload(
  event: Surroundings & { readonly ref: string; readonly refType: 'branch' | 'tag' },
): Resource {
  return {
    ref: event.ref,
    ref_type: event.refType,
    pusher_type: 'user',
    repository: event.repository,
    sender: event.sender,
  };
}

/** Builds the payload of `fork`. The names are reversed: `forkee` is the source. */
export function forkPayload(event: { source: Resource; fork: Resource; sender: Resource }): Resource {
  return { forkee: event.source, repository: event.fork, sender: event.sender };
}

/** Builds the payload of `repository`; `owner` is in `organization`, even if it is a person. */
export function repositoryPayload(
  event: Surroundings & { readonly action: 'created' | 'deleted'; readonly owner: Resource },
): Resource {
  return {
    action: event.action,
    repository: event.repository,
    organization: event.owner,
    sender: event.sender,
  };
}

/** Builds the payload of `release`. */
export function releasePayload(
  event: Surroundings & { readonly action: 'published' | 'updated' | 'deleted'; readonly release: Resource },
): Resource {
  return {
    action: event.action,
    release: event.release,
    repository: event.repository,
    sender: event.sender,
  };
}

/** Builds the payload of `wiki`: `page` is the name of the page in URLs, `comment` the message of its commit. */
export function wikiPayload(
  event: Surroundings & {
    readonly action: 'created' | 'edited' | 'deleted';
    readonly page: string;
    readonly comment: string;
  },
): Resource {
  return {
    action: event.action,
    repository: event.repository,
    sender: event.sender,
    page: event.page,
    comment: event.comment,
  };
}
