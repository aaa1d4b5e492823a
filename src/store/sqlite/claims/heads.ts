import type { DatabaseSync } from 'node:sqlite';
import { turnOf } from '../../lane.ts';
import type { SqlRow } from '../../rows.ts';

/** At most this many repositories whose round is remembered; beyond, all rounds start again. */
const maxRounds = 10_000;

/** Finds the deliveries whose turn it is: each the oldest of its lane. */
interface Heads {
  /** Returns the next ones, taking turns between repositories, then between their lanes. */
  next(limit: number, avoid: readonly string[]): number[];
  /** Returns those of the given lanes. */
  of(lanes: readonly string[]): number[];
}

/** Creates the search. It remembers whose turn was last. */
export function createHeads(database: DatabaseSync): Heads {
  const where = "state = 'accepted' AND routed = 1";
  const nextTurn = database.prepare(
    `SELECT turn FROM deliveries WHERE ${where} AND turn > ? ORDER BY turn LIMIT 1`,
  );
  const nextLane = database.prepare(
    `SELECT lane, id FROM deliveries WHERE ${where} AND turn = ? AND lane > ? ORDER BY lane, id LIMIT 1`,
  );
  const firstOf = database.prepare(
    `SELECT id FROM deliveries WHERE ${where} AND turn = ? AND lane = ?
       AND NOT EXISTS (SELECT 1 FROM deliveries WHERE state = 'claimed' AND lane = ?) ORDER BY id LIMIT 1`,
  );
  const busyLanes = database.prepare("SELECT lane FROM deliveries WHERE state = 'claimed'");
  let lastTurn = '';
  /** Position of each repository's round; removed when it starts again. */
  const lastLanes = new Map<string, string>();

  const laneAfter = (turn: string, lane: string, busy: ReadonlySet<string>): SqlRow | undefined => {
    let row = nextLane.get(turn, lane);
    while (row !== undefined && busy.has(String(row.lane))) row = nextLane.get(turn, String(row.lane));
    return row;
  };

  const headOf = (turn: string, busy: ReadonlySet<string>): number | undefined => {
    const last = lastLanes.get(turn) ?? '';
    const row = laneAfter(turn, last, busy) ?? (last === '' ? undefined : laneAfter(turn, '', busy));
    if (row === undefined) {
      lastLanes.delete(turn);
      return undefined;
    }
    lastLanes.set(turn, String(row.lane));
    return Number(row.id);
  };

  return {
    next(limit, avoid) {
      const busy = new Set([...busyLanes.all().map((row) => String(row.lane)), ...avoid]);
      const heads: number[] = [];
      /** Repositories all of whose lanes are busy: each holds a lease or is avoided, so they are few. */
      const idle = new Set<string>();
      let idleInARow = 0;
      while (heads.length < limit && idleInARow <= idle.size) {
        const row = nextTurn.get(lastTurn) ?? nextTurn.get('');
        if (row === undefined) break;
        const turn = String(row.turn);
        lastTurn = turn;
        const head = idle.has(turn) ? undefined : headOf(turn, busy);
        if (head === undefined) {
          idle.add(turn);
          idleInARow += 1;
          continue;
        }
        idleInARow = 0;
        busy.add(lastLanes.get(turn) ?? '');
        heads.push(head);
      }
      if (lastLanes.size > maxRounds) lastLanes.clear();
      return heads;
    },
    of: (lanes) =>
      lanes.flatMap((lane) => {
        const row = firstOf.get(turnOf(lane), lane, lane);
        return row === undefined ? [] : [Number(row.id)];
      }),
  };
}
