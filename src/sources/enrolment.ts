import type { Client } from '../client/client.ts';
import type { Clock } from '../clock.ts';
import type { RepositoryRef } from '../contract/events/subject.ts';
import { operations } from '../contract/operations.ts';
import { createScope } from '../patterns/repository-scope.ts';
import { denialOf } from './doubt.ts';

/** Knows which repositories Reeve serves: those its account has starred, and those the operator lists; no archived ones. */
export interface Served {
  /**
   * Returns whether the repository is served. The stars are read again when they are old, or the repository is new to us.
   * Rejects where a repository is starred no more because the forge denies it: it may be back in a moment.
   */
  has(repository: RepositoryRef): Promise<boolean>;
  /** Returns the served repositories that were found by their star. */
  starred(): Promise<readonly RepositoryRef[]>;
}

/** Stars older than this are read again before they are believed. */
const maxAgeMs = 5 * 60_000;
/** A repository that is not among the stars may have been starred just now: look again, but not for every event. */
const minAgeMs = 10_000;

/** Repositories that are remembered though they are starred no more. */
const maxMissing = 1_000;

/** Creates the list of served repositories. `listed` are patterns of the operator; they need no request. */
export function createServed(options: {
  client: Client;
  /** Name of the account whose stars count. */
  login: () => Promise<string>;
  listed: readonly string[];
  clock: Pick<Clock, 'monotonicMs'>;
}): Served {
  const isListed = options.listed.length === 0 ? () => false : createScope(options.listed);
  let stars: ReadonlyMap<number, RepositoryRef> = new Map();
  /** Repositories that were starred when the stars were read before. */
  const missing = new Map<number, RepositoryRef>();
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const read = (): Promise<void> => {
    reading ??= options
      .login()
      .then((login) => readStars(options.client, login))
      .then((found) => {
        for (const [id, ref] of stars) if (!found.has(id) && missing.size < maxMissing) missing.set(id, ref);
        for (const id of found.keys()) missing.delete(id);
        stars = found;
        readAtMs = options.clock.monotonicMs();
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };

  return {
    async has(repository) {
      if (isListed(`${repository.owner}/${repository.name}`)) return true;
      const ageMs = options.clock.monotonicMs() - readAtMs;
      if (ageMs > maxAgeMs || (ageMs > minAgeMs && !stars.has(repository.id))) await read();
      const lost = missing.get(repository.id);
      if (lost !== undefined) {
        const denial = await denialOf(options.client, lost);
        if (denial) throw denial;
        // The repository answers: somebody took the star away.
        missing.delete(repository.id);
      }
      return stars.has(repository.id);
    },
    async starred() {
      if (options.clock.monotonicMs() - readAtMs > maxAgeMs) await read();
      return [...stars.values()];
    },
  };
}

async function readStars(client: Client, login: string): Promise<ReadonlyMap<number, RepositoryRef>> {
  const found = new Map<number, RepositoryRef>();
  for await (const repository of client.items(operations.listStarred, { params: { username: login } })) {
    if (repository.archived) continue;
    found.set(repository.id, { id: repository.id, owner: repository.owner.login, name: repository.name });
  }
  return found;
}
