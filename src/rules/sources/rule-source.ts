import type { Client } from '../../client/client.ts';
import type { Event } from '../../contract/events/events.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import { BoundedMap } from '../../platform/cache/bounded-map.ts';
import type { Clock } from '../../platform/clock.ts';
import { messageOf } from '../../platform/errors.ts';
import { type Log, silentLog } from '../../platform/log.ts';
import type { PackReader, PackTree } from '../files/packs.ts';
import { createRuleSet, extendRuleSet, type LoadedRule, type RuleSet } from '../rule.ts';
import type { AdmittedEvent } from './admission.ts';
import type { Grant } from './grants.ts';
import type { RuleTexts } from './last-valid.ts';
import type { OrganizationSource, Pins } from './organization.ts';
import type { RepositoryRules } from './repository-file.ts';
import { createRuleFiles, type OnRead } from './rule-files.ts';

/** The rules in force for an event. */
export type InForce = {
  readonly rules: RuleSet;
  /** Invalid files of the event's repository or organization, whose rules are those of their last valid versions, if any. */
  readonly broken: readonly RepositoryRules[];
};

/** Returns whether none of the rules of an invalid file is in force, because it has no last valid version. */
export function isUnusable({ lastValid }: RepositoryRules): boolean {
  return lastValid === undefined;
}

/** Provides the rules in force. */
export interface RuleSource {
  /**
   * Returns the rules in force for an event: the operator's rules, those of the repository's organization, and the
   * repository's own.
   */
  rulesFor(event: AdmittedEvent): Promise<InForce>;
  /** Returns the operator's rules, without any request. */
  operator(): readonly LoadedRule[];
  /** Returns the rules of the operator and of an organization, in which a repository of the organization may be named. */
  rulesAbove(owner: string): Promise<readonly LoadedRule[]>;
  /** Returns all rules, for schedules: those of the operator, of all organizations, and of all starred repositories. */
  everyRule(): Promise<readonly LoadedRule[]>;
  /**
   * Returns the rules of a repository, read again if the cached ones are old. Throws `forge-not-found` if the
   * repository does not exist.
   */
  read(repository: RepositoryRef): Promise<RepositoryRules>;
  /** Removes a repository from the cache when its name has changed. */
  forget(repositoryId: number): void;
  /** Removes cached rules from a repository whose default branch has moved. */
  noteMoved(repository: RepositoryRef): void;
  /** Removes all cached rules. */
  forgetAll(): void;
  /**
   * Removes cached rules from a rules repository that an event may have changed. Used for events that are not admitted,
   * because a rules repository need not be served. The event is not trusted, but a forged event costs only one read.
   */
  noteUnserved(event: Event): void;
  /** Replaces the operator's rules, and the packs that the operator offers, starting with the next event. */
  replaceOperatorRules(rules: readonly LoadedRule[], offered?: PackTree): void;
  /** Returns the reader for the packs that the repositories of an owner may include. */
  packsFor(owner: string): PackReader;
  /** Returns the packs that the operator offers. */
  offered(): PackTree;
}

/** A served repository in a list of the forge. */
export type ListedRepository = {
  readonly at: RepositoryRef;
  /** Time of the last change in the repository, such as a push. Absent if the list does not state it. */
  readonly updatedAt: string | undefined;
};

/** How long a repository without rules is not read again while the lists of the forge show no change in it. */
const unchangedMaxAgeMs = 24 * 3_600_000;
const maxUnchanged = 50_000;

/**
 * Creates the source of rules. Rule files of repositories are cached by repository id, those of organizations by name.
 * Both are removed from the cache after any push to the default branch, and when they are old.
 */
