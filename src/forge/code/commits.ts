import { ForgeProblem, found } from '../core/errors.ts';
import { listChangesOf } from '../git/changes.ts';
import { isIdPrefix, isRefName } from '../git/names.ts';
import { readCommit, resolveRef } from '../git/refs.ts';
import { defineHandlers } from '../http/handler.ts';
import { repositoryAddress, toChangeSummary } from '../views/commit.ts';
import { toEntry } from './compare.ts';

/** One commit by its id or by a branch or tag. */
export const commitHandlers = defineHandlers({
  async getCommit({ context, params, query, caller, repository, owner }) {
    const { sha } = params;
    if (!isRefName(sha) && !isIdPrefix(sha)) throw new ForgeProblem(422, `no valid ref or sha: ${sha}`);
    const git = context.git.open(repository.id);
    // An id comes first: a branch may be called like one.
    const byId = isIdPrefix(sha) ? await readCommit(git, `${sha}^{commit}`) : undefined;
    const commit = found(byId ?? (await resolveRef(git, sha))?.commit, `commit doesn't exist: ${sha}`);
    const entry = toEntry(
      context,
      repositoryAddress(context.rootUrl(), owner.name, repository.name),
      commit,
      caller,
    );
    const { verification, ...plain } = entry.commit;
    const { files, stats } = toChangeSummary((await listChangesOf(git, [commit.id])).get(commit.id) ?? []);
    return {
      ...entry,
      commit: query.verification === false ? plain : { ...plain, verification },
      files: query.files === false ? null : files,
      stats: query.stat === false ? null : stats,
    };
  },
});
