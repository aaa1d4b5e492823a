import { z } from 'zod';
import type { Subject } from '../../contract/events/subject.ts';
import { createRepositoryScope } from '../../patterns/repository-scope.ts';
import { createSweepMeter } from '../../rules/expressions/budget.ts';
import { isInScope } from '../../rules/match.ts';
import { budgetSourceOf, type LoadedRule } from '../../rules/rule.ts';
import type { HandleJob } from '../../store/leases.ts';
import { runSweep, type SweepOrder, type SweepParts } from './sweep.ts';
import type { SweepCheckpoint } from './tally.ts';
import type { ServedBy } from './targets/repositories.ts';

/** What a sweep's job says. */
const SweepPayload = z.object({
  /** Id of the rule. */
  rule: z.string(),
  slot: z.string(),
  /** Patterns of a person on the command line, beside the rule's own `in`. */
  in: z.array(z.string()).optional(),
});

/** Creates the handler of sweeps. A rule that is no longer there has nothing left to do. */
export function createSweepHandler(
  parts: SweepParts,
  find: (id: string) => Promise<LoadedRule | undefined>,
): HandleJob {
  return async (job, payload, lease) => {
    const asked = SweepPayload.parse(payload);
    const rule = await find(asked.rule);
    if (rule === undefined) {
      parts.log.info({ rule: asked.rule, slot: asked.slot }, 'a sweep has nothing to do: its rule is gone');
      return { runs: [] };
    }
    const order: SweepOrder = {
      rule,
      slot: asked.slot,
      job: job.id,
      door: job.door === 'cli' ? 'cli' : 'cron',
      isInScope: scopeOfSweep(rule, asked.in),
      isPartial: asked.in !== undefined,
      // The border to the store: a checkpoint of this job was written by the sweep alone.
      ...(job.checkpoint === null || job.checkpoint === undefined
        ? {}
        : { checkpoint: job.checkpoint as SweepCheckpoint }),
    };
    const { deferral } = await runSweep({ ...parts, served: servedTo(rule, parts.served) }, order, lease);
    // A later job with the same items does what this one was kept from.
    const key = JSON.stringify(asked.in ?? []);
    return { runs: [], deferral: deferral && { ...deferral, key } };
  };
}

/** Returns whether a sweep takes a subject: it is the rule's own, in its scope, and among what a person named. */
export function scopeOfSweep(
  rule: LoadedRule,
  patterns: readonly string[] | undefined,
): (subject: Subject) => boolean {
  const named = patterns === undefined ? () => true : createRepositoryScope(patterns);
  const meter = createSweepMeter(budgetSourceOf(rule));
  return (subject) => isOfHome(rule, subject) && isInScope(rule, subject, meter) && named(nameOf(subject));
}

/** Returns what a rule walks over: that of a repository over this one alone. */
export function servedTo(rule: LoadedRule, served: ServedBy): ServedBy {
  // The path of a repository's rule file begins with its full name.
  return rule.level === 'repository'
    ? { ...served, only: [rule.source.split('/').slice(0, 2).join('/')] }
    : served;
}

/** Rules of a repository or organization walk over what is theirs, and nothing else. */
export function isOfHome({ level, home }: LoadedRule, { repository, organization }: Subject): boolean {
  if (level === 'operator') return true;
  if (home === undefined) return false;
  if ('repositoryId' in home) return repository?.id === home.repositoryId;
  return (repository?.owner ?? organization ?? '').toLowerCase() === home.organization.toLowerCase();
}

function nameOf({ repository, organization }: Subject): string {
  return repository ? `${repository.owner}/${repository.name}` : (organization ?? '*');
}
