import type { Client } from '../../client/client.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import { operations } from '../../contract/operations.ts';
import { createUnlimitedMeter } from '../../patterns/meter.ts';
import { ReeveError } from '../../platform/errors.ts';
import { isInScope } from '../../rules/match.ts';
import type { LoadedRule } from '../../rules/rule.ts';
import type { RunInput } from '../run-context.ts';

/**
 * Returns why a rule must not give the repository of the run another name; undefined if it may: the rule would lose the
 * repository, settings or other rules are about the former name, or the name is taken.
 */
export async function findBarToRename(
  rule: LoadedRule,
  name: string,
  { facts, client, barToRename }: RunInput,
): Promise<string | undefined> {
  const { repository } = facts.subject;
  if (repository === undefined) return 'the subject has no repository';
  const { owner } = repository;
  const [from, to] = [`${owner}/${repository.name}`, `${owner}/${name}`];
  if (!isInScope(rule, { kind: 'repository', repository: { ...repository, name } }, createUnlimitedMeter()))
    return `the rule would lose the repository: its in does not include ${to}`;
  // A what-if knows neither settings nor a forge.
  if (client === undefined) return undefined;
  if (barToRename === undefined) return 'repositories are renamed only where the operator file is known';
  return (await barToRename(from, to)) ?? (await findHolder(client, repository, name));
}

/**
 * Returns why a name is not free. A former name of another repository leads to that repository until the name is taken,
 * so it counts as taken.
 */
async function findHolder(
  client: Client,
  { id, owner }: RepositoryRef,
  name: string,
): Promise<string | undefined> {
  try {
    const found = await client.call(operations.getRepository, { params: { owner, repo: name } });
    if (found.id === id) return undefined;
    const isNow = found.full_name.toLowerCase() === `${owner}/${name}`.toLowerCase();
    return isNow
      ? `there is a repository ${found.full_name}`
      : `${owner}/${name} is a former name that leads to ${found.full_name}`;
  } catch (error) {
    // A repository that the account cannot see is refused by the forge.
    if (error instanceof ReeveError && error.code === 'forge-not-found') return undefined;
    throw error;
  }
}
