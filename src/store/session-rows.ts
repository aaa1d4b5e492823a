import type { Clock } from '../platform/clock.ts';

/** A session of a person who is signed in to the dashboard. */
export type SessionRow = {
  /** Derived from the cookie. The cookie cannot be derived from it. */
  readonly key: string;
  /** Name of the person: sessions of one person are limited. */
  readonly person: string;
  readonly isOperator: boolean;
  /** Encrypted with a key that only the cookie gives. */
  readonly sealed: string;
};

export type SessionLimits = {
  readonly lifeMs: number;
  /** Sessions of all; beyond that the oldest end, those of operators last. */
  readonly maxSessions: number;
  /** Sessions of one person; beyond that the oldest of theirs end. */
  readonly maxOfPerson: number;
};

/** Sessions of the dashboard. Processes that share a store share them; otherwise they are in memory, and end with the process. */
export interface SessionRows {
  add(session: SessionRow, limits: SessionLimits): Promise<void>;
  /** Returns what is sealed, and its age; undefined if there is no such session, or no more. */
  read(key: string): Promise<{ readonly sealed: string; readonly ageMs: number } | undefined>;
  /** Replaces what is sealed, and ends the claim. The session ends when it would have ended before. */
  reseal(key: string, sealed: string): Promise<void>;
  /** Claims the renewal for that long. False if another process has claimed it, or `sealed` was replaced. */
  claimRenewal(key: string, sealed: string, forMs: number): Promise<boolean>;
  /** Ends the claim without a renewal. */
  releaseRenewal(key: string): Promise<void>;
  remove(key: string): Promise<void>;
  removeAll(): Promise<void>;
}

type KeptSession = SessionRow & { readonly sealedMs: number; readonly endsMs: number };

/** Creates sessions in memory. */
export function createMemorySessions({ monotonicMs }: Pick<Clock, 'monotonicMs'>): SessionRows {
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
