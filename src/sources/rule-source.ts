import { createTtlCache } from '../cache/ttl-cache.ts';
import type { Client } from '../client/client.ts';
import type { Clock } from '../clock.ts';
import type { Event } from '../contract/events/events.ts';
import type { RepositoryRef } from '../contract/events/subject.ts';
import { messageOf } from '../errors.ts';
import { type Log, silentLog } from '../log.ts';
import type { LoadedRule } from '../rules/rule.ts';
import { createRuleSet, type RuleSet } from '../rules/rule-set.ts';

import type { AdmittedEvent } from './admission.ts';
import type { Enrolment } from './enrolment.ts';
import { createGrants, type Grant } from './grants.ts';
import {
  type OrganizationReading,
  type OrganizationSource,
  type Pins,
  readOrganizationRules,
} from './organization.ts';
import type { BranchHead } from './read-at-head.ts';
import { type RepositoryReading, type RepositoryRules, readRepositoryRules } from './repository-file.ts';

/** The rules in force for an event. */
export type InForce = {
  readonly rules: RuleSet;
  /** Unusable files of its repository or organization. */
  readonly broken: readonly RepositoryRules[];
};

/** Provides the rules in force. */
export interface RuleSource {
  /** Returns the operator's rules, those of the repository's organization and its own. */
  rulesFor(event: AdmittedEvent): Promise<InForce>;
  /** Returns the operator's rules, without a request. */
  operator(): readonly LoadedRule[];
  /** Returns all rules: those of the operator, of all organizations and of all starred repositories. For schedules. */
  everyRule(): Promise<readonly LoadedRule[]>;
  /** Returns the rules of a repository, and reads them again if they are old. Throws `forge-not-found` if it does not exist. */
  read(repository: RepositoryRef): Promise<RepositoryRules>;
  /** Removes a repository from the cache, because its name has changed. */
  forget(repositoryId: number): void;
  /**
   * Removes cached rules of a rules repository that an event may have changed. For events that are not
   * admitted: such a repository need not be served. The event is not trusted; a forged one costs one reading.
   */
  noteUnserved(event: Event): void;
  /** Replaces the operator's rules, from the next event on. */
  replaceOperatorRules(rules: readonly LoadedRule[]): void;
}

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

type OnRead = (reading: FileReading) => void;

/** How long rules are cached without a push: a lost delivery must not keep old rules in force for long. */
const maxAgeMs = 10 * 60_000;
const maxRepositories = 5_000;

/**
 * Creates the source of rules. Rule files of repositories are cached by repository id, those of organizations by name;
 * both are removed on any push to their default branch, and when they are old.
 */
export function createRuleSource(options: {
  client: Client;
  served: Pick<Enrolment, 'starred'>;
  operatorRules: readonly LoadedRule[];
  organizations?: readonly OrganizationSource[];
  grants?: readonly Grant[];
  /** Required if there are organizations. */
  pins?: Pins;
  clock: Pick<Clock, 'monotonicMs'>;
  log?: Log;
  onRead?: OnRead;
}): RuleSource {
  const { client, clock, onRead, log = silentLog } = options;
  const grants = createGrants(options.grants ?? []);
  const organizations = new Map(
    (options.organizations ?? []).map((source) => [source.name.toLowerCase(), source]),
  );
  let operatorRules = options.operatorRules;
  let operatorSet = createRuleSet(operatorRules);
  const pins = options.pins ?? forgetful;
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
  /** Sets are created once for the same rules: indexing a thousand rules for every event would be slow. */
  const sets = new WeakMap<readonly LoadedRule[], WeakMap<object, RuleSet>>();

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
  /** Rejects if they cannot be read now: the organization's repositories wait, and do not run without them. */
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
  const setOf = (own: RepositoryRules, ofOrganization: readonly RepositoryRules[]): RuleSet => {
    const rules = [...ofOrganization.flatMap((file) => file.rules), ...own.rules];
    if (rules.length === 0) return operatorSet;
    const byOwn = sets.get(operatorRules) ?? new WeakMap<object, RuleSet>();
    sets.set(operatorRules, byOwn);
    const known = byOwn.get(own);
    if (known && sameRules(known, operatorRules, rules)) return known;
    const made = createRuleSet([...operatorRules, ...rules]);
    byOwn.set(own, made);
    return made;
  };

  return {
    async rulesFor(event) {
      const { repository } = event;
      if (movesDefaultBranch(event)) {
        repositories.delete(repository.id);
        shared.deleteWhere(({ head }) => head === undefined || head.at.id === repository.id);
      }
      const { file } = await readOwn(repository);
      const ofOrganization = await readShared(repository.owner);
      const broken = [...ofOrganization, file].filter(({ problems }) => problems.length > 0);
      return { rules: setOf(file, ofOrganization), broken };
    },
    operator: () => operatorRules,
    async everyRule() {
      const found = [...operatorRules];
      const owners = [...organizations.keys()];
      const readings = [
        ...owners.map((owner) => async () => (await readShared(owner)).flatMap(({ rules }) => rules)),
        ...(await options.served.starred()).map((at) => async () => {
          const { head, file } = await readOwn(at);
          return head.archived ? [] : file.rules;
        }),
      ];
      for (const read of readings) {
        try {
          found.push(...(await read()));
        } catch (error) {
          // One unreadable repository must not stop the schedules of the others.
          log.warn({ error: messageOf(error) }, 'could not read rules for their schedules');
        }
      }
      return found;
    },
    read: async (repository) => (await readOwn(repository)).file,
    forget: (repositoryId) => repositories.delete(repositoryId),
    noteUnserved(event) {
      if (event.repository === undefined || !movesDefaultBranch(event)) return;
      const fullName = `${event.repository.owner}/${event.repository.name}`.toLowerCase();
      for (const [key, { rules }] of organizations) {
        if (rules.toLowerCase() === fullName) shared.delete(key);
      }
    },
    replaceOperatorRules(rules) {
      operatorRules = rules;
      operatorSet = createRuleSet(rules);
    },
  };
}

const forgetful: Pins = { recall: async () => undefined, remember: async () => {} };

function sameRules(set: RuleSet, operator: readonly LoadedRule[], others: readonly LoadedRule[]): boolean {
  if (set.rules.length !== operator.length + others.length) return false;
  return others.every((rule) => set.find(rule.id) === rule);
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
