import type { Client } from '../../client/client.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import { operations } from '../../contract/operations.ts';
import { createRepositoryScope } from '../../patterns/repository-scope.ts';
import type { Clock } from '../../platform/clock.ts';
import { findDenial } from './doubt.ts';

/** The served repositories: those starred by the bot's account, and those listed by the operator; no archived ones. */
export interface Enrolment {
  /**
   * Returns whether the repository is served. The stars are read again when they are old, or for an unknown repository.
   * Rejects if a repository is no longer among the stars because the forge denies access: that may be temporary.
   */
  has(repository: RepositoryRef): Promise<boolean>;
  /** Returns the served repositories that are starred. */
  starred(): Promise<readonly RepositoryRef[]>;
}

/** Maximum age of the list of stars. */
const maxAgeMs = 5 * 60_000;
/** Minimum age of the list for a new reading because of an unknown repository, which may have been starred just now. */
const minAgeMs = 10_000;

/** Maximum number of remembered repositories that are no longer starred. */
const maxMissing = 1_000;

/** Creates the list of served repositories. `listed` are patterns of the operator, which need no request. */
export function createEnrolment(options: {
  client: Client;
  /** Name of the account whose stars are read. */
  login: () => Promise<string>;
  listed: readonly string[];
  clock: Pick<Clock, 'monotonicMs'>;
}): Enrolment {
  const isListed = options.listed.length === 0 ? () => false : createRepositoryScope(options.listed);
  let stars: ReadonlyMap<number, RepositoryRef> = new Map();
  /** Repositories of the previous list of stars. */
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
        const denial = await findDenial(options.client, lost);
        if (denial) throw denial;
        // The repository answers, so its star was removed.
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
