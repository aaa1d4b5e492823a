import type { Names } from '../names.ts';

/** Reviewers or assignees of the source by the names of the forge. */
export type MappedPeople = {
  readonly users: readonly string[];
  /** Names of teams without their organization. */
  readonly teams: readonly string[];
  readonly notes: readonly string[];
};

/** Maps logins, and teams that `isTeam` recognises, to names of the forge. */
export function mapPeople(
  written: readonly string[],
  names: Names,
  teamOf: (name: string) => string | undefined,
): MappedPeople {
  const users: string[] = [];
  const teams: string[] = [];
  const notes: string[] = [];
  for (const one of written) {
    const team = teamOf(one);
    if (team === undefined) {
      const { name, note } = names.user(one);
      users.push(name);
      if (note !== undefined) notes.push(note);
    } else {
      const mapped = names.team(team);
      teams.push(mapped.name.split('/').at(-1) ?? mapped.name);
      if (team.includes('/') && mapped.note !== undefined) notes.push(mapped.note);
    }
  }
  return { users: [...new Set(users)], teams: [...new Set(teams)], notes };
}
