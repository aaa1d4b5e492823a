import type { Database } from '../core/database.ts';
import { type CommitData, parseCommit } from '../git/commit.ts';
import type { GitRepository } from '../git/repository.ts';
import { toVerification } from '../views/verification.ts';

type SignedPlace = { readonly db: Database; readonly git: GitRepository };

/** Commits that are read at a time. */
const batch = 500;

/**
 * Returns the id of a commit that a branch gets and whose signature the forge does not know; undefined where there is none.
 * For a new branch, of those that no other ref has. `git` may have commits that are not taken yet.
 */
export async function findUnverified(
  { db, git }: SignedPlace,
  before: string | undefined,
  after: string,
): Promise<string | undefined> {
  const range = before === undefined ? [after, '--not', '--all'] : [`${before}...${after}`];
  const { stdout } = await git.git.run(['rev-list', ...range, '--'], { folder: git.folder });
  const ids = stdout.toString('latin1').split('\n').filter(Boolean);
  for (let at = 0; at < ids.length; at += batch) {
    const commits = await readRawCommits(git, ids.slice(at, at + batch));
    const unverified = commits.find((commit) => !toVerification(db, commit).verified);
    if (unverified) return unverified.id;
  }
  return undefined;
}

/** Unlike the reader of objects, also those of a push that git has not taken. */
async function readRawCommits(git: GitRepository, ids: readonly string[]): Promise<readonly CommitData[]> {
  const { stdout } = await git.git.run(['cat-file', '--batch'], {
    folder: git.folder,
    input: `${ids.join('\n')}\n`,
  });
  const commits: CommitData[] = [];
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf(0x0a, at);
    const [id = '', , size = '0'] = stdout.toString('latin1', at, end).split(' ');
    const start = end + 1;
    commits.push(parseCommit(id, stdout.subarray(start, start + Number(size))));
    at = start + Number(size) + 1;
  }
  return commits;
}
