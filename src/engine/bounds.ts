import type { AnyInput } from '../contract/operation.ts';
import type { RepositoryRef } from '../contract/subject.ts';
import { ReeveError } from '../errors.ts';
import type { Facts } from '../facts/fact.ts';
import { levelOf, type PlannedChange } from './plan.ts';

/**
 * The one choke point of writes that rules of repositories ask for: they go to the event's repository, by owner and name
 * in the request and by id on the forge. Throws where one would not; whoever can push to a default branch must not gain
 * the bot's rights elsewhere. Rules with more power are held to the repository's identity as well, where they write to it.
 */
export async function refuseEscape(planned: PlannedChange, input: AnyInput, facts: Facts): Promise<void> {
  const home = facts.subject.repository;
  if (home === undefined) return;
  const goesHome = isHome(home, input.params ?? {});
  if (!goesHome && levelOf(planned) === 'repository') {
    throw new ReeveError(
      'forge-forbidden',
      `a rule of ${home.owner}/${home.name} must not write anywhere else`,
    );
  }
  if (goesHome) await holdIdentity(home, facts);
}

function isHome(home: RepositoryRef, params: Readonly<Record<string, unknown>>): boolean {
  return same(params.owner, home.owner) && same(params.repo, home.name);
}

/** Owners and names are unique whatever their case. */
function same(given: unknown, name: string): boolean {
  return typeof given === 'string' && given.toLowerCase() === name.toLowerCase();
}

/** A repository that was deleted and made anew, or whose name another one took, is not the one the event spoke of. */
async function holdIdentity(home: RepositoryRef, facts: Facts): Promise<void> {
  const { id } = (await facts.ask({ name: 'repository_id' })) as { id: number };
  if (id === home.id) return;
  throw new ReeveError(
    'forge-not-found',
    `${home.owner}/${home.name} is another repository now (id ${id}, the event spoke of ${home.id}); nothing was written`,
  );
}
