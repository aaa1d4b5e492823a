import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { listChangesOf } from '../platform/git/changes.ts';
import type { CommitData } from '../platform/git/commit.ts';
import type { UserRow } from '../platform/rows.ts';
import { toEntry } from './branches-service.ts';
import { repositoryAddress, toChangeSummary } from './commits-rows.ts';

export type ReadTarget = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly caller: UserRow | undefined;
};

export function addressOf({ context, owner, repository }: ReadTarget) {
  return repositoryAddress(context.rootUrl(), owner.name, repository.name);
}

/** Optional parts of a commit. A part that is `false` is omitted; all other parts are included. */
type Parts = {
  readonly stat?: boolean | undefined;
  readonly verification?: boolean | undefined;
  readonly files?: boolean | undefined;
};

/** Returns commits with full details; their changes are read together. */
export async function toDetailed(
  { context, caller, ...call }: ReadTarget,
  commits: readonly CommitData[],
  { stat = true, verification = true, files = true }: Parts,
) {
  const git = context.git.open(call.repository.id);
  const address = addressOf({ context, caller, ...call });
  const ids = commits.map(({ id }) => id);
  const changes = stat || files ? await listChangesOf(git, ids) : undefined;
  return commits.map((commit) => {
    const entry = toEntry(context, address, commit);
    const summary = toChangeSummary(changes?.get(commit.id) ?? []);
    return {
      ...entry,
      commit: { ...entry.commit, verification: verification ? entry.commit.verification : null },
      files: files ? summary.files : null,
      stats: stat ? summary.stats : null,
    };
  });
}
