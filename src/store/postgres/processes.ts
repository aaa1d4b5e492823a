import { type ServerRole, type StoreProcess, serverRoles } from '../shared-store.ts';
import type { Sql } from './link/connections.ts';
import { hasSessionLock, type Liveness } from './takeovers.ts';

type ProcessesQuery = {
  /** Id of this process. */
  readonly self: string | undefined;
  /** Of the locks that live processes hold. */
  readonly lockClass: number;
  readonly liveness: Pick<Liveness, 'silentMs'>;
};

/** Returns the processes that are alive, oldest first. */
export async function listProcesses(
  sql: Sql,
  { self, lockClass, liveness }: ProcessesQuery,
): Promise<readonly StoreProcess[]> {
  const { rows } = await sql.query(
    `SELECT id, name, role, version, started_at, seen_at, id IN (SELECT worker FROM leader) AS is_leader
     FROM workers WHERE alive_until >= statement_timestamp()
       AND (seen_at >= statement_timestamp() - $2::integer * interval '1 ms' OR ${hasSessionLock(1)})
     ORDER BY started_at, id`,
    [lockClass, liveness.silentMs],
  );
  return rows.map((row) => ({
    id: String(row.id),
    name: String(row.name),
    role: roleOf(row.role),
    version: String(row.version),
    startedAt: new Date(String(row.started_at)),
    seenAt: new Date(String(row.seen_at)),
    isLeader: row.is_leader === true,
    isSelf: row.id === self,
  }));
}

/** A later version may have roles that this one does not know. */
function roleOf(value: unknown): ServerRole {
  return serverRoles.find((role) => role === value) ?? 'all';
}
