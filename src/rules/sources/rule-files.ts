import type { Client } from '../../client/client.ts';
import type { Event } from '../../contract/events/events.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import { createTtlCache } from '../../platform/cache/ttl-cache.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { PackReader } from '../packs/gather-packs.ts';
import type { PackTree } from '../packs/pack.ts';
import { createGrants, type Grant } from './grants.ts';
import type { OrganizationSource, Pins } from './organization.ts';
import { createOrganizationFiles } from './organization-files.ts';
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
  /** Removes what comes from a repository whose default branch has moved. */
  noteMoved(repository: RepositoryRef): void;
  forget(repositoryId: number): void;
  /** Removes all that is cached. */
  forgetAll(): void;
  /** Replaces the packs that the operator offers. */
  replaceOffers(offered: PackTree): void;
  /** Returns the reader of the packs that the repositories of an owner may include. */
  packsFor(owner: string): PackReader;
  /** Returns the packs that the operator offers. */
  offered(): PackTree;
}

type RuleFilesOptions = {
  readonly client: Client;
  readonly organizations: readonly OrganizationSource[];
  readonly grants: readonly Grant[];
  readonly pins: Pins;
  /** Packs that the operator offers. */
  readonly offered: PackTree;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Log;
  readonly onRead: OnRead | undefined;
  /** Called with repositories whose events moved their default branch. */
  readonly onMoved?: ((repository: RepositoryRef) => void) | undefined;
};

/** Creates the cache. Files of repositories are cached by repository id, those of organizations by name. */
export function createRuleFiles(options: RuleFilesOptions): RuleFiles {
  const { client, clock, onRead, log } = options;
  const grants = createGrants(options.grants);
  const repositories = createTtlCache<number, RepositoryReading>({
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
  const shared = createOrganizationFiles({
    ...options,
    grants,
    maxAgeMs,
    maxEntries: maxRepositories,
    onReading({ rules: name }, { head, files, brokenPacks }) {
      const repositoryId = head?.at.id ?? 0;
      tell({ level: 'organization', name, repositoryId, head, files: [...files, ...brokenPacks] });
    },
    onChange: (owners) =>
      repositories.deleteWhere(
        ({ head, file }) =>
          file.includes === true && (owners.has('*') || owners.has(head.at.owner.toLowerCase())),
      ),
  });
  const noteMoved = (repository: RepositoryRef): void => {
    repositories.delete(repository.id);
    shared.note(repository);
  };

  return {
    async ofRepository(at) {
      await shared.look(at.owner);
      return repositories.get(at.id, async () => {
        const packs = shared.packsFor(at.owner);
        const reading = await readRepositoryRules(client, at, grants.ofRepository(at), packs);
        const name = `${at.owner}/${at.name}`;
        tell({ level: 'repository', name, repositoryId: at.id, head: reading.head, files: [reading.file] });
        return reading;
      });
    },
    async ofOrganization(owner) {
      await shared.look(owner);
      return (await shared.read(owner))?.files ?? [];
    },
    organizations: options.organizations.map(({ name }) => name.toLowerCase()),
    note(repository, event) {
      if (!movesDefaultBranch(event)) return;
      noteMoved(repository);
      options.onMoved?.(repository);
    },
    noteUnserved(event) {
      if (event.repository === undefined || !movesDefaultBranch(event)) return;
      shared.note(event.repository);
      options.onMoved?.(event.repository);
    },
    noteMoved,
    forget: (repositoryId) => repositories.delete(repositoryId),
    forgetAll() {
      repositories.deleteWhere(() => true);
      shared.forgetAll();
    },
    replaceOffers: shared.replaceOffers,
    packsFor: shared.packsFor,
    offered: shared.offered,
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
