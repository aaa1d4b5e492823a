import type { Client } from '../client/client.ts';
import type { InputOf, Operation } from '../contract/operation.ts';
import { operations } from '../contract/operations.ts';
import { createTtlCache } from '../platform/cache/caches.ts';
import type { Clock } from '../platform/clock.ts';
import { messageOf, ReeveError } from '../platform/errors.ts';
import type { ForgeKind } from './in-expression.ts';

/** A name on the forge, with the repository or organization that has it. */
export type ForgeName = { readonly name: string; readonly of: string };

/** The names of labels, teams and branches in the repositories that a user has configured. */
export interface ForgeNames {
  /** Returns the names of a kind, at most a minute old; none if the forge does not answer. Never rejects. */
  of(kind: ForgeKind): Promise<readonly ForgeName[]>;
}

/** Maximum number of repositories that are read, and of names of one kind in one of them. */
export const maxRepositories = 20;
const maxNames = 1_000;
const maxAgeMs = 60_000;

/** Creates the names. `onProblem` receives why names cannot be read, without secrets, once for each reason. */
export function createForgeNames(options: {
  readonly client: Client;
  /** Repositories as `owner/name`. */
  readonly repositories: readonly string[];
  readonly clock: Clock;
  readonly onProblem: (message: string) => void;
}): ForgeNames {
  const { client, clock, onProblem } = options;
  const places = options.repositories.slice(0, maxRepositories).map((full) => {
    const [owner = '', repo = ''] = full.split('/');
    return { full, owner, repo };
  });
  const owners = [...new Set(places.map(({ owner }) => owner))];
  const told = new Set<string>();
  const cache = createTtlCache<ForgeKind, readonly ForgeName[]>({ maxAgeMs, maxEntries: 3, clock });

  const read = async <O extends Operation>(
    operation: O,
    input: InputOf<O>,
    of: string,
    prefix = '',
  ): Promise<readonly ForgeName[]> => {
    // An editor that completes a word must never change anything.
    if (operation.method !== 'GET')
      throw new ReeveError('internal', `${operation.id} is no reading operation`);
    const found: ForgeName[] = [];
    try {
      for await (const item of client.items(operation, input)) {
        const name: unknown =
          typeof item === 'object' && item !== null ? Reflect.get(item, 'name') : undefined;
        if (typeof name === 'string') found.push({ name: `${prefix}${name}`, of });
        if (found.length >= maxNames) break;
      }
    } catch (error) {
      // An owner that is no organization has no teams.
      const isAbsent = error instanceof ReeveError && error.code === 'forge-not-found';
      const message = `${of}: ${messageOf(error)}`;
      if (!isAbsent && !told.has(message) && told.size < 100) onProblem(message);
      told.add(message);
    }
    return found;
  };
  const readers: Readonly<Record<ForgeKind, () => readonly Promise<readonly ForgeName[]>[]>> = {
    label: () => [
      ...places.map(({ full, owner, repo }) =>
        read(operations.listLabels, { params: { owner, repo } }, full),
      ),
      ...owners.map((org) => read(operations.listOrganizationLabels, { params: { org } }, org)),
    ],
    branch: () =>
      places.map(({ full, owner, repo }) => read(operations.listBranches, { params: { owner, repo } }, full)),
    team: () => owners.map((org) => read(operations.listTeams, { params: { org } }, org, `${org}/`)),
  };
  return {
    of: (kind) =>
      cache.get(kind, async () => {
        const found = (await Promise.all(readers[kind]())).flat();
        return [...new Map(found.map((one) => [one.name, one])).values()];
      }),
  };
}
