import type { ForgeContext } from '../platform/context.ts';
import { listRefs, moveRefs, readRef } from '../platform/git/refs.ts';
import { type JournaledWork, sweepFolders } from '../platform/journal.ts';
import type { RepositoryRow, UserRow } from '../platform/rows.ts';
import { followHead, refreshPulls } from '../pulls/refresh.ts';
import { refreshRepository } from './pushes.ts';

/**
 * Reconciles git and the database after a process died before it had updated both. Removes half-created repositories,
 * whose creation was never reported. Rereads repositories whose refs were moving; their rows and pull requests follow
 * git. Call it before the first request; push events of the dead process are lost. Returns the remaining work, which
 * updates the pull requests; it sends webhooks, so run it once the forge has an address.
 */
export async function recover(context: ForgeContext): Promise<() => void> {
  const { db, git } = context;
  const rows = db.all<{ repo_id: number; work: JournaledWork }>(
    'SELECT DISTINCT repo_id, work FROM unfinished',
  );
  for (const { repo_id } of rows.filter(({ work }) => work === 'creating')) {
    context.log.warn(
      { repository: repo_id },
      'the creation of a repository did not finish before the forge stopped; the repository is removed',
    );
    db.run('DELETE FROM repositories WHERE id = ?', repo_id);
    await git.remove(repo_id);
  }
  await removeRemains(context);
  const pushed: RepositoryRow[] = [];
  for (const { repo_id } of rows.filter(({ work }) => work === 'pushing')) {
    const repository = db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', repo_id);
    if (repository) pushed.push(await readAgain(context, repository));
  }
  return () => {
    for (const repository of pushed) followPulls(context, repository);
    // Deleted last: after a second crash, the next start finds the entries unchanged.
    context.background.add(async () => {
      for (const { repo_id } of rows) db.run('DELETE FROM unfinished WHERE repo_id = ?', repo_id);
    });
  };
}

/** Removes pull requests without a head, whose creation was never reported, and folders of deleted repositories. */
async function removeRemains({ db, git, log }: ForgeContext): Promise<void> {
  const half = db.all<{ issue_id: number; repo_id: number; number: number }>(
    `SELECT issue_id, repo_id, number FROM pulls WHERE head_sha = ''`,
  );
  for (const { issue_id, repo_id, number } of half) {
    log.warn(
      { repository: repo_id, number },
      'the creation of a pull request did not finish before the forge stopped; the pull request is removed',
    );
    const name = `refs/pull/${number}/head`;
    const before = await readRef(git.open(repo_id), name);
    if (before !== undefined) await moveRefs(git.open(repo_id), [{ name, before, after: undefined }]);
    db.run('DELETE FROM issues WHERE id = ?', issue_id);
  }
  await sweepFolders({ db, git });
}

async function readAgain(context: ForgeContext, repository: RepositoryRow): Promise<RepositoryRow> {
  const repositoryGit = context.git.open(repository.id);
  // Refs that an interrupted push for review left behind.
  const left = await listRefs(repositoryGit, ['refs/reeve']);
  const going = left.map(({ name, id }) => ({ name, before: id, after: undefined }));
  if (going.length > 0) await moveRefs(repositoryGit, going);
  const refs = await listRefs(repositoryGit, ['refs/heads']);
  const changes = refs.map(({ name, id }) => ({ ref: name, before: undefined, after: id }));
  return await refreshRepository(context, repositoryGit, repository, changes);
}

function followPulls(context: ForgeContext, repository: RepositoryRow): void {
  const { db } = context;
  const owner = db.get<UserRow>('SELECT * FROM users WHERE id = ?', repository.owner_id);
  if (!owner) return;
  const reviews = db.all<{ id: number }>(
    'SELECT p.id FROM pulls p JOIN issues i ON i.id = p.issue_id WHERE i.is_closed = 0 AND p.repo_id = ? AND p.flow = 1',
    repository.id,
  );
  for (const { id } of reviews) {
    context.background.add(() =>
      context.git.exclusively(repository.id, 'pulls', () => followHead(context, id, owner)),
    );
  }
  const branches = db.all<{ name: string }>(
    `SELECT p.base_branch AS name FROM pulls p JOIN issues i ON i.id = p.issue_id WHERE i.is_closed = 0 AND p.repo_id = ?1
     UNION SELECT p.head_branch FROM pulls p JOIN issues i ON i.id = p.issue_id WHERE i.is_closed = 0 AND p.head_repo_id = ?1 AND p.flow = 0`,
    repository.id,
  );
  for (const { name } of branches) {
    context.background.add(() => refreshPulls(context, { repositoryId: repository.id, name }, owner));
  }
}
