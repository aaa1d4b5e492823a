import type { Operation } from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import type { Team } from '../../contract/resources/users.ts';
import { pathParams, readItems } from '../inverses/forms.ts';
import type { Inverse } from '../inverses/inverse.ts';
import { toLowerCase } from '../same-names.ts';
import { editBody, settingsLike, type TeamSettings, teamByName } from './forms.ts';

/** Deletes a team that was created, if its settings are still those. */
export const undoCreateTeam: Inverse = async (change, client) => {
  const { org } = pathParams(change);
  const all = (await readItems(client, operations.listTeams, {
    params: { org },
  })) as unknown as readonly Team[];
  const { name } = change.input.body as { readonly name: string };
  const found = teamByName(name, all);
  return {
    value: found === undefined ? null : settingsLike(change.after as TeamSettings, found),
    undo: () => ({ operation: operations.deleteTeam, input: { params: { id: found?.id } } }),
  };
};

/** Restores the settings of a team. */
export const undoEditTeam: Inverse = async (change, client) => {
  const params = pathParams(change) as { readonly id: number };
  const live = await client.call(operations.getTeam, { params });
  return {
    value: settingsLike(change.after as TeamSettings, live),
    undo: () => ({
      operation: operations.editTeam,
      input: { params, body: editBody(change.before as TeamSettings, live) },
    }),
  };
};

/** A deleted team had members and repositories that are not known any more. */
export const undoDeleteTeam: Inverse = async () => ({
  value: null,
  undo: () => 'its members and repositories are not known any more',
});

/** Returns the inverse of adding or removing a member: the other of the two. */
export function undoMembership(opposite: Operation): Inverse {
  return async (change, client) => {
    const params = pathParams(change);
    const live = await readItems(client, operations.listTeamMembers, { params: { id: params.id } });
    const isThere = live.some(({ login }) => toLowerCase(login) === toLowerCase(params.username));
    return { value: isThere, undo: () => ({ operation: opposite, input: { params } }) };
  };
}

/** Returns the inverse of adding or removing a repository: the other of the two. */
export function undoTeamRepository(opposite: Operation): Inverse {
  return async (change, client) => {
    const params = pathParams(change);
    const live = await readItems(client, operations.listTeamRepositories, { params: { id: params.id } });
    const isThere = live.some(({ name }) => toLowerCase(name) === toLowerCase(params.repo));
    return { value: isThere, undo: () => ({ operation: opposite, input: { params } }) };
  };
}
