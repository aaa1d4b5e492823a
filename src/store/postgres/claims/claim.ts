import { leaseLost } from '../../leases.ts';
import { turnOf } from '../../rows.ts';
import type { Claim, Store } from '../../store.ts';
import { isolationMsOf, nextSuspected } from '../../suspicion.ts';
import type { PostgresContext } from '../context.ts';
import type { Sql } from '../link/connections.ts';
import { isDuplicate } from '../link/failures.ts';
import { indexableText } from '../link/text.ts';
import { nowSql } from '../link/time.ts';
import { type ClaimLook, lookAround } from './look.ts';
import { type Choice, takeClaims } from './take.ts';

/** A clock that goes back by more than this was set: waits are held against it again. */
const clockToleranceMs = 1_000;
/** Attempts of a claim while other processes claim the same lanes. */
const maxAttempts = 3;

type ClaimOptions = Parameters<Store['claim']>[0];

/** Returns the methods that claim deliveries, and keep the claims. */
export function createClaimingMethods(context: PostgresContext): Pick<Store, 'claim' | 'heartbeat'> {
  const { hasty, leases, worker, monotonicMs } = context;
  const rounds = createRounds();
  const suspects = createSuspects();
  const look = createLookout(context);

  /** Gives back what ended without a heartbeat, and claims whose answer never came. */
  const giveBack = async (own: ClaimLook['own'], lately: ReadonlySet<string>): Promise<boolean> => {
    const ended = leases.endedBy(monotonicMs());
    const held = own.map(({ lease }) => String(lease));
    const unknown = held.filter((lease) => !leases.has(lease) && !lately.has(lease));
    if (ended.length + unknown.length === 0) return false;
    await hasty.query(giveBackLeases, [ended, unknown]);
    for (const lease of ended) leases.end(lease);
    return true;
  };

  const choose = (seen: ClaimLook, { limit, avoid = [], only }: ClaimOptions): Choice | undefined => {
    const turn = suspects.turn(seen, monotonicMs());
    if (turn === 'wait') return undefined;
    // What is handled alone comes in its own turn, and may need the forge.
    if (turn !== 'free') return only === undefined ? { by: 'id', id: turn } : undefined;
    if (only !== undefined)
      return { by: 'lane', lanes: only.map(indexableText).map((lane) => [turnOf(lane), lane]) };
    return seen.turns.length === 0
      ? undefined
      : rounds.choose(seen, { limit, avoid: avoid.map(indexableText) });
  };

  const claimOnce = async (options: ClaimOptions): Promise<readonly Claim[]> => {
    // What ends while it looks may still look claimed.
    const lately = leases.noteEnds();
    let seen = await look(rounds.lastTurn, options.limit);
    if (await giveBack(seen.own, lately)) seen = await look(rounds.lastTurn, options.limit);
    const choice = choose(seen, options);
    if (choice === undefined) return [];
    const nowMs = monotonicMs();
    const limit = choice.by === 'id' ? 1 : options.limit;
    const claims = await takeClaims(hasty, choice, { worker: worker.id, at: context.at(), limit });
    // A process that stood still meanwhile gives them back with the next claim.
    if (!worker.isCurrent()) return [];
    for (const { lease } of claims) leases.grant(lease, nowMs + options.leaseMs);
    suspects.note(seen, claims, nowMs);
    rounds.note(claims);
    return claims;
  };

  const claim = async (options: ClaimOptions): Promise<readonly Claim[]> => {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      try {
        return await claimOnce(options);
      } catch (error) {
        // Another process claimed one of the lanes in between.
        if (!isDuplicate(error)) throw error;
      }
    }
    return [];
  };
  let last: Promise<unknown> = Promise.resolve();

  return {
    async claim(options) {
      context.requireWorker();
      // One after the other: the claims of one that is under way would be unknown to the next.
      const claiming = last.then(() => claim(options));
      last = claiming.catch(() => {});
      return claiming;
    },
    async heartbeat(claim, leaseMs) {
      if (!worker.isCurrent()) throw leaseLost(claim);
      leases.extend(claim, monotonicMs(), leaseMs);
    },
  };
}

/** Returns the function that looks around, after waits that are over have ended. */
function createLookout(context: PostgresContext): (lastTurn: string, limit: number) => Promise<ClaimLook> {
  const { hasty, worker, monotonicMs } = context;
  /** What the wall clock was ahead of the monotonic one when waits were last held against it. */
  let aheadMs = Number.POSITIVE_INFINITY;

  return async (lastTurn, limit) => {
    const ask = () => lookAround(hasty, { at: context.at(), worker: worker.id, lastTurn, limit });
    let seen = await ask();
    if (!seen.isAlive) {
      await worker.renew();
      seen = await ask();
    }
    const nowAheadMs = seen.now.getTime() - monotonicMs();
    const wasSetBack = nowAheadMs < aheadMs - clockToleranceMs;
    aheadMs = nowAheadMs;
    if (wasSetBack) await clampWaits(hasty, context.at());
    if (wasSetBack || seen.isDue) {
      await endWaits(hasty, context.at());
      seen = await ask();
    }
    return seen;
  };
}

