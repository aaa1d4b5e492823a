import { createTtlCache } from '../cache/ttl-cache.ts';
import type { Client } from '../client/client.ts';
import type { Clock } from '../clock.ts';
import type { RepositoryRef } from '../contract/events/subject.ts';
import { operations } from '../contract/operations.ts';
import { ReeveError } from '../errors.ts';

/** A repository as the forge knows it now. */
type Identity = {
  /** Its id, and the owner and name that it has now. */
  readonly at: RepositoryRef;
  readonly archived: boolean;
};

/** Looks up repositories that somebody else names, by id and name together. */
export interface Identities {
  /**
   * Returns the repository with this id, found under this name or, after a rename, under the one it leads to. Throws
   * `delivery-refused` where the name leads to a repository with another id.
   */
  read(claimed: RepositoryRef): Promise<Identity>;
  /** Drops what is cached of a repository: its name no longer leads to it. */
  forget(repositoryId: number): void;
}

/** How long an identity is believed. A write under a name that is no longer valid is refused by the forge (301). */
const maxAgeMs = 10 * 60_000;
const maxEntries = 5_000;

/**
 * Creates the lookup, with a cache. Its key is the whole claim, id and name: a claim that is wrong fails and is never
 * cached, and it cannot reach the entry of the repository whose id it names.
 */
export function createIdentities({
  client,
  clock,
}: {
  client: Client;
  clock: Pick<Clock, 'monotonicMs'>;
}): Identities {
  const cache = createTtlCache<string, Identity>({ maxAgeMs, maxEntries, clock });

  const ask = async ({ id, owner, name }: RepositoryRef): Promise<Identity> => {
    const live = await client.call(operations.getRepository, { params: { owner, repo: name } });
    if (live.id !== id) {
      throw new ReeveError(
        'delivery-refused',
        `the delivery names repository ${id} as ${owner}/${name}, but ${owner}/${name} is repository ${live.id}`,
      );
    }
    return {
      at: { id, owner: live.owner.login, name: live.name },
      archived: live.archived === true,
    };
  };

  return {
    read: (claimed) => cache.get(keyOf(claimed), () => ask(claimed)),
    forget: (repositoryId) => cache.deleteWhere(({ at }) => at.id === repositoryId),
  };
}

function keyOf({ id, owner, name }: RepositoryRef): string {
  return `${id} ${owner}/${name}`.toLowerCase();
}
