import type { ForgeContext } from '../core/context.ts';
import { found } from '../core/errors.ts';
import type { Seconds } from '../core/rows.ts';
import { secondsOf, toInstant, yearOne } from '../core/time.ts';
import { defineHandlers } from '../http/handler.ts';
import { type CronTask, cronTasks } from './cron-tasks.ts';

/** Tasks that wait or run now, by the database of their forge: asked for again meanwhile, a task runs once. */
const waiting = new WeakMap<ForgeContext['db'], Set<string>>();

function startTask(context: ForgeContext, task: CronTask): void {
  const { db, background } = context;
  const names = waiting.get(db) ?? new Set();
  waiting.set(db, names);
  if (names.has(task.name)) return;
  names.add(task.name);
  background.add(async () => {
    try {
      await task.run(context);
    } finally {
      names.delete(task.name);
      db.run(
        `INSERT INTO cron_runs (name, previous_at, runs) VALUES (?, ?, 1)
         ON CONFLICT (name) DO UPDATE SET previous_at = excluded.previous_at, runs = runs + 1`,
        task.name,
        secondsOf(context.clock()),
      );
    }
  });
}

/** Handlers for the tasks of the administration. None has a schedule: they run when they are asked for. */
export const cronHandlers = defineHandlers({
  listCronTasks({ context, page, reply }) {
    const runs = context.db.all<{ name: string; previous_at: Seconds; runs: number }>(
      'SELECT * FROM cron_runs',
    );
    reply.total(cronTasks.length);
    return cronTasks.slice(page.offset, page.offset + page.limit).map(({ name }) => {
      const run = runs.find((one) => one.name === name);
      const prev = run ? toInstant(run.previous_at) : yearOne;
      return { name, schedule: '-', next: yearOne, prev, exec_times: run?.runs ?? 0 };
    });
  },

  runCronTask({ context, params }) {
    startTask(context, found(cronTasks.find(({ name }) => name === params.task)));
    return undefined;
  },
});
