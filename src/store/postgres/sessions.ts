import type { SessionRows } from '../session-rows.ts';
import type { PostgresContext } from './context.ts';
import { indexableText } from './link/text.ts';
import { nowSql } from './link/time.ts';

/** Returns the sessions that processes share. All times are those of the server. */
export function createPostgresSessions({
  database,
  at,
}: Pick<PostgresContext, 'database' | 'at'>): SessionRows & {
  /** Deletes the sessions that have ended. */
  dropEnded(): Promise<void>;
} {
  return {
    async add({ key, person, isOperator, sealed }, { lifeMs, maxSessions, maxOfPerson }) {
      const name = indexableText(person);
      await database.query(insert, [key, name, isOperator, sealed, lifeMs, at()]);
      await database.query(dropExcess, [name, maxOfPerson, maxSessions, at()]);
    },
    async read(key) {
      const { rows } = await database.query(read, [key, at()]);
      const [row] = rows;
      return row && { sealed: String(row.sealed), ageMs: Number(row.age_ms) };
    },
    async reseal(key, sealed) {
      await database.query(reseal, [key, sealed, at()]);
    },
    async claimRenewal(key, sealed, forMs) {
      const { count } = await database.query(claimRenewal, [key, sealed, forMs, at()]);
      return count === 1;
    },
    async releaseRenewal(key) {
      await database.query('UPDATE sessions SET renewing_until = NULL WHERE key = $1', [key]);
    },
    async remove(key) {
      await database.query('DELETE FROM sessions WHERE key = $1', [key]);
    },
    async removeAll() {
      await database.query('DELETE FROM sessions');
    },
    async dropEnded() {
      await database.query(`DELETE FROM sessions WHERE ends_at <= ${nowSql(1)}`, [at()]);
    },
  };
}

const insert = `
  INSERT INTO sessions (key, person, is_operator, sealed, sealed_at, ends_at)
  VALUES ($1, $2, $3, $4, ${nowSql(6)}, ${nowSql(6)} + $5::bigint * interval '1 ms')`;

/** Those that have ended, then the oldest of the person and of all. */
const dropExcess = `
  DELETE FROM sessions WHERE ends_at <= ${nowSql(4)}
    OR number IN (SELECT number FROM sessions WHERE person = $1 AND ends_at > ${nowSql(4)}
      ORDER BY number DESC OFFSET $2::integer)
    OR number IN (SELECT number FROM sessions WHERE ends_at > ${nowSql(4)}
      ORDER BY is_operator DESC, number DESC OFFSET $3::integer)`;

const read = `
  SELECT sealed, extract(epoch FROM ${nowSql(2)} - sealed_at) * 1000 AS age_ms
  FROM sessions WHERE key = $1 AND ends_at > ${nowSql(2)}`;

const reseal = `UPDATE sessions SET sealed = $2, sealed_at = ${nowSql(3)}, renewing_until = NULL WHERE key = $1`;

const claimRenewal = `
  UPDATE sessions SET renewing_until = ${nowSql(4)} + $3::bigint * interval '1 ms'
  WHERE key = $1 AND sealed = $2 AND (renewing_until IS NULL OR renewing_until <= ${nowSql(4)})`;
