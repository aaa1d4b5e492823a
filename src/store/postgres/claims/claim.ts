import { turnOf } from '../../lane.ts';
import { leaseLost } from '../../leases.ts';
import type { Claim, Store } from '../../store.ts';
import type { PostgresContext } from '../context.ts';
import { isDuplicate } from '../link/failures.ts';
import { indexableText } from '../link/text.ts';
import { type ClaimLook, lookAround } from './look.ts';
import { createRounds } from './rounds.ts';
import { createSuspects } from './suspects.ts';
import { type Choice, takeClaims } from './take.ts';
import { clampWaits, endWaits } from './waits.ts';

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
