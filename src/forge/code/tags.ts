import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { UserRow } from '../core/rows.ts';
import { toInstant } from '../core/time.ts';
import { isRefName } from '../git/names.ts';
import { moveRefs, type RefChange, readRef, resolveRef } from '../git/refs.ts';
import { findTag, listTags, type TagData, writeTagObject } from '../git/tags.ts';
import { defineHandlers, type HandlerCall } from '../http/handler.ts';
import { guardMove } from '../protections/enforcement.ts';
import { repositoryAddress } from '../views/commit.ts';
import { signatureOf } from '../views/signature.ts';
import { withPush } from './pushes.ts';
import { hasRelease } from './release-tags.ts';

type TagRequest = RepositoryTarget & Pick<HandlerCall, 'context'>;

function toTag({ context, repository, owner }: TagRequest, tag: TagData) {
  const address = repositoryAddress(context.rootUrl(), owner.name, repository.name);
  const archive = `${address.html}/archive/${encodeURIComponent(tag.name)}`;
  return {
    name: tag.name,
    message: tag.message,
    id: tag.id,
    commit: {
      url: `${address.api}/git/commits/${tag.commitId}`,
      sha: tag.commitId,
      created: toInstant(tag.seconds),
    },
    zipball_url: `${archive}.zip`,
    tarball_url: `${archive}.tar.gz`,
  };
}

/** What a protection holds back is a mistake of the request here, not a refusal. */
async function guardTag(
  ...[mover, move, verb]: [...Parameters<typeof guardMove>, 'create' | 'delete']
): Promise<void> {
  try {
    await guardMove(mover, move);
  } catch (error) {
    if (!(error instanceof ForgeProblem)) throw error;
    throw new ForgeProblem(422, `user not allowed to ${verb} protected tag`);
  }
}

/** Creates a tag in git, annotated where it has a message; returns the move for `withPush`, inside of which this runs. */
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
  if (!isRefName(name)) throw new ForgeProblem(422, `"${name}" is no name of a tag`);
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

/** Tags, read from git and made and removed there; each is a push like any other. */
export const tagHandlers = defineHandlers({
  async listTags(call) {
    const { context, repository, page, reply } = call;
    const tags = await listTags(context.git.open(repository.id));
    reply.total(tags.length);
    return tags.slice(page.offset, page.offset + page.limit).map((tag) => toTag(call, tag));
  },

  async getTag(call) {
    const tag = await findTag(call.context.git.open(call.repository.id), call.params.tag);
    return toTag(call, found(tag, `tag doesn't exist: ${call.params.tag}`));
  },

  async createTag(call) {
    const { context, repository, owner, caller, body } = call;
    const git = context.git.open(repository.id);
    return await withPush(context, { repository, owner, pusher: caller }, async () => {
      const target = body.target || repository.default_branch;
      const { commit } = found(await resolveRef(git, target), `target not found: ${target}`);
      const tag = { name: body.tag_name, message: body.message, commitId: commit.id };
      const change = await makeTag(context, { repository, owner, caller }, tag);
      const result = toTag(call, found(await findTag(git, body.tag_name)));
      return { result, changes: [change] };
    });
  },

  async deleteTag({ context, params, caller, repository, owner }) {
    const git = context.git.open(repository.id);
    await withPush(context, { repository, owner, pusher: caller }, async () => {
      const { id: before } = found(await findTag(git, params.tag), 'not found');
      if (hasRelease(context.db, repository.id, params.tag)) {
        throw new ForgeProblem(409, 'a tag attached to a release cannot be deleted directly');
      }
      const ref = `refs/tags/${params.tag}`;
      const mover = { db: context.db, repository, owner, user: caller, git };
      await guardTag(mover, { ref, before, after: undefined }, 'delete');
      if (!(await moveRefs(git, [{ name: ref, before, after: undefined }]))) {
        throw new ForgeProblem(404, 'not found');
      }
      return { result: undefined, changes: [{ ref, before, after: undefined }] };
    });
    return undefined;
  },
});
