import { ReeveError } from '../../platform/errors.ts';
import { refreshRepository } from '../code/pushes.ts';
import { userNamed } from '../platform/access/redirects.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { listBranchNames } from '../platform/git/refs.ts';
import type { UnadoptedName } from '../platform/git/unadopted.ts';
import { defineHandlers, type Reply } from '../platform/http/handler.ts';
import { endCreation } from '../platform/journal.ts';
import type { PageRange } from '../platform/paging.ts';
import type { Bit, RepositoryRow, Seconds, UserRow } from '../platform/rows.ts';
import { secondsOf, toInstant, yearOne } from '../platform/time.ts';
import { assertRepositoryName, insertRepository, isTaken } from '../repositories/repositories-service.ts';
import { type CronTask, cronTasks } from './cron-tasks.ts';

/**
 * Names of the tasks that are waiting or running, by the database of their forge. Requesting such a task again has no
 * effect.
 */
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

/** Handlers for administration tasks. None has a schedule: they run on request. */
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

type EmailListing = { readonly context: ForgeContext; readonly page: PageRange; readonly reply: Reply };
type FoundEmail = {
  readonly email: string;
  readonly is_primary: Bit;
  readonly user_id: number;
  readonly username: string;
};

/** Returns e-mail addresses that contain the word, or whose account has the word in its name or full name. */
function searchEmails({ context, page, reply }: EmailListing, word: string) {
  const from = `FROM email_addresses e JOIN users u ON u.id = e.user_id WHERE u.type = 'user' AND (?1 = ''
    OR instr(e.lower_email, ?1) > 0 OR instr(u.lower_name, ?1) > 0 OR instr(lower(u.full_name), ?1) > 0)`;
  const wanted = word.trim().toLowerCase();
  reply.total(context.db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, wanted)?.count ?? 0);
  const rows = context.db.all<FoundEmail>(
    `SELECT e.email, e.is_primary, e.user_id, u.name AS username ${from}
     ORDER BY e.lower_email, e.id LIMIT ?2 OFFSET ?3`,
    wanted,
    page.limit,
    page.offset,
  );
  return rows.map(({ is_primary, ...row }) => ({ ...row, verified: true, primary: is_primary === 1 }));
}

/** Handlers for the e-mail addresses of all accounts. */
export const siteEmailHandlers = defineHandlers({
  listSiteEmails: (call) => searchEmails(call, ''),
  searchSiteEmails: (call) => searchEmails(call, call.query.q ?? ''),
});

type Unadopted = {
  readonly owner: UserRow;
  readonly name: string;
  readonly folder: UnadoptedName;
};

/**
 * Returns the folder to adopt or delete. Ends the request with 404 if the account or the folder does not exist, or if a
 * repository already has this name.
 */
function findUnadopted(
  context: ForgeContext,
  { username, reponame }: { readonly username: string; readonly reponame: string },
): Unadopted {
  const owner = found(userNamed(context.db, username));
  const folder = { owner: owner.lower_name, name: reponame.toLowerCase() };
  if (isTaken(context, owner, reponame) || !context.git.unadopted.exists(folder))
    throw new ForgeProblem(404, 'not found');
  assertRepositoryName(reponame);
  return { owner, name: reponame, folder };
}

/** Turns the folder into a private repository of its owner. Sends no webhook, as in Gitea. */
async function adoptRepository(context: ForgeContext, unadopted: Unadopted, actor: UserRow): Promise<void> {
  const { db, git } = context;
  const { owner, name, folder } = unadopted;
  const row = db.transaction(() =>
    insertRepository(context, { owner, actor }, { name, private: true }, 'main'),
  );
  try {
    await git.adopt(folder, row.id);
    await readAdopted(context, row);
  } catch (error) {
    // Every request to a repository without a folder would end with 500.
    db.run('DELETE FROM repositories WHERE id = ?', row.id);
    await git.remove(row.id);
    const isRefused = error instanceof ReeveError && /\bfsck\b/.test(error.message);
    throw isRefused
      ? new ForgeProblem(422, `objects of the repository are refused: ${error.message}`)
      : error;
  }
  endCreation(db, row.id);
  await git.unadopted.remove(folder);
}

async function readAdopted(context: ForgeContext, row: RepositoryRow): Promise<void> {
  const { db, git } = context;
  const opened = git.open(row.id);
  const { folder } = opened;
  const names = await listBranchNames(opened);
  const [head, format] = await Promise.all([
    opened.git.run(['symbolic-ref', '--short', 'HEAD'], { folder, expect: [0, 1, 128] }),
    opened.git.run(['rev-parse', '--show-object-format'], { folder }),
  ]);
  const wanted = [head.stdout.toString('utf8').trim(), 'main', 'master', ...names];
  const branch = wanted.find((name) => names.includes(name)) ?? 'main';
  await git.setDefaultBranch(row.id, branch);
  const object_format = format.stdout.toString('latin1').trim();
  const sql = 'UPDATE repositories SET default_branch = ?, object_format = ? WHERE id = ?';
  db.run(sql, branch, object_format, row.id);
  await refreshRepository(context, opened, { ...row, default_branch: branch }, []);
}

const maxPattern = 200;

/** Returns whether a name matches a pattern in which `*` stands for any text and `?` for one character. */
function fitsPattern(pattern: string, name: string): boolean {
  const text = pattern.slice(0, maxPattern).replace(/\*+/g, '*');
  const source = text
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^]*')
    .replaceAll('?', '[^]');
  return new RegExp(`^${source}$`).test(name);
}

/** Handlers for unadopted repositories: folders on disk without a row. */
export const unadoptedHandlers = defineHandlers({
  async listUnadopted({ context, query, page, reply }) {
    const [owners = '', names] = (query.query ?? '').split('/');
    const all = await context.git.unadopted.list();
    const isUnknown = ({ owner, name }: UnadoptedName): boolean => {
      const account = userNamed(context.db, owner);
      return account !== undefined && !isTaken(context, account, name);
    };
    const matching = all.filter(
      (one) => fitsPattern(owners || '*', one.owner) && fitsPattern(names ?? '*', one.name) && isUnknown(one),
    );
    reply.total(matching.length);
    return matching.slice(page.offset, page.offset + page.limit).map(({ owner, name }) => `${owner}/${name}`);
  },

  async adoptUnadopted({ context, params, caller }) {
    await adoptRepository(context, findUnadopted(context, params), caller);
    return undefined;
  },

  async deleteUnadopted({ context, params }) {
    await context.git.unadopted.remove(findUnadopted(context, params).folder);
    return undefined;
  },
});
