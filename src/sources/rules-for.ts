import type { Client } from '../client/client.ts';
import type { Event } from '../contract/events.ts';
import type { RepositoryRef } from '../contract/subject.ts';
import { type Log, silentLog } from '../log.ts';
import type { LoadedRule } from '../rules/rule.ts';
import { createRuleSet, type RuleSet } from '../rules/rule-set.ts';
import { type RepositoryRules, readRepositoryRules } from './repository-file.ts';
import type { Served } from './served.ts';

/** Gives the rules that are in force for an event. */
export interface RuleSource {
  /** Returns the operator's rules and those of the event's repository, where it is served. */
  rulesFor(event: Event): Promise<{ readonly rules: RuleSet; readonly broken: readonly RepositoryRules[] }>;
  /** Puts other rules of the operator in force, from the next event on. */
  replaceOperatorRules(rules: readonly LoadedRule[]): void;
}

/** How long a repository's rules are believed without a push: a lost delivery must not keep old rules in force for long. */
const maxAgeMs = 10 * 60_000;
const maxRepositories = 5_000;

/** Creates the source of rules. Rule files of repositories are kept by repository id and dropped on any push to the default branch. */
export function createRuleSource(options: {
  client: Client;
  served: Served;
  operatorRules: readonly LoadedRule[];
  nowMs: () => number;
  log?: Log;
}): RuleSource {
  const log = options.log ?? silentLog;
  let operatorRules = options.operatorRules;
  let operatorSet = createRuleSet(operatorRules);
  const kept = new Map<number, { read: Promise<RepositoryRules>; atMs: number; set?: RuleSet }>();

  const read = (at: RepositoryRef) => {
    const known = kept.get(at.id);
    if (known && options.nowMs() - known.atMs <= maxAgeMs) return known;
    const entry = { read: readRepositoryRules(options.client, at), atMs: options.nowMs() };
    kept.delete(at.id);
    kept.set(at.id, entry);
    // A failed reading is forgotten: the delivery waits for its next attempt, which reads again.
    entry.read.catch(() => kept.delete(at.id));
    const [oldest] = kept.keys();
    if (kept.size > maxRepositories && oldest !== undefined) kept.delete(oldest);
    return entry;
  };

  return {
    async rulesFor(event) {
      const { repository } = event;
      if (repository === undefined) return { rules: operatorSet, broken: [] };
      if (movesDefaultBranch(event)) kept.delete(repository.id);
      if (!(await options.served.has(repository))) return { rules: createRuleSet([]), broken: [] };
      const entry = read(repository);
      const own = await entry.read;
      if (own.problems.length > 0) {
        log.warn(
          { repository: `${repository.owner}/${repository.name}`, problems: own.problems },
          'rule file refused',
        );
      }
      if (own.rules.length === 0) return { rules: operatorSet, broken: own.problems.length > 0 ? [own] : [] };
      const known = kept.get(repository.id);
      const rules = known?.set ?? createRuleSet([...operatorRules, ...own.rules]);
      if (known) known.set = rules;
      return { rules, broken: [] };
    },
    replaceOperatorRules(rules) {
      operatorRules = rules;
      operatorSet = createRuleSet(rules);
      for (const entry of kept.values()) delete entry.set;
    },
  };
}

/**
 * A push to the default branch may have changed the rules, whatever its cut list of files says; so may a repository that
 * was made, removed, or got another default branch, which is seen in the payload. Deciding wrongly here costs a reading.
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
