import type { Seconds } from '../core/rows.ts';

/** A public key: of an account, or, without one, of deploy keys. `content` is the line of OpenSSH. */
export type PublicKeyRow = {
  readonly id: number;
  readonly user_id: number | null;
  readonly name: string;
  readonly fingerprint: string;
  readonly content: string;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/** The right of a public key to one repository, with the key itself. */
export type DeployKeyRow = {
  readonly id: number;
  readonly key_id: number;
  readonly repo_id: number;
  readonly name: string;
  readonly is_read_only: number;
  readonly created_at: Seconds;
  readonly fingerprint: string;
  readonly content: string;
};
