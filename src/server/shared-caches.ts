import { z } from 'zod';
import type { RepositoryRef } from '../contract/events/subject.ts';
import type { FactMemory } from '../facts/fact.ts';
import type { Admissions } from '../rules/sources/admission.ts';
import type { RuleSource } from '../rules/sources/rule-source.ts';
import type { Notice, SharedStore } from '../store/store.ts';

/** Caches of this process that notices from other processes invalidate. */
type Caches = {
  readonly rules: RuleSource;
  readonly admissions: Admissions;
  readonly memory: FactMemory;
};

const Repository = z.object({ id: z.number(), owner: z.string(), name: z.string() });

/** Returns the function that notifies the other processes when a default branch has moved. */
export function announceMoves(store: SharedStore): (repository: RepositoryRef) => void {
  return ({ id, owner, name }) =>
    store.announce({ topic: 'rules', key: JSON.stringify({ id, owner, name }) });
}

/** Returns admissions that also notify the other processes when an entry is removed from the cache. */
export function announceForgotten(admissions: Admissions, store: SharedStore): Admissions {
  return {
    admit: (origin, event) => admissions.admit(origin, event),
    forgetAll: () => admissions.forgetAll(),
    forget(repositoryId) {
      admissions.forget(repositoryId);
      store.announce({ topic: 'repository', key: String(repositoryId) });
    },
  };
}

/** Returns a fact memory that also notifies the other processes when entries are dropped. */
export function announceDropped(memory: FactMemory, store: SharedStore): FactMemory {
  return {
    get: (key) => memory.get(key),
    ageMs: (key) => memory.ageMs(key),
    set: (key, value) => memory.set(key, value),
    drop(prefix) {
      memory.drop(prefix);
      store.announce({ topic: 'facts', key: prefix });
    },
  };
}

/**
 * Returns the function that handles notices from other processes. The given caches must not send notices themselves.
 */
export function createNoticeTaker({ rules, admissions, memory }: Caches): (notice: Notice) => void {
  const take: Readonly<Record<Notice['topic'], (key: string) => void>> = {
    rules(key) {
      const repository = readRepository(key);
      // A notice that this version cannot read may concern any repository.
      if (repository === undefined) rules.forgetAll();
      else rules.noteMoved(repository);
    },
    repository(key) {
      admissions.forget(Number(key));
      rules.forget(Number(key));
      memory.drop(`${key}/`);
    },
    facts: (key) => memory.drop(key),
    everything() {
      rules.forgetAll();
      admissions.forgetAll();
      memory.drop('');
    },
  };
  return ({ topic, key }) => take[topic](key);
}

/**
 * Parses the key of a notice; undefined for unknown keys, which other versions or other users of the database may send.
 */
function readRepository(key: string): RepositoryRef | undefined {
  try {
    return Repository.safeParse(JSON.parse(key)).data;
  } catch {
    return undefined;
  }
}
