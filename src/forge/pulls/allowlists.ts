import { permissionOf, reaches } from '../platform/access/permissions.ts';
import { userNamed } from '../platform/access/redirects.ts';
import { ForgeProblem } from '../platform/errors.ts';
import type { TeamRow, UserRow } from '../platform/rows.ts';
import type { RulePlace } from './protections-service.ts';

/**
 * Returns an SQL condition for a team `t` with access to one of these units, by its per-unit permissions or, without
 * these, by its own permission.
 */
export function reachesUnit(...units: readonly ('code' | 'issues' | 'pulls')[]): string {
  const words = units.map(
    (unit) => `coalesce(json_extract(t.units_map, '$."repo.${unit}"'), 'none') <> 'none'`,
  );
  return `(t.permission IN ('admin', 'owner') OR CASE WHEN t.units_map = '{}' THEN t.permission <> 'none'
    ELSE ${words.join(' OR ')} END)`;
}

/** SQL condition for a team `t` that has the repository `?1`. */
const hasRepository = /* sql */ `(t.includes_all_repositories = 1
  OR EXISTS (SELECT 1 FROM team_repositories r WHERE r.team_id = t.id AND r.repo_id = ?1))`;

const peopleOfRepository = /* sql */ `
SELECT u.* FROM users u WHERE u.type = 'user' AND u.id IN (SELECT ?2
  UNION SELECT c.user_id FROM collaborators c WHERE c.repo_id = ?1
  UNION SELECT m.user_id FROM teams t JOIN team_members m ON m.team_id = t.id
    WHERE t.org_id = ?2 AND ${reachesUnit('pulls')} AND ${hasRepository})
ORDER BY u.lower_name`;

const teamsOfRepository = /* sql */ `
SELECT t.* FROM teams t WHERE t.org_id = ?2 AND ${reachesUnit('code', 'pulls')} AND ${hasRepository}
ORDER BY t.lower_name`;

/**
 * Accounts that currently belong to a repository (its owner, its collaborators, the members of its teams), and these
 * teams.
 */
export type Readers = { readonly people: readonly UserRow[]; readonly teams: readonly TeamRow[] };

/**
 * Returns the accounts that belong to a repository, sorted by name. Others are not included, even if the repository is
 * public.
 */
export function readersOf({ db, repository, owner }: RulePlace): Readers {
  return {
    people: db.all<UserRow>(peopleOfRepository, repository.id, owner.id),
    teams: db.all<TeamRow>(teamsOfRepository, repository.id, owner.id),
  };
}

/** Returns the names of the readers with these ids, in the readers' order. */
export function namesAmong(
  readers: readonly { readonly id: number; readonly name: string }[],
  ids: readonly number[],
): string[] {
  return readers.filter(({ id }) => ids.includes(id)).map(({ name }) => name);
}

/** Returns the ids of accounts, or ends the request with 422 at the first unknown name. */
export function userIds({ db }: RulePlace, names: readonly string[] = []): number[] {
  const ids = names.map((name) => {
    const user = userNamed(db, name);
    if (!user) throw new ForgeProblem(422, `user does not exist [uid: 0, name: ${name}]`);
    return user.id;
  });
  return [...new Set(ids)];
}

/**
 * Returns the ids of teams, or ends the request with 422 at the first unknown name; a person's repository has no teams.
 */
export function teamIds({ db, owner }: RulePlace, names: readonly string[] = []): number[] {
  if (owner.type !== 'organization') return [];
  const ids = names.map((name) => {
    const sql = 'SELECT id FROM teams WHERE org_id = ? AND lower_name = ?';
    const team = db.get<{ id: number }>(sql, owner.id, name.toLowerCase());
    if (!team) throw new ForgeProblem(422, `team does not exist [org_id: ${owner.id}, name: ${name}]`);
    return team.id;
  });
  return [...new Set(ids)];
}

/** Returns the wanted accounts that may write; an unchanged list is not checked again. */
export function keepWriters(
  place: RulePlace,
  before: readonly number[],
  wanted: readonly number[],
): number[] {
  const { db, repository, owner } = place;
  return keep(before, wanted, (id) => {
    const user = db.get<UserRow>('SELECT * FROM users WHERE id = ?', id);
    return user !== undefined && reaches(permissionOf(db, user, repository, owner, 'code'), 'write');
  });
}

/** Returns the wanted ids that are among the readers; an unchanged list is not checked again. */
export function keepReaders(
  readers: readonly { readonly id: number }[],
  before: readonly number[],
  wanted: readonly number[],
): number[] {
  return keep(before, wanted, (id) => readers.some((reader) => reader.id === id));
}

function keep(
  before: readonly number[],
  wanted: readonly number[],
  isKept: (id: number) => boolean,
): number[] {
  const isSame = before.length === wanted.length && wanted.every((id) => before.includes(id));
  return isSame ? [...before] : wanted.filter(isKept);
}
