import type { Client } from '../../client/client.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import { operations } from '../../contract/operations.ts';
import { createTtlCache } from '../../platform/cache/ttl-cache.ts';
import type { Clock } from '../../platform/clock.ts';
import { ReeveError } from '../../platform/errors.ts';

/** Current identity of a repository. */
type Identity = {
  /** Its id, and its current owner and name. */
  readonly at: RepositoryRef;
  readonly archived: boolean;
};

/** Looks up repositories by a claimed id and name. */
export interface Identities {
  /**
   * Returns the repository with this id, found under this name or, after a rename, under its new name. Throws
   * `delivery-refused` if the name belongs to a repository with another id.
   */
  read(claimed: RepositoryRef): Promise<Identity>;
  /** Removes a repository from the cache, because its name has changed. */
  forget(repositoryId: number): void;
  /** Removes all that is cached. */
  forgetAll(): void;
}

/** How long an identity is cached. The forge refuses a write under an outdated name (301). */
const maxAgeMs = 10 * 60_000;
const maxEntries = 5_000;

/**
 * Creates the lookup, with a cache. Its key is the whole claim, id and name: a wrong claim fails and is never
 * cached, and it cannot use the entry of the repository with that id.
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
    read: (claimed) => cache.get(identityKey(claimed), () => ask(claimed)),
    forget: (repositoryId) => cache.deleteWhere(({ at }) => at.id === repositoryId),
    forgetAll: () => cache.deleteWhere(() => true),
  };
}

function identityKey({ id, owner, name }: RepositoryRef): string {
  return `${id} ${owner}/${name}`.toLowerCase();
}
