import type { Clock } from '../../platform/clock.ts';
import type { Leases } from '../leases.ts';
import type { Connections } from './connections.ts';
import type { PostgresSql } from './postgres-sql.ts';

/** The identity of this process among those that share the store. */
export interface WorkerIdentity {
  /** Changes when the other processes have declared this one dead; undefined in a process that claims nothing. */
  readonly id: string | undefined;
  /** Returns false if other processes may have taken over the claims of this one because its last heartbeat is too old. */
  isCurrent(): boolean;
  /** Drops the identity and everything claimed under it, and registers a new one. */
  renew(): Promise<void>;
}

/** Context shared by the methods of a store. */
export type PostgresContext = {
  readonly database: Connections;
  /** The statements that both kinds of store share, on `database`. */
  readonly sql: PostgresSql;
  /** For statements that may be lost in a power failure of the server. */
  readonly hasty: Connections;
  /** For statements with cached plans, which use indexes. */
  readonly planned: Connections;
  /** The instant for `nowSql`; null: the clock of the server. */
  at(): string | null;
  readonly monotonicMs: Clock['monotonicMs'];
  readonly worker: WorkerIdentity;
  readonly leases: Leases;
  /** Throws if the store was opened as reader. */
  requireWorker(): void;
  /** Notifies the other processes of new work. */
  announceWork(): void;
};
