import { findPathOwners, parseCodeowners } from '../../patterns/codeowners-file.ts';
import { LimitExceeded, Meter } from '../../patterns/meter.ts';
import type { PullContext } from '../hooks/events.ts';
import { isDraftTitle } from '../issues/issues-rows.ts';
import { permissionOf } from '../platform/access/permissions.ts';
import type { FoundPull, RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { listChanges } from '../platform/git/changes.ts';
import { readBranch } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { findEntry, readBlob } from '../platform/git/tree.ts';
import type { TeamRow, UserRow } from '../platform/rows.ts';
import { askForReview, askTeamForReview, type Reviewers } from './review-requests.ts';

type CodeOwnersPlace = Pick<RepositoryTarget, 'repository' | 'owner'>;

const files = ['CODEOWNERS', 'docs/CODEOWNERS', '.gitea/CODEOWNERS'];
const maxFileBytes = 1024 * 1024;
/**
 * Maximum units of the meter, which take about half a second: a file with thousands of patterns must not block the
 * forge.
 */
const maxUnits = 500_000_000;

/** The patterns are RE2, so a line with look-around is skipped. */
const dialect = { hasRoot: true, hasLookaround: false };

const none: Reviewers = { people: [], teams: [] };

/**
 * Returns the owners of a pull request's changes, according to CODEOWNERS on the default branch of its base repository.
 * A draft has no code owners, nor does a pull request into a fork.
 */
export async function findCodeOwners(
  context: ForgeContext,
  { repository, owner }: CodeOwnersPlace,
  change: { readonly title: string; readonly from: string; readonly to: string },
): Promise<Reviewers> {
  if (repository.fork_id !== null || isDraftTitle(change.title)) return none;
  const git = context.git.open(repository.id);
  const text = await readOwnersFile(git, repository.default_branch);
  const lines = text === undefined ? [] : parseCodeowners(text, dialect);
  if (lines.length === 0 || change.from === change.to) return none;
  const paths = (await listChanges(git, change.from, change.to)).map(({ path }) => path);
  const meter = new Meter({
    pool: { left: maxUnits },
    reserve: 0,
    describe: () => 'CODEOWNERS exceeds the time limit',
  });
  try {
    const owned = findPathOwners(lines, paths, { dialect, meter });
    const names = new Set(owned.flatMap(({ owners }) => [...owners]));
    return nameOwners(context, { repository, owner }, [...names]);
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error;
    context.log.warn(
      { repository: repository.id },
      'finding the code owners of a pull request takes too long',
    );
    return none;
  }
}

async function readOwnersFile(git: GitRepository, branch: string): Promise<string | undefined> {
  const commit = await readBranch(git, branch);
  if (!commit) return undefined;
  for (const path of files) {
    const entry = await findEntry(git, commit.id, path);
    const blob = entry?.kind === 'file' ? await readBlob(git, entry.id, maxFileBytes) : undefined;
    if (blob?.content?.length) return blob.content.toString('utf8');
  }
  return undefined;
}

/** Returns the existing accounts and teams with these names that can read the pull requests. */
function nameOwners({ db }: ForgeContext, place: CodeOwnersPlace, names: readonly string[]): Reviewers {
  const people = new Map<number, UserRow>();
  const teams = new Map<number, TeamRow>();
  for (const name of names) {
    const [organization = '', teamName] = name.split('/');
    if (teamName === undefined) {
      const user = db.get<UserRow>(
        `SELECT * FROM users WHERE lower_name = ? AND type = 'user'`,
        name.toLowerCase(),
      );
      const isReader = user && permissionOf(db, user, place.repository, place.owner, 'pulls') !== 'none';
      if (isReader) people.set(user.id, user);
      continue;
    }
    const team = db.get<TeamRow>(
      `SELECT t.* FROM teams t JOIN users o ON o.id = t.org_id
       WHERE o.lower_name = ? AND t.name = ? AND o.id = ?`,
      organization.toLowerCase(),
      teamName,
      place.owner.id,
    );
    if (team) teams.set(team.id, team);
  }
  return { people: [...people.values()], teams: [...teams.values()] };
}

/** Requests reviews, on behalf of the author, from owners who have not reviewed yet. Call it in a transaction. */
export function requestCodeOwners(
  context: ForgeContext,
  place: PullContext,
  both: FoundPull,
  { people, teams }: Reviewers,
): void {
  const { db } = context;
  const poster = db.get<UserRow>('SELECT * FROM users WHERE id = ?', both.issue.poster_id);
  if (!poster) return;
  const asking = { ...place, actor: poster };
  for (const user of people) {
    const sql = 'SELECT 1 AS one FROM reviews WHERE issue_id = ? AND reviewer_id = ? LIMIT 1';
    const hasReview = db.get(sql, both.issue.id, user.id) !== undefined;
    if (user.id !== poster.id && !hasReview) askForReview(context, asking, both, user);
  }
  for (const team of teams) askTeamForReview(context, asking, both, team);
}
