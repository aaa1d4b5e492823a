import { removeAccount } from '../accounts/accounts-service.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import type { RepositoryRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { scheduleChecks } from '../pulls/checks.ts';
import { queueDueMirrors } from '../repositories/mirrors-service.ts';

/** An instance-wide task that an administrator runs. Tasks that exist in Gitea have the same name as there. */
export type CronTask = { readonly name: string; readonly run: (context: ForgeContext) => Promise<void> };

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

/** Runs a git command in every repository and wiki. Logs failures and continues with the rest. */
async function inEachRepository(context: ForgeContext, args: readonly string[]): Promise<void> {
  const { db, git, log } = context;
  for (const { id } of db.all<{ id: number }>('SELECT id FROM repositories ORDER BY id')) {
    for (const one of [id, -id].filter((each) => git.exists(each))) {
      const { git: program, folder, cache } = git.open(one);
      try {
        await program.run(args, { folder, timeoutMs: 600_000 });
        cache.forgetObjects();
      } catch (error) {
        log.error({ err: error, repository: one }, `git ${args[0]} failed for a repository`);
      }
    }
  }
}

/** Returns repositories whose folder is missing, except those still being created. */
function listMissing({ db, git }: ForgeContext): readonly RepositoryRow[] {
  const rows = db.all<RepositoryRow>(
    `SELECT * FROM repositories r WHERE NOT EXISTS
       (SELECT 1 FROM unfinished u WHERE u.repo_id = r.id AND u.work = 'creating') ORDER BY id`,
  );
  return rows.filter(({ id }) => !git.exists(id));
}

/** Removes accounts that were never activated, except those that own something or belong to an organization. */
function removeInactive(context: ForgeContext): void {
  const { db, clock, log } = context;
  const sql = `SELECT * FROM users WHERE type = 'user' AND id > 0 AND is_active = 0 AND created_at < ?`;
  for (const account of db.all<UserRow>(sql, secondsOf(clock()) - inactiveKept)) {
    try {
      removeAccount(context, { account, actor: account, purge: false });
    } catch (error) {
      if (!(error instanceof ForgeProblem)) throw error;
      log.warn({ err: error, account: account.id }, 'an inactive account cannot be removed');
    }
  }
}

/** Retention of inactive accounts (three hours) and of webhook deliveries (a week), in seconds, as in Gitea. */
const inactiveKept = 3 * 3600;
const deliveriesKept = 7 * 86_400;
/** Retention of activities: one year, as in Gitea. Feeds and heat maps do not reach further back. */
const activitiesKept = 365 * 86_400;

/**
 * Gitea tasks that have nothing to do on this forge, accepted for programs that start them by name: archives are
 * generated per request, keys and hooks are read from the database instead of separate files, searches read the
 * database, licences are read from the default branch, and avatar patterns are drawn per request.
 */
const settled: readonly string[] = [
  'archive_cleanup',
  'delete_repo_archives',
  'resync_all_sshkeys',
  'resync_all_sshprincipals',
  'resync_all_hooks',
  'rebuild_issue_indexer',
  'sync_repo_licenses',
  'delete_generated_repository_avatars',
];

/** All tasks, in list order. */
export const cronTasks: readonly CronTask[] = [
  { name: 'update_mirrors', run: async (context) => queueDueMirrors(context) },
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
  {
    name: 'cleanup_hook_task_table',
    run: async ({ db, clock }) => {
      db.run(
        `DELETE FROM hook_tasks WHERE state IN ('delivered', 'failed') AND max(created_at, delivered_at) < ?`,
        secondsOf(clock()) - deliveriesKept,
      );
    },
  },
  { name: 'delete_inactive_accounts', run: async (context) => removeInactive(context) },
  {
    name: 'reinit_missing_repos',
    run: async (context) => {
      for (const { id, default_branch, object_format } of listMissing(context))
        await context.git.create(id, { defaultBranch: default_branch, objectFormat: object_format });
    },
  },
  {
    name: 'delete_missing_repos',
    run: async (context) => {
      for (const { id } of listMissing(context)) {
        context.db.run('DELETE FROM repositories WHERE id = ?', id);
        await context.git.remove(id);
      }
    },
  },
  ...settled.map((name) => ({ name, run: async () => {} })),
];
