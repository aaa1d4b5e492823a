import { z } from 'zod';
import type { RepositoryRef } from '../contract/events/subject.ts';
import type { FactMemory } from '../facts/fact.ts';
import type { Admissions } from '../rules/sources/admission.ts';
import type { RuleSource } from '../rules/sources/rule-source.ts';
import type { Notice, SharedStore } from '../store/store.ts';

/** What a process caches and other processes may have seen change. */
type Caches = {
  readonly rules: Pick<RuleSource, 'noteMoved' | 'forget' | 'forgetAll'>;
  readonly admissions: Pick<Admissions, 'forget' | 'forgetAll'>;
  readonly memory: Pick<FactMemory, 'drop'>;
};

type Announce = SharedStore['announce'];

const Repository = z.object({ id: z.number(), owner: z.string(), name: z.string() });

/** Returns the function that tells the other processes of a repository whose default branch has moved. */
export function announceMoves(announce: Announce): (repository: RepositoryRef) => void {
  return ({ id, owner, name }) => announce({ topic: 'rules', key: JSON.stringify({ id, owner, name }) });
}

/** Returns the admissions; what they forget, the other processes forget. */
export function announceForgotten(admissions: Admissions, announce: Announce): Admissions {
  return {
    ...admissions,
    forget(repositoryId) {
      admissions.forget(repositoryId);
      announce({ topic: 'repository', key: String(repositoryId) });
    },
  };
}

/** Returns the memory of facts; what it drops, the other processes drop. */
export function announceDropped(memory: FactMemory, announce: Announce): FactMemory {
  return {
    ...memory,
    drop(prefix) {
      memory.drop(prefix);
      announce({ topic: 'facts', key: prefix });
    },
  };
}

/** Returns the function that takes a notice of another process. These caches must be those that announce nothing. */
export function createNoticeTaker({ rules, admissions, memory }: Caches): (notice: Notice) => void {
  const take: Readonly<Record<Notice['topic'], (key: string) => void>> = {
    rules(key) {
      const repository = readRepository(key);
      // What this version cannot read may be about anything.
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

/** Reads the key of a notice. Other versions, and other users of the database, may send what this one does not know. */
function readRepository(key: string): RepositoryRef | undefined {
  try {
    return Repository.safeParse(JSON.parse(key)).data;
  } catch {
    return undefined;
  }
}
