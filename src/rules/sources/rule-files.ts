import { randomUUID } from 'node:crypto';
import type { Client } from '../../client/client.ts';
import type { Event } from '../../contract/events/events.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import { createTtlCache } from '../../platform/cache/caches.ts';
import type { Clock } from '../../platform/clock.ts';
import { messageOf } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { notOffered, type PackReader, type PackTree } from '../files/packs.ts';
import { createGrants, type Grant, type Grants } from './grants.ts';
import { createLastValid, type LastValid, type RuleTexts } from './last-valid.ts';
import {
  type OrganizationReading,
  type OrganizationSource,
  type Pins,
  readOrganizationRules,
} from './organization.ts';
import {
  type BranchHead,
  type RepositoryReading,
  type RepositoryRules,
  readRepositoryRules,
} from './repository-file.ts';

/** All files of one location after they have been read again, valid or not. */
export type FileReading = {
  readonly level: 'repository' | 'organization';
  /** Full name of the repository that contains the files, as requested. */
  readonly name: string;
  /** Id of the repository; 0 if unknown. */
  readonly repositoryId: number;
  /** Head of the default branch; absent if the location cannot be used. */
  readonly head: BranchHead | undefined;
  readonly files: readonly RepositoryRules[];
};

export type OnRead = (reading: FileReading) => void;

/**
 * How long rules are cached without a push. Limited so that old rules do not stay in force for long if a delivery is
 * lost.
 */
const maxAgeMs = 10 * 60_000;
const maxRepositories = 5_000;

/** Cache of the rule files of repositories and organizations. */
export interface RuleFiles {
  /** Returns the rules of a repository's file. */
  ofRepository(at: RepositoryRef): Promise<RepositoryReading>;
  /**
   * Returns the files of an organization. Rejects if the files cannot be read at present, so that deliveries of its
   * repositories wait instead of running without these rules.
   */
  ofOrganization(owner: string): Promise<readonly RepositoryRules[]>;
  /** Names of the organizations that have rules, in lower case. */
  readonly organizations: readonly string[];
  /** Removes cached files that an event of the repository may have changed. */
  note(repository: RepositoryRef, event: Event): void;
  /**
   * Removes cached files of organizations whose rules repository is the event's repository, if the event may have
   * changed them.
   */
  noteUnserved(event: Event): void;
  /** Removes cached files of a repository whose default branch has moved. */
  noteMoved(repository: RepositoryRef): void;
  forget(repositoryId: number): void;
  /** Removes everything from the cache. */
  forgetAll(): void;
  /** Replaces the packs that the operator offers. */
  replaceOffers(offered: PackTree): void;
  /** Returns the reader for the packs that the repositories of an owner may include. */
  packsFor(owner: string): PackReader;
  /** Returns the packs that the operator offers. */
  offered(): PackTree;
}

type RuleFilesOptions = {
  readonly client: Client;
  readonly organizations: readonly OrganizationSource[];
  readonly grants: readonly Grant[];
  readonly pins: Pins;
  /** Stores the last valid texts of the files; absent: invalid files have no rules. */
  readonly texts?: RuleTexts | undefined;
  /** Packs that the operator offers. */
  readonly offered: PackTree;
  readonly clock: Clock;
  readonly log: Log;
  readonly onRead: OnRead | undefined;
  /** Called with the repository of an event that moved the default branch. */
  readonly onMoved?: ((repository: RepositoryRef) => void) | undefined;
};

/** What is needed to keep the last valid versions of files. */
type Keeping = { readonly lastValid: LastValid; readonly grants: readonly Grant[] };

