import type { ForgeContext } from '../core/context.ts';
import { found } from '../core/errors.ts';
import type { Seconds } from '../core/rows.ts';
import { secondsOf, toInstant, yearOne } from '../core/time.ts';
import { defineHandlers } from '../http/handler.ts';
import { scheduleChecks } from '../pull-sync/checks.ts';

/** Work on the whole instance that an administrator asks for. */
type CronTask = { readonly name: string; readonly run: (context: ForgeContext) => Promise<void> };

const recounts = [
  `UPDATE repositories SET num_stars = (SELECT count(*) FROM stars s WHERE s.repo_id = repositories.id),
     num_watches = (SELECT count(*) FROM watches w WHERE w.repo_id = repositories.id),
     num_forks = (SELECT count(*) FROM repositories f WHERE f.fork_id = repositories.id),
     num_releases = (SELECT count(*) FROM releases l WHERE l.repo_id = repositories.id AND l.is_draft = 0),
     num_open_issues = (SELECT count(*) FROM issues i WHERE i.repo_id = repositories.id AND i.is_pull = 0 AND i.is_closed = 0),
     num_open_pulls = (SELECT count(*) FROM issues i WHERE i.repo_id = repositories.id AND i.is_pull = 1 AND i.is_closed = 0)`,
  `UPDATE users SET num_stars = (SELECT count(*) FROM stars s WHERE s.user_id = users.id),
     num_followers = (SELECT count(*) FROM follows f WHERE f.followed_id = users.id),
     num_following = (SELECT count(*) FROM follows f WHERE f.follower_id = users.id)`,
];

/** Runs a git command in every repository and its wiki; what fails is logged, and the others follow. */
async function inEachRepository(context: ForgeContext, args: readonly string[]): Promise<void> {
  const { db, git, log } = context;
  for (const { id } of db.all<{ id: number }>('SELECT id FROM repositories ORDER BY id')) {
    for (const one of [id, -id].filter((each) => git.exists(each))) {
      const { git: program, folder } = git.open(one);
      try {
        await program.run(args, { folder, timeoutMs: 600_000 });
      } catch (error) {
        log.error({ err: error, repository: one }, `git ${args[0]} found fault with a repository`);
      }
    }
  }
}

/** A year, as on the baseline: feeds and heat maps reach back no further. */
const activitiesKept = 365 * 86_400;

const tasks: readonly CronTask[] = [
  {
    name: 'check_repo_stats',
    run: async ({ db }) => {
      db.transaction(() => {
        for (const sql of recounts) db.run(sql);
      });
    },
  },
  { name: 'repo_health_check', run: (context) => inEachRepository(context, ['fsck', '--no-progress']) },
  { name: 'git_gc_repos', run: (context) => inEachRepository(context, ['gc', '--quiet']) },
  { name: 'cleanup_attachments', run: async ({ attachments }) => attachments.sweep() },
  {
    name: 'delete_old_actions',
    run: async ({ db, clock }) => {
      db.run('DELETE FROM activities WHERE created_at < ?', secondsOf(clock()) - activitiesKept);
    },
  },
  { name: 'check_pull_requests', run: async (context) => scheduleChecks(context) },
];

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

/** What answers for the tasks of the administration. None has a schedule: they run when they are asked for. */
export const cronHandlers = defineHandlers({
  listCronTasks({ context, page, reply }) {
    const runs = context.db.all<{ name: string; previous_at: Seconds; runs: number }>(
      'SELECT * FROM cron_runs',
    );
    reply.total(tasks.length);
    return tasks.slice(page.offset, page.offset + page.limit).map(({ name }) => {
      const run = runs.find((one) => one.name === name);
      const prev = run ? toInstant(run.previous_at) : yearOne;
      return { name, schedule: '-', next: yearOne, prev, exec_times: run?.runs ?? 0 };
    });
  },

  runCronTask({ context, params }) {
    startTask(context, found(tasks.find(({ name }) => name === params.task)));
    return undefined;
  },
});