/** Leases that have ended, whose attempts are spent; and those of claims that were never handled, whose attempts are not. */
const giveBackLeases = `
  UPDATE deliveries SET state = 'accepted', lease = NULL, worker = NULL,
    attempts = attempts - (lease = ANY ($2::uuid[]))::integer
  WHERE state = 'claimed' AND (lease = ANY ($1::uuid[]) OR lease = ANY ($2::uuid[]))`;

/** At most this many repositories whose round is remembered; beyond, all rounds start again. */
const maxRounds = 10_000;

/** Remembers whose turn it is, of the repositories and of the lanes of each. Every process has rounds of its own. */
function createRounds() {
  let lastTurn = '';
  const lastLanes = new Map<string, string>();
  return {
    get lastTurn(): string {
      return lastTurn;
    },
    choose(
      { turns, busyLanes }: ClaimLook,
      { limit, avoid }: { readonly limit: number; readonly avoid: readonly string[] },
    ): Choice {
      const busy = [...busyLanes, ...avoid];
      const busyTurns = new Set(busy.map(turnOf));
      // Each repository without a busy lane gives one: those after enough of them are not reached.
      const free = turns.filter((turn) => !busyTurns.has(turn)).slice(0, limit);
      const last = free.length < limit ? turns.length : turns.indexOf(free.at(-1) ?? '') + 1;
      return {
        by: 'turn',
        turns: turns.slice(0, last).map((turn) => [turn, lastLanes.get(turn) ?? '']),
        busy,
        // More of one repository are needed only as far as there are few of them.
        lanes: Math.max(limit - Math.max(free.length - 1, 0), 1),
      };
    },
    note(claims: readonly Claim[]): void {
      if (lastLanes.size > maxRounds) lastLanes.clear();
      for (const { lane = '' } of claims) {
        lastTurn = turnOf(lane);
        lastLanes.set(lastTurn, lane);
      }
    },
  };
}

/**
 * Finds the delivery that ends the process. When a process dies, the deliveries that it handled are suspected if there were several
 * (`takeovers.ts`). Each is handled alone for a while, by whichever process has nothing else in flight, so that the next
 * crash identifies the cause. Deliveries that have been in flight for longer than that no longer count.
 */
function createSuspects() {
  /** When this process claimed its deliveries. */
  const claimedAtMs = new Map<string, number>();
  return {
    /** Returns a suspected delivery to claim alone; `wait` while one must stay alone; `free` if there is none. */
    turn({ own, suspects }: ClaimLook, nowMs: number): number | 'wait' | 'free' {
      const claims = own.map(({ id, suspicion }) => ({
        isSuspected: Number(suspicion) > 0,
        isYoung: nowMs - (claimedAtMs.get(String(id)) ?? nowMs) < isolationMsOf(Number(suspicion)),
      }));
      if (claims.some(({ isSuspected, isYoung }) => isSuspected && isYoung)) return 'wait';
      const next = nextSuspected(suspects);
      if (next === undefined) return 'free';
      return claims.some(({ isYoung }) => isYoung) ? 'wait' : next;
    },
    /** Records what is claimed, beside what was. */
    note({ own }: ClaimLook, claims: readonly Claim[], nowMs: number): void {
      const held = new Set(own.map(({ id }) => String(id)));
      for (const id of claimedAtMs.keys()) if (!held.has(id)) claimedAtMs.delete(id);
      for (const { id } of claims) claimedAtMs.set(id, nowMs);
    },
  };
}

/** At most this many deliveries return from their wait in one statement; the rest return in the next. */
const maxReturning = 500;

/** Returns deliveries whose wait is over, for a retry or for room in a budget, to their lanes. */
async function endWaits(sql: Sql, at: string | null): Promise<void> {
  await sql.query(endOf('retry'), [at]);
  await sql.query(endOf('deferred'), [at]);
}

/** Brings those nearer that are further away than they were when they began to wait: the clock was set back. */
async function clampWaits(sql: Sql, at: string | null): Promise<void> {
  const nearest = `${nowSql(1)} + retry_wait_ms * interval '1 ms'`;
  // One statement for each: their indexes are not used for both states at once.
  for (const state of ['retry', 'deferred'])
    await sql.query(
      `UPDATE deliveries SET retry_at = ${nearest} WHERE state = '${state}' AND retry_at > ${nearest}`,
      [at],
    );
}

function endOf(state: 'retry' | 'deferred'): string {
  return `UPDATE deliveries SET state = 'accepted', retry_at = NULL, deferral_key = NULL WHERE state = '${state}' AND id = ANY (ARRAY(
    SELECT id FROM deliveries WHERE state = '${state}' AND retry_at <= ${nowSql(1)}
    ORDER BY retry_at LIMIT ${maxReturning} FOR UPDATE SKIP LOCKED))`;
}
