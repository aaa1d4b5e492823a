import type { AnyInput } from '../contract/operation.ts';
import type { RepositoryRef } from '../contract/subject.ts';
import { ReeveError } from '../errors.ts';
import type { Facts } from '../facts/fact.ts';
import type { LoadedRule } from '../rules/rule.ts';
import { levelOf, type PlannedChange } from './wish.ts';

/**
 * The one choke point of writes. What a repository's file asks for goes to the event's repository, by owner and name in
 * the request and by id on the forge; what an organization's file asks for stays in the organization. Throws where a
 * write would not: whoever can push to a default branch must not gain the bot's rights elsewhere. Rules with more power
 * are held to the repository's identity as well, where they write to it.
 */
export async function refuseEscape(planned: PlannedChange, input: AnyInput, facts: Facts): Promise<void> {
  const repository = facts.subject.repository;
  const params = input.params ?? {};
  const goesHome = repository !== undefined && isHome(repository, params);
  if (levelOf(planned) !== 'operator') {
    // A change that several rules want is made with the powers of any of them.
    const refusals = planned.wishes.map(({ rule }) => escapeOf(rule, params, goesHome, repository));
    const [first] = refusals;
    if (first !== undefined && refusals.every((refusal) => refusal !== undefined)) {
      throw new ReeveError('forge-forbidden', first);
    }
  }
  if (goesHome && repository) await holdIdentity(repository, facts);
}

/** Returns why a write is none of this rule's, or undefined where it may be sent. */
function escapeOf(
  rule: LoadedRule,
  params: Readonly<Record<string, unknown>>,
  goesHome: boolean,
  repository: RepositoryRef | undefined,
): string | undefined {
  const { home, level } = rule;
  if (level === 'operator') return undefined;
  if (level === 'organization' && home && 'organization' in home) {
    // Whatever has neither owner nor organization in its path belongs to the instance, or to the account.
    const owner = params.owner ?? params.org;
    if (same(owner, home.organization)) return undefined;
    return `a rule of ${home.organization} must not write anywhere else`;
  }
  if (!goesHome || repository === undefined) {
    const where = repository ? `${repository.owner}/${repository.name}` : rule.source;
    return `a rule of ${where} must not write anywhere else`;
  }
  const isOther = home !== undefined && 'repositoryId' in home && home.repositoryId !== repository.id;
  return isOther ? `a rule of ${rule.source} must not write to another repository` : undefined;
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
