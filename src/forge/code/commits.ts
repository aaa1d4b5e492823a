import { ForgeProblem, found } from '../platform/errors.ts';
import { readDiff } from '../platform/git/changes.ts';
import type { CommitData } from '../platform/git/commit.ts';
import { isIdPrefix, isObjectId, isRefName } from '../platform/git/names.ts';
import { readCommit, resolveRef } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { readBlob } from '../platform/git/tree.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import { repositoryAddress } from './commits-rows.ts';
import { toDetailed } from './git-reads-service.ts';

/** Returns a commit by id, branch or tag; an id takes precedence, because a branch can have the name of an id. */
async function findCommit(git: GitRepository, sha: string): Promise<CommitData> {
  const byId = isIdPrefix(sha) ? await readCommit(git, `${sha}^{commit}`) : undefined;
  const byName = byId || !isRefName(sha) ? undefined : (await resolveRef(git, sha))?.commit;
  return found(byId ?? byName, `commit doesn't exist: ${sha}`);
}

/** Handlers for one commit (by id, branch or tag) and for the bytes of a file by blob id. */
export const commitHandlers = defineHandlers({
  async getCommit({ context, params, query, caller, repository, owner, permission }) {
    const { sha } = params;
    if (!isRefName(sha) && !isIdPrefix(sha)) throw new ForgeProblem(422, `no valid ref or sha: ${sha}`);
    const git = context.git.open(repository.id);
    const commit = await findCommit(git, sha);
    const [detailed] = await toDetailed({ context, caller, repository, owner, permission }, [commit], query);
    return found(detailed);
  },

  async getCommitDiff({ context, params, repository }) {
    const git = context.git.open(repository.id);
    const { id, parents } = await findCommit(git, params.sha);
    return await readDiff(git, parents[0], id, { kind: params.diffType, binary: false });
  },

  async getBlob({ context, params, repository, owner }) {
    const { sha } = params;
    const git = context.git.open(repository.id);
    const info = isObjectId(sha) ? await git.objects.info(sha) : undefined;
    if (info?.type !== 'blob') throw new ForgeProblem(400, `object does not exist [id: ${sha}]`);
    const content = (await readBlob(git, sha))?.content ?? null;
    const { api } = repositoryAddress(context.rootUrl(), owner.name, repository.name);
    return {
      sha,
      size: info.size,
      encoding: content === null ? null : 'base64',
      content: content === null ? null : content.toString('base64'),
      url: `${api}/git/blobs/${sha}`,
    };
  },
});
