import type { Sql } from './link/connections.ts';

/**
 * One process of all is the leader. It stays so for as long as its row among the workers is there: of a process that died, the
 * others remove that row (`takeovers.ts`), and the first of them to ask is the next leader.
 */
export async function stand(sql: Sql, worker: string): Promise<boolean> {
  const { rows } = await sql.query(
    'SELECT worker, worker IN (SELECT id FROM workers) AS is_there FROM leader',
  );
  const [leader] = rows;
  if (leader?.is_there === true) return leader.worker === worker;
  const { count } = await sql.query(
    `INSERT INTO leader (worker) SELECT id FROM workers WHERE id = $1
     ON CONFLICT (one) DO UPDATE SET worker = excluded.worker WHERE leader.worker NOT IN (SELECT id FROM workers)`,
    [worker],
  );
  return count === 1;
}

/** Lets another process become the leader at once. */
export async function resign(sql: Sql, worker: string): Promise<void> {
  await sql.query('DELETE FROM leader WHERE worker = $1', [worker]);
}
