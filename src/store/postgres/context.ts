import type { Clock } from '../../platform/clock.ts';
import type { Leases } from '../leases.ts';
import type { Connections } from './connections.ts';
import type { PostgresSql } from './postgres-sql.ts';

/** The identity of this process among those that share the store. */
export interface WorkerIdentity {
  /** Changes when the others have taken this process for dead; undefined in a process that claims nothing. */
  readonly id: string | undefined;
  /** Returns false if other processes may have taken over the claims of this one: its last heartbeat is too old. */
  isCurrent(): boolean;
  /** Gives up the identity and everything that was claimed under it, and takes another one. */
  renew(): Promise<void>;
}

/** Shared by the methods of a store. */
export type PostgresContext = {
  readonly database: Connections;
  /** The statements that both kinds of store share, on `database`. */
  readonly sql: PostgresSql;
  /** For statements that may be forgotten when the server loses power. */
  readonly hasty: Connections;
  /** For statements whose plans are kept: they are made for indexes. */
  readonly planned: Connections;
  /** The instant for `nowSql`; null: the clock of the server. */
  at(): string | null;
  readonly monotonicMs: Clock['monotonicMs'];
  readonly worker: WorkerIdentity;
  readonly leases: Leases;
  /** Throws where the store was opened as reader. */
  requireWorker(): void;
  /** Notifies the other processes of new work. */
  announceWork(): void;
};
