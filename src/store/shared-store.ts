import type { SessionRows } from './session-rows.ts';

/**
 * What a process of Reeve does for the installation: `web` accepts deliveries and shows the dashboard, `worker` handles
 * deliveries and looks at schedules, `all` does both.
 */
export const serverRoles = ['all', 'web', 'worker'] as const;
export type ServerRole = (typeof serverRoles)[number];

/** A process that uses the store. */
export type StoreProcess = {
  readonly id: string;
  /** Host and process id. */
  readonly name: string;
  readonly role: ServerRole;
  /** Of Reeve. */
  readonly version: string;
  readonly startedAt: Date;
  /** Time of its last heartbeat. */
  readonly seenAt: Date;
  /** Whether it enqueues what is due. */
  readonly isLeader: boolean;
  readonly isSelf: boolean;
};

/**
 * Something that a process may have cached and that has changed. `rules`: rule files, `key` is the repository as JSON;
 * `repository`: everything about a repository, `key` is its id; `facts`: answers of facts, `key` is the prefix of their names;
 * `everything`: notices may have been missed.
 */
export type Notice = {
  readonly topic: 'rules' | 'repository' | 'facts' | 'everything';
  readonly key: string;
};

/** The part of the store by which processes that share it work together. In a file, there is one process alone. */
export interface SharedStore {
  /** Whether other processes may work beside this one: what belongs to all of them is then kept here, not in memory or files. */
  readonly isShared: boolean;
  /** Sessions of the dashboard. */
  readonly sessions: SessionRows;
  /**
   * Replaces plain data in one step, whatever other processes do meanwhile. `edit` gets what stands under the key (undefined:
   * nothing) and returns what is to stand there (undefined: nothing; its argument: no change). It may be called several times.
   * Returns what stands there in the end.
   */
  revise(key: string, edit: (value: unknown) => unknown): Promise<unknown>;
  /** Notifies the other processes of a change. A notice may be lost with a connection: then they get `everything`. */
  announce(notice: Notice): void;
  /** Returns whether this process is the one that enqueues what is due. */
  isLeader(): boolean;
  /** Returns the processes that are alive, oldest first. */
  listProcesses(): Promise<readonly StoreProcess[]>;
}
