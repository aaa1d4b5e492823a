import { addressOf } from './commits.ts';
import { toEntry } from './compare.ts';
import { ForgeProblem, found } from './errors.ts';
import { listChanges, listTouched } from './git/changes.ts';
import type { CommitData } from './git/commit.ts';
import { isIdPrefix, isRefName } from './git/names.ts';
import { readCommit, resolveRef } from './git/refs.ts';
import type { GitRepository } from './git/repository.ts';
import { defineHandlers } from './handler.ts';

/** The tree without anything in it, by object format: what a first commit is compared with. */
const emptyTrees: Readonly<Record<string, string>> = {
  sha1: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  sha256: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
};

async function countLines(git: GitRepository, commit: CommitData, format: string) {
  const changes = await listChanges(git, commit.parents[0] ?? emptyTrees[format] ?? commit.id, commit.id);
  const sum = (member: 'additions' | 'deletions') =>
    changes.reduce((total, change) => total + change[member], 0);
  const [additions, deletions] = [sum('additions'), sum('deletions')];
  return { total: additions + deletions, additions, deletions };
}

async function listFiles(git: GitRepository, commit: CommitData) {
  const touched = await listTouched(git, commit.id);
  return (['added', 'removed', 'modified'] as const).flatMap((status) =>
    touched[status].map((filename) => ({ filename, status })),
  );
}

/** One commit by its id or by a branch or tag. */
export const commitHandlers = defineHandlers({
  async getCommit({ context, params, query, caller, repository, owner }) {
    const { sha } = params;
    if (!isRefName(sha) && !isIdPrefix(sha)) throw new ForgeProblem(422, `no valid ref or sha: ${sha}`);
    const git = context.git.open(repository.id);
    // An id comes first: a branch may be called like one.
    const byId = isIdPrefix(sha) ? await readCommit(git, `${sha}^{commit}`) : undefined;
    const commit = found(byId ?? (await resolveRef(git, sha))?.commit, `commit doesn't exist: ${sha}`);
    const entry = toEntry(context, addressOf(context.rootUrl(), owner.name, repository.name), commit, caller);
    const { verification, ...plain } = entry.commit;
    return {
      ...entry,
      commit: query.verification === false ? plain : { ...plain, verification },
      files: query.files === false ? null : await listFiles(git, commit),
      stats: query.stat === false ? null : await countLines(git, commit, repository.object_format),
    };
  },
});
