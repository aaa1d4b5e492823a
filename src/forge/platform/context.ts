import { messageOf } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { AttachmentStore } from './attachment-store.ts';
import type { Database } from './database.ts';
import type { GitLimits } from './git/limits.ts';
import type { GitStore } from './git/store.ts';
import type { HookTaskRow, RepositoryRow, UserRow } from './rows.ts';

/** What is configured for the whole instance, where Gitea has a setting for it. */
export type Features = {
  /** Issues may wait for those of other repositories. */
  readonly crossRepositoryDependencies: boolean;
  /** Files may be attached to issues and comments. */
  readonly attachments: boolean;
  /** Mirrors and migrations reach hosts in local networks, this machine included. */
  readonly localMirrors: boolean;
};

/** Gitea's defaults. */
export const defaultFeatures: Features = {
  crossRepositoryDependencies: true,
  attachments: true,
  localMirrors: false,
};

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

/** Sends what happened to the hooks: in the background, without retry, each delivery recorded with its answer. */
export interface Deliveries {
  /** Called when new deliveries were queued. */
  wake(): void;
  /** Resolves once nothing is queued or on its way. */
  idle(): Promise<void>;
  /** Returns the newest deliveries of a hook first. */
  list(hookId: number, limit?: number): readonly HookTaskRow[];
  /** Queues the same payload again under a new id, and returns that id; undefined for an unknown one. */
  redeliver(uuid: string): string | undefined;
  /** Stops sending. What was on its way is sent again after the next start, under the same id. */
  close(): Promise<void>;
}

/** A name and a password of a sign-in. */
export type PasswordAttempt = {
  /** Network address of the sender. */
  readonly address: string;
  readonly name: string;
  /** The account of that name; undefined where there is none. */
  readonly user: UserRow | undefined;
  readonly password: string;
};

/** Checks passwords, and throttles guessing. */
export interface PasswordGate {
  /**
   * Returns whether the password is right, after the same work for every name, also for one without an account. Throws a
   * problem with status 429 after too many failures within a minute: of an address for a name, of an address, or for a name.
   */
  check(attempt: PasswordAttempt): Promise<boolean>;
  /** Returns the hash of a new password. The first sign-in with it needs no second derivation. */
  hash(password: string): Promise<string>;
}

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
  /** Looks again at the merges of a repository that wait for their conditions. */
  readonly wakeMerges: (repositoryId: number) => void;
  /** What waits for other servers. */
  readonly syncs: SyncQueue;
  readonly attachments: AttachmentStore;
  readonly features: Features;
  readonly limits: GitLimits;
  readonly passwords: PasswordGate;
};

/** Background work, one task after the other, so that requests keep the processor. */
interface Background {
  /** Adds work to the end; what it throws is logged. After `close` nothing is added any more. */
  add(work: () => Promise<void>): void;
  /** Drops what has not begun and waits for what has. */
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
      log.error({ err: error }, `work in the background failed: ${messageOf(error)}`);
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

/** Work that waits for other servers, apart from the background so that a slow server delays nothing but its own kind. */
interface SyncQueue {
  /** Adds work under a key. Does nothing while work of this key waits; what it throws is logged. */
  add(key: string, work: () => Promise<void>): void;
  /** Drops what has not begun and waits for what has. */
  close(): Promise<void>;
}

/** Servers that are talked to at the same time. */
const maxRunning = 2;

/** Creates a queue of such work. */
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
