import { turnOf } from '../../lane.ts';
import type { Claim } from '../../store.ts';
import type { ClaimLook } from './look.ts';
import type { Choice } from './take.ts';

/** At most this many repositories whose round is remembered; beyond, all rounds start again. */
const maxRounds = 10_000;

/** Remembers whose turn it is, of the repositories and of the lanes of each. Every process has rounds of its own. */
export function createRounds() {
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
