import type { Client } from '../client/client.ts';
import { operations } from '../contract/operations.ts';
import type { Repository } from '../contract/resources/repositories.ts';
import { ReeveError } from '../platform/errors.ts';
import { type ListFailure, servedRepositories } from './sweeps/targets/repositories.ts';

/** Repositories that the checks of rules examine on a forge. */
export type CheckedForge = {
  readonly client: Client;
  /** Names of repositories, as `owner/name`; if empty, the served repositories are used. */
  readonly repositories: readonly string[];
  /** Patterns of served repositories in the operator file, in addition to the starred ones. */
  readonly listed: readonly string[];
  /** Returns the text of a rule file. */
  readonly textOf: (path: string) => string;
};

/** The repositories that Reeve serves, without archived ones, because they accept no changes. */
export type Served = {
  readonly repositories: readonly Repository[];
  /** Repositories in the operator file that the account cannot see. */
  readonly hidden: readonly ListFailure[];
  /** Whether these are all; false if there are more than the requested number. */
  readonly isWhole: boolean;
};

/** Maximum number of repositories that a command examines, because each costs a few requests. */
export const maxExamined = 100;

/** Returns the served repositories, at most `max`. */
export async function readServed(
  client: Client,
  listed: readonly string[],
  {
    max = maxExamined,
    only,
    login = async () => (await client.call(operations.getSelf, {})).login,
  }: {
    readonly max?: number;
    readonly only?: readonly string[] | undefined;
    /** Returns the account's name; default: asks the forge. */
    readonly login?: () => Promise<string>;
  } = {},
): Promise<Served> {
  const repositories: Repository[] = [];
  const hidden: ListFailure[] = [];
  for await (const page of servedRepositories(client, { login, listed, only })) {
    hidden.push(...page.failures);
    repositories.push(...page.repositories);
    if (repositories.length > max)
      return { repositories: repositories.slice(0, max), hidden, isWhole: false };
  }
  return { repositories, hidden, isWhole: true };
}

/**
 * Returns the repositories to examine: those given by name, otherwise the served ones. Throws `usage` for a given name
 * that the account cannot see.
 */
export async function readExamined({
  client,
  repositories: names,
  listed,
}: Pick<CheckedForge, 'client' | 'repositories' | 'listed'>): Promise<readonly Repository[]> {
  const only = names.length > 0 ? names : undefined;
  const { repositories, hidden } = await readServed(client, listed, { only });
  const [failure] = only ? hidden : [];
  if (failure) throw new ReeveError('usage', `${failure.item} cannot be seen: ${failure.error.message}`);
  return repositories;
}
