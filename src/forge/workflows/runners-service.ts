import type { ForgeContext } from '../platform/context.ts';
import type { Bit, Seconds } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';

/** A machine that runs jobs. At most one of `repo_id` and `owner_id` is set; an instance runner has neither. */
export type RunnerRow = {
  readonly id: number;
  readonly repo_id: number | null;
  readonly owner_id: number | null;
  readonly name: string;
  /** JSON list of label names. */
  readonly labels: string;
  readonly is_ephemeral: Bit;
  readonly is_disabled: Bit;
  readonly last_online_at: Seconds;
  readonly last_active_at: Seconds;
  readonly created_at: Seconds;
};

/** Owner of runners. `all` is a site administrator's view of every level. */
export type RunnerHolder =
  | { readonly column: 'repo_id' | 'owner_id'; readonly id: number }
  | { readonly column: 'all' };

const onlineMs = 60_000;
const busyMs = 10_000;

/** Returns whether a runner reported within the last minute. */
function isOnline(runner: RunnerRow, now: Date): boolean {
  return now.getTime() - runner.last_online_at * 1000 <= onlineMs;
}

/** Returns whether an online runner worked on a job within the last ten seconds. */
function isRunnerBusy(runner: RunnerRow, now: Date): boolean {
  return isOnline(runner, now) && now.getTime() - runner.last_active_at * 1000 <= busyMs;
}

/** Returns a runner as the API shows it at a given time. */
export function toRunner(runner: RunnerRow, now: Date) {
  return {
    id: runner.id,
    name: runner.name,
    status: isOnline(runner, now) ? 'online' : 'offline',
    busy: isRunnerBusy(runner, now),
    disabled: runner.is_disabled === 1,
    ephemeral: runner.is_ephemeral === 1,
    // The cast is safe: `replaceRunners` writes this column.
    labels: (JSON.parse(runner.labels) as string[]).map((name, id) => ({ id, name, type: 'custom' })),
  };
}

/** Returns a page of an owner's runners, last online first, and the total count. */
export function listRunners(
  { db }: Pick<ForgeContext, 'db'>,
  holder: RunnerHolder,
  options: { disabled?: boolean | undefined; limit: number; offset: number },
): { readonly runners: readonly RunnerRow[]; readonly total: number } {
  const conditions: string[] = [];
  const values: number[] = [];
  if (holder.column !== 'all') {
    conditions.push(`${holder.column} = ?`);
    values.push(holder.id);
  }
  if (options.disabled !== undefined) {
    conditions.push('is_disabled = ?');
    values.push(options.disabled ? 1 : 0);
  }
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  const count = db.get<{ count: number }>(`SELECT count(*) AS count FROM runners ${where}`, ...values);
  const runners = db.all<RunnerRow>(
    `SELECT * FROM runners ${where} ORDER BY last_online_at DESC, id LIMIT ? OFFSET ?`,
    ...values,
    options.limit,
    options.offset,
  );
  return { runners, total: count?.count ?? 0 };
}

/** Returns a runner of an owner; undefined if it is unknown or belongs to another level. */
export function findRunner(
  { db }: Pick<ForgeContext, 'db'>,
  holder: RunnerHolder,
  id: number,
): RunnerRow | undefined {
  const runner = db.get<RunnerRow>('SELECT * FROM runners WHERE id = ?', id);
  if (!runner || holder.column === 'all') return runner;
  return runner[holder.column] === holder.id ? runner : undefined;
}

/** A runner from a seed or the control routes: what a real runner reports over its own protocol. */
export type ToldRunner = {
  readonly repo_id: number | null;
  readonly owner_id: number | null;
  readonly name: string;
  readonly labels: readonly string[];
  readonly isEphemeral: boolean;
  readonly isDisabled: boolean;
  readonly lastOnlineAt: Seconds;
  readonly lastActiveAt: Seconds;
};

/**
 * Replaces the runners of the whole instance atomically. A runner with the same level and name keeps its id; runners
 * not given are removed.
 */
export function replaceRunners(
  context: Pick<ForgeContext, 'db' | 'clock'>,
  told: readonly ToldRunner[],
): void {
  const { db, clock } = context;
  db.transaction(() => {
    const kept: number[] = [];
    for (const runner of told) {
      const known = db
        .all<{ id: number }>(
          'SELECT id FROM runners WHERE repo_id IS ? AND owner_id IS ? AND name = ? ORDER BY id',
          runner.repo_id,
          runner.owner_id,
          runner.name,
        )
        .find(({ id }) => !kept.includes(id));
      const { lastId } = db.run(
        `INSERT OR REPLACE INTO runners (id, repo_id, owner_id, name, labels, is_ephemeral, is_disabled, last_online_at,
           last_active_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        known?.id,
        runner.repo_id,
        runner.owner_id,
        runner.name,
        JSON.stringify(runner.labels),
        runner.isEphemeral,
        runner.isDisabled,
        runner.lastOnlineAt,
        runner.lastActiveAt,
        secondsOf(clock()),
      );
      kept.push(lastId);
    }
    db.run('DELETE FROM runners WHERE id NOT IN (SELECT value FROM json_each(?))', JSON.stringify(kept));
  });
}
