/**
 * Database rows, one field per column (`migrations.ts`). Times are seconds since the epoch, 0 means "never"; flags are
 * 0 or 1.
 */

/** Seconds since the epoch; 0 means "never". */
export type Seconds = number;
export type Bit = 0 | 1;
/** Who can see an account: everyone, signed-in accounts, or its members. */
export type Visibility = 'public' | 'limited' | 'private';
/** An account's permission for a repository, from lowest to highest. */
export type Permission = 'none' | 'read' | 'write' | 'admin' | 'owner';

/** A person or an organization. */
export type UserRow = {
  readonly id: number;
  readonly type: 'user' | 'organization';
  readonly name: string;
  readonly lower_name: string;
  readonly full_name: string;
  readonly email: string;
  readonly password_hash: string;
  readonly is_admin: Bit;
  readonly is_active: Bit;
  readonly is_restricted: Bit;
  readonly prohibit_login: Bit;
  readonly must_change_password: Bit;
  readonly visibility: Visibility;
  readonly description: string;
  readonly location: string;
  readonly website: string;
  readonly language: string;
  readonly repo_admin_change_team_access: Bit;
  readonly num_stars: number;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
  readonly last_login_at: Seconds;
  readonly theme: string;
  readonly diff_view_style: string;
  readonly keep_email_private: Bit;
  /** The external sign-in name of the account, as set by an administrator. */
  readonly login_name: string;
  readonly keep_activity_private: Bit;
  readonly num_followers: number;
  readonly num_following: number;
  /** Hash in the URL of a custom avatar; empty for none. */
  readonly avatar: string;
  /** Set for a caller whose token is restricted to public resources; not a column. */
  readonly is_public_only?: true | undefined;
};

export type TeamRow = {
  readonly id: number;
  readonly org_id: number;
  readonly name: string;
  readonly lower_name: string;
  readonly description: string;
  readonly permission: Permission;
  readonly includes_all_repositories: Bit;
  readonly can_create_org_repo: Bit;
  /** JSON object from unit name to permission. */
  readonly units_map: string;
  readonly visibility: string;
};

/** A personal access token, without the token itself. */
export type TokenRow = {
  readonly id: number;
  readonly user_id: number;
  readonly name: string;
  /** SHA-256 of the token, hex. */
  readonly digest: string;
  readonly last_eight: string;
  /** JSON list of scopes. */
  readonly scopes: string;
  readonly created_at: Seconds;
  readonly last_used_at: Seconds;
};

export type RepositoryRow = {
  readonly id: number;
  readonly owner_id: number;
  readonly name: string;
  readonly lower_name: string;
  readonly description: string;
  readonly website: string;
  readonly default_branch: string;
  readonly object_format: 'sha1' | 'sha256';
  readonly is_private: Bit;
  readonly is_template: Bit;
  /** Whether the repository has no branch. */
  readonly is_empty: Bit;
  readonly archived_at: Seconds;
  readonly fork_id: number | null;
  /** JSON, read through `settingsOf`. */
  readonly settings: string;
  /** JSON list of topics. */
  readonly topics: string;
  /** Size in bytes. */
  readonly size: number;
  readonly num_branches: number;
  readonly num_forks: number;
  readonly num_stars: number;
  readonly num_watches: number;
  readonly num_releases: number;
  readonly num_open_issues: number;
  readonly num_open_pulls: number;
  /** The last number assigned to an issue or pull request. */
  readonly last_index: number;
  /** Hash in the URL of a custom avatar; empty for none. */
  readonly avatar: string;
  /** URL that the repository was migrated from, without credentials; empty for none. */
  readonly original_url: string;
  /** Whether the repository mirrors another one; a mirror accepts no pushes. */
  readonly is_mirror: Bit;
  /** Seconds between two synchronizations of a mirror; 0 for on demand only. */
  readonly mirror_interval: number;
  readonly mirror_synced_at: Seconds;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/** One delivery to one hook. */
export type HookTaskRow = {
  readonly id: number;
  readonly uuid: string;
  readonly hook_id: number;
  readonly event_type: string;
  readonly event: string;
  /** JSON text, built at the time of the event. */
  readonly payload: string;
  /** Request headers as JSON. */
  readonly request_headers: string;
  readonly request_body: string;
  readonly state: 'queued' | 'sending' | 'delivered' | 'failed';
  readonly response_status: number;
  /** Response headers as JSON. */
  readonly response_headers: string;
  readonly response_body: string;
  /** Whether the response, or the error, came from a private address. */
  readonly is_answer_private: Bit;
  readonly created_at: Seconds;
  readonly delivered_at: Seconds;
  /** Id of the delivery that this one repeats; empty for an original delivery. */
  readonly again_of: string;
};

/** An OAuth2 application, without its secret. */
export type OAuth2ApplicationRow = {
  readonly id: number;
  readonly user_id: number;
  readonly name: string;
  readonly client_id: string;
  /** SHA-256 of the secret, hex. */
  readonly secret_digest: string;
  readonly is_confidential: Bit;
  readonly skip_secondary_authorization: Bit;
  /** JSON list of URIs. */
  readonly redirect_uris: string;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/** Scopes that a user has granted to an application. */
export type OAuth2GrantRow = {
  readonly id: number;
  readonly user_id: number;
  readonly application_id: number;
  /** As requested: scopes separated by spaces. */
  readonly scope: string;
  readonly nonce: string;
  readonly created_at: Seconds;
};

/** An issue, or the issue side of a pull request. */
export type IssueRow = {
  readonly id: number;
  readonly repo_id: number;
  readonly number: number;
  readonly is_pull: Bit;
  readonly poster_id: number;
  readonly title: string;
  readonly body: string;
  readonly ref: string;
  readonly is_closed: Bit;
  readonly is_locked: Bit;
  readonly milestone_id: number | null;
  readonly num_comments: number;
  readonly content_version: number;
  readonly time_estimate: number;
  readonly pin_order: number;
  readonly due_at: Seconds;
  readonly closed_at: Seconds;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/** The pull-request side of an issue; `id` is the pull request's API id. */
export type PullRow = {
  readonly id: number;
  readonly issue_id: number;
  /** The base repository. */
  readonly repo_id: number;
  readonly number: number;
  readonly base_branch: string;
  /** The current commit of the base branch. */
  readonly base_sha: string;
  readonly head_repo_id: number | null;
  readonly head_branch: string;
  readonly head_sha: string;
  /** Tip of the head branch of a closed pull request, if a push has moved it since; otherwise empty. */
  readonly moved_sha: string;
  /** 1 if the head was pushed for review (AGit) and is not a branch; `head_branch` is then `account/topic`. */
  readonly flow: Bit;
  /** Whether the head branch was deleted. */
  readonly is_head_gone: Bit;
  readonly merge_base: string;
  readonly status: 'checking' | 'mergeable' | 'conflict' | 'error';
  readonly is_merged: Bit;
  readonly merged_commit_sha: string;
  readonly merged_at: Seconds;
  readonly merger_id: number | null;
  readonly allow_maintainer_edit: Bit;
  readonly additions: number;
  readonly deletions: number;
  readonly changed_files: number;
};
