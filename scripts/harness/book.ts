import { setTimeout as pause } from 'node:timers/promises';
import type { LoadTarget } from './load.ts';

/** Records responses, and whether the store has the deliveries that they acknowledged. */
export interface Book {
  readonly note: LoadTarget['onAnswer'];
  acknowledged(): number;
  /** Kinds of deliveries with an unexpected response, and how often it occurred. */
  readonly unexpected: ReadonlyMap<string, number>;
  /** Response times in milliseconds. */
  readonly answers: readonly number[];
  /** Looks in the store for deliveries acknowledged since the last look. */
  look(): Promise<void>;
  /** Returns the number of acknowledged deliveries that a look did not find. */
  lost(): number;
  /**
   * Waits for housekeeping, then returns the age in days of the oldest settled delivery, according to a clock that is
   * `daysAhead` ahead.
   */
  oldestDays(daysAhead: number): Promise<number>;
}

const dayMs = 86_400_000;
/** Housekeeping reads the clock once a minute. */
const housekeepingMs = 90_000;
/** Maximum number of stored response times; beyond it, the older half is dropped. */
const maxAnswers = 200_000;

/** Returns the rows of a query, read directly from the database, so that the store's code does not verify itself. */
export type ReadRows = (
  sql: string,
) => Promise<readonly Readonly<Record<string, unknown>>[]> | readonly Readonly<Record<string, unknown>>[];

/** Opens the book of a store. */
export function openBook(readRows: ReadRows, allowedDays: number): Book {
  const answers: number[] = [];
  const unexpected = new Map<string, number>();
  let [acknowledged, lost, lastId] = [0, 0, 0];
  let noted: string[] = [];
  let stored = new Set<string>();

  return {
    answers,
    note({ uuid, wrong, ms }) {
      answers.push(ms);
      if (answers.length > maxAnswers) answers.splice(0, maxAnswers / 2);
      if (wrong !== undefined) unexpected.set(wrong, (unexpected.get(wrong) ?? 0) + 1);
      if (uuid === undefined) return;
      acknowledged += 1;
      noted.push(uuid);
    },
    acknowledged: () => acknowledged,
    unexpected,
    async look() {
      // A delivery that is noted while the store is read is looked for the next time.
      const sought = noted;
      noted = [];
      const rows = await readRows(`SELECT id, uuid FROM deliveries WHERE id > ${lastId} ORDER BY id`);
      const now = new Set(rows.map(({ uuid }) => String(uuid)));
      lastId = Number(rows.at(-1)?.id ?? lastId);
      // A delivery stored before the last look may have been acknowledged after it.
      lost += sought.filter((uuid) => !now.has(uuid) && !stored.has(uuid)).length;
      stored = now;
    },
    lost: () => lost,
    async oldestDays(daysAhead) {
      const endMs = performance.now() + housekeepingMs;
      for (;;) {
        const sql = "SELECT min(settled_at) AS at FROM deliveries WHERE state = 'settled'";
        const [oldest] = await readRows(sql);
        const nowMs = Date.now() + daysAhead * dayMs;
        const days = (nowMs - Date.parse(String(oldest?.at))) / dayMs;
        if (days <= allowedDays || performance.now() > endMs) return days;
        await pause(500);
      }
    },
  };
}