/** Creates the cache. Files of repositories are cached by repository id, files of organizations by name. */
export function createRuleFiles(options: RuleFilesOptions): RuleFiles {
  const { client, clock, onRead, log } = options;
  const grants = createGrants(options.grants);
  const { texts } = options;
  const keeping: Keeping = { lastValid: createLastValid({ texts, clock, log }), grants: options.grants };
  const repositories = createTtlCache<number, RepositoryReading>({
    maxAgeMs,
    maxEntries: maxRepositories,
    clock,
  });
  const tell = (reading: FileReading): void => {
    for (const { source, problems } of reading.files) {
      // The problems say if the last valid version stays in force.
      if (problems.length > 0) log.warn({ file: source, problems }, 'rule file refused');
    }
    onRead?.(reading);
  };
  const shared = createOrganizationFiles({
    ...options,
    grants,
    keeping,
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
        const reading = await readRepositoryRules(client, at, grants.ofRepository(at), packs, keeping);
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
 * Returns whether an event may have changed rules. Any push to the default branch, which the payload names, may have
 * changed them, because the payload's list of files is truncated; so may the creation or deletion of that branch, and
 * any event of the family `repository`. A false positive costs one read.
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

/** The rule files and packs of organizations, cached by name, and the packs that the operator offers. */
interface OrganizationFiles {
  /**
   * Returns the files of an organization; undefined if the organization has no rules repository. Rejects if the files
   * cannot be read at present.
   */
  read(owner: string): Promise<OrganizationReading | undefined>;
  /** Removes entries that other processes have invalidated. */
  look(owner: string): Promise<void>;
  /** Removes the cached files of organizations whose rules repository is this repository. */
  note(repository: RepositoryRef): void;
  /** Removes everything from the cache. */
  forgetAll(): void;
  /** Returns the reader for the packs that the repositories of an owner may include. */
  packsFor(owner: string): PackReader;
  /** Returns the packs that the operator offers. */
  offered(): PackTree;
  replaceOffers(offered: PackTree): void;
}

/**
 * Creates the cache of organizations. `onChange` is called with the organizations (in lower case) whose packs may have
 * changed.
 */
function createOrganizationFiles(options: {
  readonly client: Client;
  readonly organizations: readonly OrganizationSource[];
  readonly grants: Grants;
  readonly keeping: Keeping;
  readonly pins: Pins;
  readonly offered: PackTree;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxAgeMs: number;
  readonly maxEntries: number;
  readonly onReading: (source: OrganizationSource, reading: OrganizationReading) => void;
  readonly onChange: (owners: ReadonlySet<string>) => void;
}): OrganizationFiles {
  const { client, grants, keeping, pins, log, onReading } = options;
  const sources = new Map(options.organizations.map((source) => [source.name.toLowerCase(), source]));
  const cache = createTtlCache<string, OrganizationReading & { readonly owner: string }>(options);
  let ofOperator = options.offered;

  const drop = (owners: ReadonlySet<string>): void => {
    for (const key of owners) cache.delete(key);
    options.onChange(owners);
  };
  const { clock } = options;
  const changes = createSharedChanges({ pins, clock, has: (key) => sources.has(key), onChange: drop });
  const read = async (owner: string): Promise<OrganizationReading | undefined> => {
    const key = owner.toLowerCase();
    const source = sources.get(key);
    if (source === undefined) return undefined;
    const found = await cache.get(key, async () => {
      const granted = grants.ofOrganization(source.name);
      const given = { pins, grants: granted, ofOperator, keeping };
      const reading = await readOrganizationRules(client, source, given);
      onReading(source, reading);
      return { ...reading, owner: key };
    });
    // Not cached, because a missing or replaced rules repository may be restored at any time without a push.
    if (found.head === undefined) cache.delete(key);
    return found;
  };

  return {
    read,
    look: changes.look,
    note({ id, owner, name }) {
      const fullName = `${owner}/${name}`.toLowerCase();
      const named = [...sources].filter(([, { rules }]) => rules.toLowerCase() === fullName);
      const owners = new Set(named.map(([key]) => key));
      // A renamed rules repository is recognized by its id.
      cache.deleteWhere((reading) => {
        if (reading.head?.at.id === id) owners.add(reading.owner);
        return reading.head === undefined;
      });
      if (owners.size > 0) drop(owners);
      for (const key of owners) {
        changes.tell(key).catch((error: unknown) => {
          log.warn(
            { organization: key, error: messageOf(error) },
            'could not notify other processes, which keep the old rules of the organization',
          );
        });
      }
    },
    forgetAll() {
      cache.deleteWhere(() => true);
      options.onChange(new Set(['*']));
    },
    packsFor: (owner) => ({
      async read(request) {
        const name = 'pack' in request ? request.pack : request.file;
        const offered = (await read(owner))?.offered ?? new Map();
        const known = [...new Set([...offered.keys(), ...ofOperator.keys()])];
        return offered.get(name) ?? ofOperator.get(name) ?? notOffered(name, known);
      },
    }),
    offered: () => ofOperator,
    replaceOffers(offered) {
      const isUsed = ofOperator.size + offered.size > 0;
      ofOperator = offered;
      if (!isUsed) return;
      cache.deleteWhere(() => true);
      options.onChange(new Set(['*']));
    },
  };
}

/**
 * Notifies processes that share a store when the rules of an organization have changed, because the forge delivers a
 * push to only one of the processes.
 */
interface SharedChanges {
  /** Records a change seen by this process. */
  tell(owner: string): Promise<void>;
  /** Reads the changes recorded by other processes, at most every five seconds. */
  look(owner: string): Promise<void>;
}

/** Interval between two reads of the recorded changes. A change is in force in all processes within ten seconds. */
const lookEveryMs = 5_000;

/** Creates the notifications. `onChange` is called with the organization when another process has recorded a change. */
export function createSharedChanges(options: {
  pins: Pins;
  clock: Clock;
  /** Returns whether an owner, in lower case, is an organization with rules. */
  has: (owner: string) => boolean;
  onChange: (owners: ReadonlySet<string>) => void;
}): SharedChanges {
  const { pins, clock, has, onChange } = options;
  const seen = new Map<string, { change: unknown; atMs: number }>();
  const keyOf = (owner: string): string => `rules changed ${owner}`;
  return {
    async tell(owner) {
      const change = randomUUID();
      seen.set(owner, { change, atMs: clock.monotonicMs() });
      await pins.remember(keyOf(owner), change);
    },
    async look(name) {
      const owner = name.toLowerCase();
      if (!has(owner)) return;
      const before = seen.get(owner);
      const nowMs = clock.monotonicMs();
      if (before && nowMs - before.atMs < lookEveryMs) return;
      seen.set(owner, { change: before?.change, atMs: nowMs });
      const change = await pins.recall(keyOf(owner));
      const known = seen.get(owner);
      // If this process has recorded a change in the meantime, that change is newer than the value that was read.
      if (known === undefined || known.change !== before?.change) return;
      seen.set(owner, { change, atMs: nowMs });
      if (before !== undefined && change !== before.change) onChange(new Set([owner]));
    },
  };
}
