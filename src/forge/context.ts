import type { Log } from '../log.ts';
import type { AttachmentStore } from './attachment-store.ts';
import type { Background } from './background.ts';
import type { Database } from './database.ts';
import type { Deliveries } from './deliver.ts';
import type { Features } from './features.ts';
import type { GitStore } from './git/store.ts';
import type { Limits } from './limits.ts';
import type { PasswordGate } from './password-gate.ts';
import type { IssueRow, RepositoryRow, UserRow } from './rows.ts';

/** Something happened that hooks may want to hear. */
export type Emission = {
  /** The Event-Type: `issue_label`, `pull_request_sync`. */
  readonly type: string;
  /** Absent for what happens outside a repository. */
  readonly repository?: RepositoryRow;
  readonly owner: UserRow;
  /** Full ref, for the branch filter of `push`, `create` and `delete`. */
  readonly ref?: string;
  /** Called at once, and only when a hook listens. */
  readonly payload: () => object;
};

/**
 * Records an emission for every active hook that subscribes to it (repository, its owner, the instance), inside the
 * caller's transaction; what is recorded goes out after the commit.
 */
export type Emit = (emission: Emission) => void;

/** Returns a pull request, given its issue side, as the API shows it to a viewer: payloads of the issue's events carry it. */
export type PullShape = (
  context: ForgeContext,
  issue: IssueRow,
  place: {
    readonly repository: RepositoryRow;
    readonly owner: UserRow;
    readonly viewer: UserRow | undefined;
  },
) => object;

/** What every part of the forge is given. */
export type ForgeContext = {
  readonly db: Database;
  readonly git: GitStore;
  readonly clock: () => Date;
  readonly log: Log;
  /** The address the forge tells others, without a slash at the end. */
  readonly rootUrl: () => string;
  readonly emit: Emit;
  readonly deliveries: Deliveries;
  readonly background: Background;
  readonly toPull: PullShape;
  readonly attachments: AttachmentStore;
  readonly features: Features;
  readonly limits: Limits;
  readonly passwords: PasswordGate;
};
