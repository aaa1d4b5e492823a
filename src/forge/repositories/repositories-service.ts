import { toUser } from '../accounts/users-rows.ts';
import { signatureOf } from '../code/commits-rows.ts';
import { copyDefaultHooks } from '../hooks/hooks-rows.ts';
import { repositoryPayload } from '../hooks/payloads.ts';
import { insertLabel } from '../issues/labels-service.ts';
import { recordActivity } from '../notifications/activities-service.ts';
import { watchRepository } from '../notifications/subscriptions-service.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { isRefName } from '../platform/git/names.ts';
import { beginWork, endCreation, sweepFolders } from '../platform/journal.ts';
import type { RepositorySettings } from '../platform/repository-settings.ts';
import type { RepositoryRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { toRepository } from './repositories-rows.ts';
import { assertFirstFiles, labelSet, makeFirstFiles, type WantedFiles } from './templates-service.ts';

type NewRepository = WantedFiles & {
  readonly name: string;
  readonly description?: string | undefined;
  readonly private?: boolean | undefined;
  readonly auto_init?: boolean | undefined;
  readonly default_branch?: string | undefined;
  readonly issue_labels?: string | undefined;
  readonly template?: boolean | undefined;
  readonly object_format_name?: '' | 'sha1' | 'sha256' | undefined;
};

/**
 * Creates a repository for an owner, with a first commit if `auto_init` is set, and sends the owner's webhooks. `fill`
 * adds content before the creation completes; if it throws, the repository is removed.
 */
export async function createRepository(
  context: ForgeContext,
  owner: UserRow,
  actor: UserRow,
  wanted: NewRepository,
  fill?: (repository: RepositoryRow) => Promise<void>,
): Promise<RepositoryRow> {
  const { db, git } = context;
  const branch = wanted.default_branch || 'main';
  if (!isRefName(branch)) throw new ForgeProblem(422, `invalid branch name: ${branch}`);
  if (wanted.auto_init) await assertFirstFiles(wanted);
  const repository = db.transaction(() => insertRepository(context, { owner, actor }, wanted, branch));
  try {
    await git.create(repository.id, {
      defaultBranch: branch,
      objectFormat: wanted.object_format_name || 'sha1',
    });
    if (wanted.auto_init) await writeFirstCommit(context, { repository, owner, actor }, wanted);
    await fill?.(repository);
  } catch (error) {
    // Every request to a repository without a folder would end with 500.
    db.run('DELETE FROM repositories WHERE id = ?', repository.id);
    await git.remove(repository.id);
    throw error;
  }
  return db.transaction(() => {
    endCreation(db, repository.id);
    const row = found(db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', repository.id));
    recordActivity(context, { repositoryId: row.id, actorId: actor.id, type: 'create_repo' });
    emitRepository(context, { repository: row, owner, actor, action: 'created' });
    return row;
  });
}

/** Settings of a template, which only provides files; workflows run in the repositories generated from it. */
const unitsOfTemplate: Partial<RepositorySettings> = { has_actions: false };

/** Inserts the row of a repository under creation; `endCreation` completes it. */
export function insertRepository(
  context: ForgeContext,
  { owner, actor }: { readonly owner: UserRow; readonly actor: UserRow },
  wanted: NewRepository,
  branch: string,
): RepositoryRow {
  const { db, clock } = context;
  assertRepositoryName(wanted.name);
  if (isTaken(context, owner, wanted.name)) {
    throw new ForgeProblem(409, 'The repository with the same name already exists.');
  }
  if ((wanted.description ?? '').length > 2048) throw new ForgeProblem(422, '[Description]: MaxSize(2048)');
  const now = secondsOf(clock());
  const { lastId } = db.run(
    `INSERT INTO repositories (owner_id, name, lower_name, description, default_branch, object_format, is_private,
       is_template, settings, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    owner.id,
    wanted.name,
    wanted.name.toLowerCase(),
    wanted.description ?? '',
    branch,
    wanted.object_format_name || 'sha1',
    wanted.private ?? false,
    wanted.template ?? false,
    JSON.stringify(wanted.template ? unitsOfTemplate : {}),
    now,
    now,
  );
  beginWork(db, lastId, 'creating');
  copyDefaultHooks(context, lastId);
  for (const label of labelSet(wanted.issue_labels))
    insertLabel(context, { column: 'repo_id', id: lastId }, label);
  watchRepository(context, actor.id, lastId);
  return found(db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', lastId));
}

async function writeFirstCommit(
  context: ForgeContext,
  about: { readonly repository: RepositoryRow; readonly owner: UserRow; readonly actor: UserRow },
  wanted: WantedFiles,
): Promise<void> {
  const { repository, owner, actor } = about;
  const author = signatureOf(context, actor);
  const files = await makeFirstFiles(wanted, {
    name: repository.name,
    description: repository.description,
    owner: owner.name,
    year: context.clock().getUTCFullYear(),
  });
  await context.git.commitFiles(repository.id, {
    branch: repository.default_branch,
    message: 'Initial commit\n',
    author,
    committer: author,
    edits: files,
  });
  context.db.run('UPDATE repositories SET is_empty = 0, num_branches = 1 WHERE id = ?', repository.id);
}

/** Ends the request with 422 if a repository cannot have this name. */
export function assertRepositoryName(name: string): void {
  const isUsable = /^[-_.a-zA-Z0-9]{1,100}$/.test(name);
  const isReserved = /^(\.|\.\.|-)$/.test(name) || /\.(git|wiki|rss|atom)$/i.test(name);
  if (!isUsable || isReserved) throw new ForgeProblem(422, `name is invalid or reserved [name: ${name}]`);
}

/** Returns whether an owner has a repository with this name, ignoring case. */
export function isTaken(context: ForgeContext, owner: UserRow, name: string): boolean {
  const sql = 'SELECT 1 AS one FROM repositories WHERE owner_id = ? AND lower_name = ?';
  return context.db.get(sql, owner.id, name.toLowerCase()) !== undefined;
}

/** Emits the event of a created or deleted repository to the hooks of the owner and of the instance. */
export function emitRepository(
  context: ForgeContext,
  news: { repository: RepositoryRow; owner: UserRow; actor: UserRow; action: 'created' | 'deleted' },
): void {
  const { repository, owner, actor, action } = news;
  context.emit({
    type: 'repository',
    repository,
    owner,
    payload: () =>
      repositoryPayload({
        action,
        repository: toRepository(context, repository, {
          owner,
          viewer: undefined,
          permission: 'owner',
          parentReader: actor,
        }),
        owner: toUser(context, owner, undefined),
        sender: toUser(context, actor, undefined),
      }),
  });
}

/** Removes a repository with everything in it, and emits its `deleted` event. */
export function removeRepository(
  context: ForgeContext,
  news: { repository: RepositoryRow; owner: UserRow; actor: UserRow },
): void {
  const { repository } = news;
  context.db.transaction(() => {
    emitRepository(context, { ...news, action: 'deleted' });
    context.db.run('DELETE FROM repositories WHERE id = ?', repository.id);
    context.db.afterCommit(() => {
      context.attachments.sweep();
      // Removes the folder in the background. If the forge stops before that, the next start removes it.
      context.background.add(() => sweepFolders(context));
    });
  });
}