export function createRuleSource(options: {
  client: Client;
  /** Lists the served repositories; absent: only the rules of the operator and of organizations are listed. */
  everyServed?: () => AsyncIterable<ListedRepository>;
  operatorRules: readonly LoadedRule[];
  /** Packs that the operator offers; none if absent. */
  offered?: PackTree;
  organizations?: readonly OrganizationSource[];
  grants?: readonly Grant[];
  /** Required if there are organizations. */
  pins?: Pins;
  /** Stores the last valid texts of rule files; absent: invalid files have no rules. */
  texts?: RuleTexts;
  clock: Clock;
  log?: Log;
  onRead?: OnRead;
  /** Called with the repository of an event that moved the default branch. */
  onMoved?: (repository: RepositoryRef) => void;
}): RuleSource {
  const { client, clock, onRead, log = silentLog } = options;
  let operator = createRuleSet(options.operatorRules);
  const files = createRuleFiles({
    client,
    organizations: options.organizations ?? [],
    grants: options.grants ?? [],
    pins: options.pins ?? forgetful,
    texts: options.texts,
    offered: options.offered ?? new Map(),
    clock,
    log,
    onRead,
    onMoved: options.onMoved,
  });
  const sets = createRuleSets();
  const withoutRules = new BoundedMap<number, { readonly updatedAt: string; readonly atMs: number }>(
    maxUnchanged,
  );
  return {
    async rulesFor(event) {
      const { repository } = event;
      files.note(repository, event);
      const { file } = await files.ofRepository(repository);
      const ofOrganization = await files.ofOrganization(repository.owner);
      const broken = [...ofOrganization, file].filter(({ problems }) => problems.length > 0);
      return { rules: sets.of(operator, { own: file, ofOrganization }), broken };
    },
    operator: () => operator.rules,
    async rulesAbove(owner) {
      const ofOrganization = await files.ofOrganization(owner);
      return [...operator.rules, ...ofOrganization.flatMap(({ rules }) => rules)];
    },
    async everyRule() {
      const found = [...operator.rules];
      const add = async (read: () => Promise<readonly LoadedRule[]>): Promise<void> => {
        try {
          found.push(...(await read()));
        } catch (error) {
          // An unreadable repository must not stop the schedules of other repositories.
          log.warn({ error: messageOf(error) }, 'could not read the scheduled rules of a repository');
        }
      };
      for (const owner of files.organizations)
        await add(async () => (await files.ofOrganization(owner)).flatMap(({ rules }) => rules));
      for await (const { at, updatedAt } of options.everyServed?.() ?? []) {
        const known = withoutRules.get(at.id);
        const isUnchanged = known !== undefined && known.updatedAt === updatedAt;
        if (isUnchanged && clock.monotonicMs() - known.atMs < unchangedMaxAgeMs) continue;
        await add(async () => {
          const { head, file } = await files.ofRepository(at);
          if (head.archived) return [];
          // The file is newer than the list, so a change in between is noticed in the next list.
          if (updatedAt !== undefined && file.rules.length + file.problems.length === 0)
            withoutRules.set(at.id, { updatedAt, atMs: clock.monotonicMs() });
          return file.rules;
        });
      }
      return found;
    },
    read: async (repository) => (await files.ofRepository(repository)).file,
    forget: files.forget,
    noteMoved: files.noteMoved,
    forgetAll: files.forgetAll,
    noteUnserved: files.noteUnserved,
    replaceOperatorRules(rules, offered = new Map()) {
      operator = createRuleSet(rules);
      files.replaceOffers(offered);
    },
    packsFor: files.packsFor,
    offered: files.offered,
  };
}

const forgetful: Pins = {
  recall: async () => undefined,
  remember: async () => {},
  revise: async (_key, edit) => edit(undefined),
};

/** Rule sets in force for repositories. */
interface RuleSets {
  /** Returns the operator's rules together with those of an organization's files and a repository's own file. */
  of(
    operator: RuleSet,
    files: { readonly own: RepositoryRules; readonly ofOrganization: readonly RepositoryRules[] },
  ): RuleSet;
}

/**
 * Creates the cache of rule sets. A set is reused as long as the operator's rules, the organization's rules and the
 * repository's own file are the same.
 */
function createRuleSets(): RuleSets {
  /** Sets are reused while the rules stay the same, because indexing a thousand rules for every event would be slow. */
  const sets = new WeakMap<RuleSet, WeakMap<object, Extended>>();
  return {
    of(operator, { own, ofOrganization }) {
      const rules = [...ofOrganization.flatMap((file) => file.rules), ...own.rules];
      if (rules.length === 0) return operator;
      const byOwn = sets.get(operator) ?? new WeakMap<object, Extended>();
      sets.set(operator, byOwn);
      const known = byOwn.get(own);
      if (known && isSameList(known.rules, rules)) return known.set;
      const set = extendRuleSet(operator, rules);
      byOwn.set(own, { rules, set });
      return set;
    },
  };
}

/** A rule set, with the rules that were added to the operator's rules. */
type Extended = { readonly rules: readonly LoadedRule[]; readonly set: RuleSet };

function isSameList(rules: readonly LoadedRule[], others: readonly LoadedRule[]): boolean {
  return rules.length === others.length && others.every((rule, at) => rules[at] === rule);
}
