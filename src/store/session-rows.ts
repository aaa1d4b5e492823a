import { now, type Sql, type SqlValue, type StoreClock } from './sql.ts';

/** Session of a user who is signed in to the dashboard. */
export type SessionRow = {
  /** Key that is derived from the cookie with a one-way function. */
  readonly key: string;
  /** Name of the user, because the number of sessions per user is limited. */
  readonly person: string;
  readonly isOperator: boolean;
  /** Content, encrypted with a key that only the cookie contains. */
  readonly sealed: string;
};

export type SessionLimits = {
  readonly lifeMs: number;
  /** Maximum number of all sessions; beyond it, the oldest are ended, and those of operators last. */
  readonly maxSessions: number;
  /** Maximum number of sessions per user; beyond it, the user's oldest sessions are ended. */
  readonly maxOfPerson: number;
};

/**
 * Sessions of the dashboard. Processes that share a store also share the sessions; otherwise, the sessions are in
 * memory and end with the process.
 */
export interface SessionRows {
  add(session: SessionRow, limits: SessionLimits): Promise<void>;
  /** Returns the sealed content and its age; undefined if the session does not exist or has ended. */
  read(key: string): Promise<{ readonly sealed: string; readonly ageMs: number } | undefined>;
  /** Replaces the sealed content and ends the renewal claim. The session still ends at the same time. */
  reseal(key: string, sealed: string): Promise<void>;
  /**
   * Claims the renewal for `forMs`. Returns false if another process has claimed it, or if `sealed` has been replaced.
   */
  claimRenewal(key: string, sealed: string, forMs: number): Promise<boolean>;
  /** Ends the claim without a renewal. */
  releaseRenewal(key: string): Promise<void>;
  remove(key: string): Promise<void>;
  removeAll(): Promise<void>;
}

type KeptSession = SessionRow & { readonly sealedMs: number; readonly endsMs: number };

/** Creates sessions in memory. */
export function createMemorySessions({ monotonicMs }: StoreClock): SessionRows {
  const kept = new Map<string, KeptSession>();
  const claims = new Map<string, number>();
  const drop = (key: string): void => {
    kept.delete(key);
    claims.delete(key);
  };

  return {
    async add(session, { lifeMs, maxSessions, maxOfPerson }) {
      const nowMs = monotonicMs();
      for (const { key, endsMs } of kept.values()) if (endsMs <= nowMs) drop(key);
      kept.set(session.key, { ...session, sealedMs: nowMs, endsMs: nowMs + lifeMs });
      const all = [...kept.values()];
      const own = all.filter(({ person }) => person === session.person);
      for (const { key } of own.slice(0, Math.max(own.length - maxOfPerson, 0))) drop(key);
      const rest = [...kept.values()].sort((a, b) => Number(a.isOperator) - Number(b.isOperator));
      for (const { key } of rest.slice(0, Math.max(rest.length - maxSessions, 0))) drop(key);
    },
    async read(key) {
      const found = kept.get(key);
      const nowMs = monotonicMs();
      if (found && nowMs < found.endsMs) return { sealed: found.sealed, ageMs: nowMs - found.sealedMs };
      drop(key);
      return undefined;
    },
    async reseal(key, sealed) {
      const found = kept.get(key);
      claims.delete(key);
      if (found) kept.set(key, { ...found, sealed, sealedMs: monotonicMs() });
    },
    async claimRenewal(key, sealed, forMs) {
      const nowMs = monotonicMs();
      if (kept.get(key)?.sealed !== sealed || nowMs < (claims.get(key) ?? nowMs)) return false;
      claims.set(key, nowMs + forMs);
      return true;
    },
    async releaseRenewal(key) {
      claims.delete(key);
    },
    async remove(key) {
      drop(key);
    },
    async removeAll() {
      kept.clear();
      claims.clear();
    },
  };
}

/** Returns the sessions that processes share. All times use the clock of the database server. */
export function createPostgresSessions(sql: Sql): SessionRows & {
  /** Deletes ended sessions. */
  dropEnded(): Promise<void>;
} {
  const run = async (text: string, values: readonly SqlValue[] = []): Promise<number> => {
    const [count = 0] = await sql.batch([{ sql: text, values }]);
    return count;
  };
  return {
    async add({ key, person, isOperator, sealed }, { lifeMs, maxSessions, maxOfPerson }) {
      const owner = { indexed: person };
      await run(
        'INSERT INTO sessions (key, person, is_operator, sealed, sealed_at, ends_at) VALUES (?, ?, ?, ?, ?, ?)',
        [key, owner, isOperator, sealed, now, { fromNowMs: lifeMs }],
      );
      // Removes ended sessions, and the oldest ones beyond the limits of the user and of all users.
      await run(
        `DELETE FROM sessions WHERE ends_at <= ?
           OR number IN (SELECT number FROM sessions WHERE person = ? AND ends_at > ?
             ORDER BY number DESC OFFSET ?::integer)
           OR number IN (SELECT number FROM sessions WHERE ends_at > ?
             ORDER BY is_operator DESC, number DESC OFFSET ?::integer)`,
        [now, owner, now, maxOfPerson, now, maxSessions],
      );
    },
    async read(key) {
      const row = await sql.get(
        `SELECT sealed, extract(epoch FROM ? - sealed_at) * 1000 AS age_ms FROM sessions WHERE key = ? AND ends_at > ?`,
        [now, key, now],
      );
      return row && { sealed: String(row.sealed), ageMs: Number(row.age_ms) };
    },
    async reseal(key, sealed) {
      await run('UPDATE sessions SET sealed = ?, sealed_at = ?, renewing_until = NULL WHERE key = ?', [
        sealed,
        now,
        key,
      ]);
    },
    async claimRenewal(key, sealed, forMs) {
      const count = await run(
        `UPDATE sessions SET renewing_until = ?
         WHERE key = ? AND sealed = ? AND (renewing_until IS NULL OR renewing_until <= ?)`,
        [{ fromNowMs: forMs }, key, sealed, now],
      );
      return count === 1;
    },
    async releaseRenewal(key) {
      await run('UPDATE sessions SET renewing_until = NULL WHERE key = ?', [key]);
    },
    async remove(key) {
      await run('DELETE FROM sessions WHERE key = ?', [key]);
    },
    async removeAll() {
      await run('DELETE FROM sessions');
    },
    async dropEnded() {
      await run('DELETE FROM sessions WHERE ends_at <= ?', [now]);
    },
  };
}
