import { createTtlCache } from '../cache/ttl-cache.ts';
import type { Client } from '../client/client.ts';
import type { Clock } from '../clock.ts';
import type { Event } from '../contract/events/events.ts';
import type { RepositoryRef } from '../contract/events/subject.ts';
import type { Log } from '../log.ts';
import { createGrants, type Grant } from './grants.ts';
import {
  type OrganizationReading,
  type OrganizationSource,
  type Pins,
  readOrganizationRules,
} from './organization.ts';
import type { BranchHead } from './read-at-head.ts';
import { type RepositoryReading, type RepositoryRules, readRepositoryRules } from './repository-file.ts';

/** All files of one location after a new reading, valid or not. */
export type FileReading = {
  readonly level: 'repository' | 'organization';
  /** Full name of the repository with the files, as requested. */
  readonly name: string;
  /** Id of the repository; 0 if unknown. */
  readonly repositoryId: number;
  /** Absent if the location is not usable. */
  readonly head: BranchHead | undefined;
  readonly files: readonly RepositoryRules[];
};

export type OnRead = (reading: FileReading) => void;

/** How long rules are cached without a push: a lost delivery must not keep old rules in force for long. */
const maxAgeMs = 10 * 60_000;
const maxRepositories = 5_000;

/** The rule files of repositories and organizations, cached. */
export interface RuleFiles {
  /** Returns what the file of a repository says. */
  ofRepository(at: RepositoryRef): Promise<RepositoryReading>;
  /** Returns the files of an organization. Rejects if they cannot be read now: its repositories wait, and do not run without them. */
  ofOrganization(owner: string): Promise<readonly RepositoryRules[]>;
  /** Names of the organizations that have rules, in lower case. */
  readonly organizations: readonly string[];
  /** Removes what an event of the repository may have changed. */
  note(repository: RepositoryRef, event: Event): void;
  /** Removes the files of organizations that come from the event's repository, where it may have changed them. */
  noteUnserved(event: Event): void;
  forget(repositoryId: number): void;
}

/** Creates the cache. Files of repositories are cached by repository id, those of organizations by name. */
export function createRuleFiles(options: {
  readonly client: Client;
  readonly organizations: readonly OrganizationSource[];
  readonly grants: readonly Grant[];
  readonly pins: Pins;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Log;
  readonly onRead: OnRead | undefined;
}): RuleFiles {
  const { client, pins, clock, onRead, log } = options;
  const grants = createGrants(options.grants);
  const organizations = new Map(options.organizations.map((source) => [source.name.toLowerCase(), source]));
  const repositories = createTtlCache<number, RepositoryReading>({
    maxAgeMs,
    maxEntries: maxRepositories,
    clock,
  });
  const shared = createTtlCache<string, OrganizationReading>({
    maxAgeMs,
    maxEntries: maxRepositories,
    clock,
  });

  const tell = (reading: FileReading): void => {
    for (const { source, problems } of reading.files) {
      if (problems.length > 0) log.warn({ file: source, problems }, 'rule file refused');
    }
    onRead?.(reading);
  };
  const readOwn = (at: RepositoryRef): Promise<RepositoryReading> =>
    repositories.get(at.id, async () => {
      const reading = await readRepositoryRules(client, at, grants.ofRepository(at));
      const name = `${at.owner}/${at.name}`;
      tell({ level: 'repository', name, repositoryId: at.id, head: reading.head, files: [reading.file] });
      return reading;
    });
  const readShared = async (owner: string): Promise<readonly RepositoryRules[]> => {
    const key = owner.toLowerCase();
    const source = organizations.get(key);
    if (source === undefined) return [];
    const { head, files } = await shared.get(key, async () => {
      const reading = await readOrganizationRules(client, source, {
        pins,
        grants: grants.ofOrganization(source.name),
      });
      const { head, files } = reading;
      tell({ level: 'organization', name: source.rules, repositoryId: head?.at.id ?? 0, head, files });
      return reading;
    });
    // A missing or replaced rules repository may return at any time without a push.
    if (head === undefined) shared.delete(key);
    return files;
  };

  return {
    ofRepository: readOwn,
    ofOrganization: readShared,
    organizations: [...organizations.keys()],
    note(repository, event) {
      if (!movesDefaultBranch(event)) return;
      repositories.delete(repository.id);
      shared.deleteWhere(({ head }) => head === undefined || head.at.id === repository.id);
    },
    noteUnserved(event) {
      if (event.repository === undefined || !movesDefaultBranch(event)) return;
      const fullName = `${event.repository.owner}/${event.repository.name}`.toLowerCase();
      for (const [key, { rules }] of organizations) {
        if (rules.toLowerCase() === fullName) shared.delete(key);
      }
    },
    forget: (repositoryId) => repositories.delete(repositoryId),
  };
}

/**
 * A push to the default branch may have changed the rules, because its list of files is truncated; so may a repository that
 * was created, deleted, or got another default branch, as shown in the payload. A false positive costs one reading.
 */
function movesDefaultBranch(event: Event): boolean {
  if (event.family === 'repository') return true;
  if (event.family !== 'push' && event.family !== 'create' && event.family !== 'delete') return false;
  const repository = event.payload.repository;
  const branch =
    typeof repository === 'object' && repository !== null && 'default_branch' in repository
      ? repository.default_branch
      : undefined;
  return event.subject?.ref === branch;
}
