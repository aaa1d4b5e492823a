import type pg from 'pg';
import { ReeveError } from '../../platform/errors.ts';
import { lockClassOf, type PostgresAddress } from './link/address.ts';
import type { Sql } from './link/connections.ts';
import { isLockTimeout } from './link/failures.ts';

/** Beside 0 for the migration, and the numbers of processes, which begin at 1. */
const copyLock = 2 ** 31 - 1;

/** The server still ends the last statement of a copy that was killed, and holds its lock until then. */
const releaseMs = 15_000;

/**
 * Reserves a store for a copy, until the connection ends. The lock is taken before processes are looked for, and a process that
 * starts enters its row before it looks for the lock: at least one of the two sees the other. Throws `store-locked`; where another copy holds the lock, only after `waitMs`.
 */
export async function takeCopyLock(
  client: pg.Client,
  { schema, name }: PostgresAddress,
  waitMs: number = releaseMs,
): Promise<void> {
  await client.query(`SET lock_timeout = ${waitMs}`);
  try {
    await client.query('SELECT pg_advisory_lock($1, $2)', [lockClassOf(schema), copyLock]);
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    throw new ReeveError('store-locked', `the store in ${name} is used by another reeve store copy`);
  }
  await client.query('RESET lock_timeout');
  const { rows: live } = await client.query(
    `SELECT name, ceil(extract(epoch FROM alive_until - statement_timestamp()))::integer AS seconds FROM workers
     WHERE alive_until >= statement_timestamp() ORDER BY alive_until DESC LIMIT 1`,
  );
  if (live[0] === undefined) return;
  throw new ReeveError(
    'store-locked',
    `the store in ${name} is in use by a Reeve (${live[0].name}): stop it; one that was killed counts as running for ${live[0].seconds} s more`,
  );
}

/** Throws `store-locked` while a copy reads or writes the store. */
export async function requireNoCopy(sql: Sql, { schema, name }: PostgresAddress): Promise<void> {
  const { rows } = await sql.query(
    `SELECT EXISTS (
       SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
         AND classid = $1::bigint::oid AND objid = $2::bigint::oid
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS is_locked`,
    [lockClassOf(schema), copyLock],
  );
  if (rows[0]?.is_locked !== true) return;
  throw new ReeveError(
    'store-locked',
    `the store in ${name} is being copied: start again when reeve store copy has ended`,
  );
}
