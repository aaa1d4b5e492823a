import { messageOf } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { AttachmentStore } from './attachment-store.ts';
import type { Database } from './database.ts';
import type { GitLimits } from './git/limits.ts';
import type { GitStore } from './git/store.ts';
import type { HookTaskRow, RepositoryRow, UserRow } from './rows.ts';

/** Instance-wide settings that Gitea also has. */
export type Features = {
  /** Issues may depend on issues of other repositories. */
  readonly crossRepositoryDependencies: boolean;
  /** Files may be attached to issues and comments. */
  readonly attachments: boolean;
  /** Mirrors and migrations may reach hosts in local networks, including this machine. */
  readonly localMirrors: boolean;
};

/** Gitea's defaults. */
export const defaultFeatures: Features = {
  crossRepositoryDependencies: true,
  attachments: true,
  localMirrors: false,
};

/** An event that webhooks may subscribe to. */
export type Emission = {
  /** The event type: `issue_label`, `pull_request_sync`. */
  readonly type: string;
  /** The repository of the event; absent for events outside a repository. */
  readonly repository?: RepositoryRow;
  readonly owner: UserRow;
  /** Full ref, for the branch filter of `push`, `create` and `delete`. */
  readonly ref?: string;
  /** Called immediately, and only if a hook subscribes. */
  readonly payload: () => object;
};

/**
 * Records an emission for every active hook that subscribes to it (hooks of the repository, its owner and the
 * instance), inside the caller's transaction; deliveries are sent after the commit.
 */
export type Emit = (emission: Emission) => void;

/** Delivers webhooks in the background, without retries. Each delivery is recorded with its response. */
export interface Deliveries {
  /** Starts sending queued deliveries. */
  wake(): void;
  /** Resolves once no delivery is queued or in progress. */
  idle(): Promise<void>;
  /** Returns the deliveries of a hook, newest first. */
  list(hookId: number, limit?: number): readonly HookTaskRow[];
  /** Queues the same payload again under a new id and returns that id; undefined for an unknown delivery. */
  redeliver(uuid: string): string | undefined;
  /** Stops sending. Deliveries in progress are sent again after the next start, under the same id. */
  close(): Promise<void>;
}

/** Name and password of a sign-in. */
export type PasswordAttempt = {
  /** Network address of the sender. */
  readonly address: string;
  readonly name: string;
  /** The account with that name; undefined if there is none. */
  readonly user: UserRow | undefined;
  readonly password: string;
};

/** Verifies passwords and throttles guessing. */
export interface PasswordGate {
  /**
   * Returns whether the password is correct. The work is the same for every name, whether or not an account has it.
   * Throws a problem with status 429 after too many failures within a minute: from one address for one name, from one
   * address, or for one name.
   */
  check(attempt: PasswordAttempt): Promise<boolean>;
  /** Returns the hash of a new password. The first sign-in with that password needs no second derivation. */
  hash(password: string): Promise<string>;
}

/** Services shared by every part of the forge. */
export type ForgeContext = {
  readonly db: Database;
  readonly git: GitStore;
  readonly clock: () => Date;
  readonly log: Log;
  /** The public URL of the forge, without a trailing slash. */
  readonly rootUrl: () => string;
  readonly emit: Emit;
  readonly deliveries: Deliveries;
  readonly background: Background;
  /** Rechecks the scheduled merges of a repository that wait for their conditions. */
  readonly wakeMerges: (repositoryId: number) => void;
  /** Queue of work that waits for other servers. */
  readonly syncs: SyncQueue;
  readonly attachments: AttachmentStore;
  readonly features: Features;
  readonly limits: GitLimits;
  readonly passwords: PasswordGate;
};

/** Background work, run one task at a time so that requests get processor time. */
interface Background {
  /** Appends work; errors are logged. After `close`, nothing is added. */
  add(work: () => Promise<void>): void;
  /** Discards pending work and waits for running work. */
  close(): Promise<void>;
}

/** Creates a queue of background work. */
export function createBackground(log: Log): Background {
  let last: Promise<void> = Promise.resolve();
  let isClosed = false;
  async function perform(before: Promise<void>, work: () => Promise<void>): Promise<void> {
    await before;
    if (isClosed) return;
    try {
      await work();
    } catch (error) {
      log.error({ err: error }, `background work failed: ${messageOf(error)}`);
    }
  }
  return {
    add(work) {
      if (!isClosed) last = perform(last, work);
    },
    async close() {
      isClosed = true;
      await last;
    },
  };
}

/**
 * Work that waits for other servers. It is separate from the background queue, so that a slow server delays only work
 * of this kind.
 */
interface SyncQueue {
  /** Adds work under a key. Does nothing while work with this key is pending; errors are logged. */
  add(key: string, work: () => Promise<void>): void;
  /** Discards pending work and waits for running work. */
  close(): Promise<void>;
}

/** Maximum concurrent connections to servers. */
const maxRunning = 2;

/** Creates a sync queue. */
export function createSyncQueue(log: Log): SyncQueue {
  const waiting = new Map<string, () => Promise<void>>();
  const running = new Set<Promise<void>>();
  let isClosed = false;
  function startNext(): void {
    while (!isClosed && running.size < maxRunning) {
      const [next] = waiting;
      if (next === undefined) return;
      const [key, work] = next;
      waiting.delete(key);
      const run = perform(work).finally(() => {
        running.delete(run);
        startNext();
      });
      running.add(run);
    }
  }
  async function perform(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.error({ err: error }, `synchronization failed: ${messageOf(error)}`);
    }
  }
  return {
    add(key, work) {
      if (isClosed || waiting.has(key)) return;
      waiting.set(key, work);
      startNext();
    },
    async close() {
      isClosed = true;
      waiting.clear();
      await Promise.all(running);
    },
  };
}
