import type { Clock } from '../../platform/clock.ts';
import type { Leases } from '../leases.ts';
import type { Connections } from './connections.ts';
import type { PostgresSql } from './postgres-sql.ts';

/** Identity of this process among those that share the store. */
export interface WorkerIdentity {
  /**
   * Id of this process, which changes after the other processes have declared it dead; undefined in a process that
   * claims nothing.
   */
  readonly id: string | undefined;
  /**
   * Returns false if other processes may have taken over the claims of this process, because its last heartbeat is too
   * old.
   */
  isCurrent(): boolean;
  /** Discards the identity and everything claimed under it, and registers a new one. */
  renew(): Promise<void>;
}

/** Context shared by the methods of a store. */
export type PostgresContext = {
  readonly database: Connections;
  /** Statements that both kinds of store share, executed on `database`. */
  readonly sql: PostgresSql;
  /** Connection for statements that may be lost in a power failure of the server. */
  readonly hasty: Connections;
  /** Connection for statements with cached plans that use indexes. */
  readonly planned: Connections;
  /** Returns the instant for `nowSql`; null stands for the clock of the server. */
  at(): string | null;
  readonly monotonicMs: Clock['monotonicMs'];
  readonly worker: WorkerIdentity;
  readonly leases: Leases;
  /** Throws if the store was opened as `reader`. */
  requireWorker(): void;
  /** Notifies the other processes of new work. */
  announceWork(): void;
};
