import type { RepositoryTarget } from '../access/targets.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import { toInstant } from '../core/time.ts';
import { isRefName } from '../git/names.ts';
import { moveRefs, readRef, resolveRef } from '../git/refs.ts';
import { findTag, listTags, type TagData, writeTagObject } from '../git/tags.ts';
import { defineHandlers, type HandlerCall } from '../http/handler.ts';
import { guardMove } from '../protections/enforcement.ts';
import { repositoryAddress } from '../views/commit.ts';
import { signatureOf } from '../views/signature.ts';
import { withPush } from './pushes.ts';

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
    const ref = `refs/tags/${body.tag_name}`;
    return await withPush(context, { repository, owner, pusher: caller }, async () => {
      const target = body.target || repository.default_branch;
      const { commit } = found(await resolveRef(git, target), `target not found: ${target}`);
      if (!isRefName(body.tag_name)) throw new ForgeProblem(422, `"${body.tag_name}" is no name of a tag`);
      if (await readRef(git, ref)) throw new ForgeProblem(409, `tag already exists [name: ${body.tag_name}]`);
      const mover = { db: context.db, repository, owner, user: caller, git };
      await guardTag(mover, { ref, before: undefined, after: commit.id }, 'create');
      const tagger = signatureOf(context, caller);
      const after = body.message
        ? await writeTagObject(git, {
            name: body.tag_name,
            commitId: commit.id,
            message: body.message,
            tagger,
          })
        : commit.id;
      if (!(await moveRefs(git, [{ name: ref, before: undefined, after }]))) {
        throw new ForgeProblem(409, `the name conflicts with another tag [name: ${body.tag_name}]`);
      }
      const result = toTag(call, found(await findTag(git, body.tag_name)));
      return { result, changes: [{ ref, before: undefined, after }] };
    });
  },

  async deleteTag({ context, params, caller, repository, owner }) {
    const git = context.git.open(repository.id);
    await withPush(context, { repository, owner, pusher: caller }, async () => {
      const { id: before } = found(await findTag(git, params.tag), 'not found');
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
