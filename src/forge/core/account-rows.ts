import type { Bit, Seconds } from './rows.ts';

/** A key of OpenPGP, or a subkey of one. */
export type GpgKeyRow = {
  readonly id: number;
  readonly user_id: number;
  /** Null for a primary key. */
  readonly primary_id: number | null;
  /** 16 hexadecimal digits in upper case. */
  readonly key_id: string;
  /** Base64 of the packet. */
  readonly content: string;
  /** JSON list of the account's addresses in the key, in lower case. */
  readonly emails: string;
  readonly can_sign: Bit;
  readonly can_encrypt: Bit;
  /** Signatures of commits are verified with it. */
  readonly is_signer: Bit;
  readonly is_verified: Bit;
  /** When it was added, as on Gitea; not when it was made. */
  readonly created_at: Seconds;
  readonly expires_at: Seconds;
};

/** What an account did in a repository, by the word of Gitea. */
export type ActivityType =
  | 'create_repo'
  | 'rename_repo'
  | 'transfer_repo'
  | 'commit_repo'
  | 'push_tag'
  | 'delete_tag'
  | 'delete_branch'
  | 'create_issue'
  | 'close_issue'
  | 'reopen_issue'
  | 'comment_issue'
  | 'create_pull_request'
  | 'close_pull_request'
  | 'reopen_pull_request'
  | 'merge_pull_request'
  | 'comment_pull'
  | 'approve_pull_request'
  | 'reject_pull_request'
  | 'publish_release';

export type ActivityRow = {
  readonly id: number;
  readonly actor_id: number;
  readonly repo_id: number;
  readonly type: ActivityType;
  readonly ref: string;
  readonly content: string;
  /** 0 for none. */
  readonly comment_id: number;
  readonly created_at: Seconds;
};
