import type { RepositoryTarget } from '../platform/access/targets.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { moveRefs, resolveRef } from '../platform/git/refs.ts';
import { findTag, listTags, type TagData } from '../platform/git/tags.ts';
import { defineHandlers, type HandlerCall } from '../platform/http/handler.ts';
import { toInstant } from '../platform/time.ts';
import { repositoryAddress } from './commits-rows.ts';
import { withPush } from './pushes.ts';
import { guardTag, hasRelease, makeTag } from './tags-service.ts';

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

/** Handlers for tags in git; creation and deletion have the effects of a push. */
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
