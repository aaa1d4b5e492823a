import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { Database } from '../platform/database.ts';
import { ForgeProblem } from '../platform/errors.ts';
import { isRefName } from '../platform/git/names.ts';
import { moveRefs, type RefChange, readRef } from '../platform/git/refs.ts';
import { writeTagObject } from '../platform/git/tags.ts';
import type { UserRow } from '../platform/rows.ts';
import { guardMove } from '../pulls/enforcement.ts';
import { signatureOf } from './commits-rows.ts';

/** Ends the request with 422 instead of 403 if a tag protection forbids the move. */
export async function guardTag(
  ...[mover, move, verb]: [...Parameters<typeof guardMove>, 'create' | 'delete']
): Promise<void> {
  try {
    await guardMove(mover, move);
  } catch (error) {
    if (!(error instanceof ForgeProblem)) throw error;
    throw new ForgeProblem(422, `user not allowed to ${verb} protected tag`);
  }
}

/**
 * Creates a tag in git, annotated if it has a message. Returns the ref move for `withPush`; call it inside `withPush`.
 */
export async function makeTag(
  context: ForgeContext,
  {
    repository,
    owner,
    caller,
  }: Pick<RepositoryTarget, 'repository' | 'owner'> & { readonly caller: UserRow },
  tag: { readonly name: string; readonly message?: string | undefined; readonly commitId: string },
): Promise<RefChange> {
  const { name, message, commitId } = tag;
  const git = context.git.open(repository.id);
  const ref = `refs/tags/${name}`;
  if (!isRefName(name)) throw new ForgeProblem(422, `"${name}" is not a valid tag name`);
  if (await readRef(git, ref)) throw new ForgeProblem(409, `tag already exists [name: ${name}]`);
  const mover = { db: context.db, repository, owner, user: caller, git };
  await guardTag(mover, { ref, before: undefined, after: commitId }, 'create');
  const tagger = signatureOf(context, caller);
  const after = message ? await writeTagObject(git, { name, commitId, message, tagger }) : commitId;
  if (!(await moveRefs(git, [{ name: ref, before: undefined, after }]))) {
    throw new ForgeProblem(409, `the name conflicts with another tag [name: ${name}]`);
  }
  return { ref, before: undefined, after };
}

/** Returns whether a tag has a release, drafts included. */
export function hasRelease(db: Database, repositoryId: number, tag: string): boolean {
  const sql = 'SELECT 1 AS one FROM releases WHERE repo_id = ? AND lower_tag = ?';
  return db.get(sql, repositoryId, tag.toLowerCase()) !== undefined;
}

/**
 * Updates the release of a tag: deleting the tag turns the release into a draft, pushing the tag publishes a draft.
 * Sends no event.
 */
export function followTag(db: Database, repositoryId: number, { ref, after }: RefChange): void {
  const tag = ref.replace(/^refs\/tags\//, '');
  const sql = 'UPDATE releases SET is_draft = ? WHERE repo_id = ? AND lower_tag = ?';
  db.run(sql, after === undefined, repositoryId, tag.toLowerCase());
}
