/**
 * The rows of the database, member for column (`migrations/`). Instants are seconds since the epoch, 0 is "never";
 * flags are 0 or 1.
 */

/** Seconds since the epoch; 0 is "never". */
export type Seconds = number;
export type Bit = 0 | 1;
/** Who sees an account: everyone, signed-in accounts, its members. */
export type Visibility = 'public' | 'limited' | 'private';
/** What an account may do with a repository, from least to most. */
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
  /** The name by which the account signs in elsewhere, as an administrator wrote it. */
  readonly login_name: string;
  readonly keep_activity_private: Bit;
  readonly num_followers: number;
  readonly num_following: number;
  /** Hash in the address of an avatar that was set; empty for none. */
  readonly avatar: string;
  /** Set for a caller whose token is for public resources alone; no column. */
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
  /** JSON: unit name → permission. */
  readonly units_map: string;
  readonly visibility: string;
};

/** A personal access token, without the token. */
export type TokenRow = {
  readonly id: number;
  readonly user_id: number;
  readonly name: string;
  /** SHA-256 of the token, hex. */
  readonly digest: string;
  readonly last_eight: string;
  /** JSON list. */
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
  /** Has no commit yet. */
  readonly is_empty: Bit;
  readonly archived_at: Seconds;
  readonly fork_id: number | null;
  /** JSON, read through `settingsOf`. */
  readonly settings: string;
  /** JSON list. */
  readonly topics: string;
  /** Bytes. */
  readonly size: number;
  readonly num_branches: number;
  readonly num_forks: number;
  readonly num_stars: number;
  readonly num_watches: number;
  readonly num_releases: number;
  readonly num_open_issues: number;
  readonly num_open_pulls: number;
  /** The last number given to an issue or pull request. */
  readonly last_index: number;
  /** Hash in the address of an avatar that was set; empty for none. */
  readonly avatar: string;
  /** Address that it was copied from, without credentials; empty for none. */
  readonly original_url: string;
  /** Follows another repository, and takes no pushes. */
  readonly is_mirror: Bit;
  /** Seconds between two synchronizations of a mirror; 0: on demand alone. */
  readonly mirror_interval: number;
  readonly mirror_synced_at: Seconds;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/** A release; its tag exists in git unless it is a draft. */
export type ReleaseRow = {
  readonly id: number;
  readonly repo_id: number;
  /** Null where the account is gone. */
  readonly publisher_id: number | null;
  readonly tag: string;
  readonly lower_tag: string;
  /** What the tag was or will be made of, as the caller wrote it. */
  readonly target: string;
  readonly title: string;
  readonly body: string;
  readonly is_draft: Bit;
  readonly is_prerelease: Bit;
  readonly created_at: Seconds;
};

/** A file of a release; its bytes are in the attachment store under `uuid`. */
export type ReleaseAssetRow = {
  readonly id: number;
  readonly uuid: string;
  readonly release_id: number;
  readonly uploader_id: number | null;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly num_downloads: number;
  readonly created_at: Seconds;
};

/** A hook of a repository, an owner or the instance. */
export type HookRow = {
  readonly id: number;
  readonly repo_id: number | null;
  readonly owner_id: number | null;
  readonly is_system: Bit;
  readonly type: string;
  readonly name: string;
  readonly url: string;
  readonly content_type: 'json' | 'form';
  readonly secret: string;
  /** JSON: the further `config` members of chat hooks. */
  readonly meta: string;
  /** JSON list of enabled internal names. */
  readonly events: string;
  readonly branch_filter: string;
  readonly authorization_header: string;
  readonly is_active: Bit;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
  /** The account that set the address; null where it is gone, or not known. */
  readonly url_by: number | null;
};

/** One delivery to one hook. */
export type HookTaskRow = {
  readonly id: number;
  readonly uuid: string;
  readonly hook_id: number;
  readonly event_type: string;
  readonly event: string;
  /** The JSON text, built when the event happened. */
  readonly payload: string;
  /** JSON. */
  readonly request_headers: string;
  readonly request_body: string;
  readonly state: 'queued' | 'sending' | 'delivered' | 'failed';
  readonly response_status: number;
  /** JSON. */
  readonly response_headers: string;
  readonly response_body: string;
  /** Whether the answer, or the reason for none, is from an address that is not public. */
  readonly is_answer_private: Bit;
  readonly created_at: Seconds;
  readonly delivered_at: Seconds;
  /** Id of the delivery that this one repeats; empty for a first one. */
  readonly again_of: string;
};

/** A run of a workflow. */
export type WorkflowRunRow = {
  readonly id: number;
  readonly repo_id: number;
  /** Counted by repository. */
  readonly number: number;
  readonly workflow_id: string;
  /** Full name. */
  readonly ref: string;
  readonly sha: string;
  readonly title: string;
  readonly event: string;
  readonly actor_id: number;
  /** JSON. */
  readonly inputs: string;
  readonly status: string;
  /** Empty until the run is completed. */
  readonly conclusion: string;
  readonly created_at: Seconds;
  readonly started_at: Seconds;
  readonly completed_at: Seconds;
};

export type WorkflowJobRow = {
  readonly id: number;
  readonly run_id: number;
  readonly name: string;
  /** JSON list. */
  readonly labels: string;
  readonly status: string;
};

/** A repository that was offered to a new owner, who has not answered yet. */
export type TransferRow = {
  readonly repo_id: number;
  readonly doer_id: number;
  readonly recipient_id: number;
  /** JSON list of team ids. */
  readonly team_ids: string;
  readonly created_at: Seconds;
};

/** A program that people sign in to, without its secret. */
export type OAuth2ApplicationRow = {
  readonly id: number;
  readonly user_id: number;
  readonly name: string;
  readonly client_id: string;
  /** SHA-256 of the secret, hex. */
  readonly secret_digest: string;
  readonly is_confidential: Bit;
  readonly skip_secondary_authorization: Bit;
  /** JSON list. */
  readonly redirect_uris: string;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/** What a person has allowed a program. */
export type OAuth2GrantRow = {
  readonly id: number;
  readonly user_id: number;
  readonly application_id: number;
  /** As it was asked for: words separated by spaces. */
  readonly scope: string;
  readonly nonce: string;
  readonly created_at: Seconds;
};

/** One account's thread of news about an issue, a pull request, a commit or a repository. */
export type NotificationRow = {
  readonly id: number;
  readonly user_id: number;
  readonly repo_id: number;
  readonly source: 'issue' | 'pull' | 'commit' | 'repository';
  readonly status: 'unread' | 'read' | 'pinned';
  readonly issue_id: number | null;
  readonly commit_sha: string;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};
