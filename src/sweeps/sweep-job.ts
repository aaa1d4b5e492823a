import { z } from 'zod';
import type { Subject } from '../contract/events/subject.ts';
import { createSweepMeter } from '../expressions/budget/budget.ts';
import { createRepositoryScope } from '../patterns/repository-scope.ts';
import { budgetSourceOf } from '../rules/budget-source.ts';
import { isInScope } from '../rules/match.ts';
import type { LoadedRule } from '../rules/rule.ts';
import type { HandleJob } from '../store/lease.ts';
import { runSweep, type SweepOrder, type SweepParts } from './sweep.ts';
import type { SweepCheckpoint } from './tally.ts';

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
    const named = asked.in === undefined ? () => true : createRepositoryScope(asked.in);
    // The path of a repository's rule file begins with its full name.
    const only = rule.level === 'repository' ? { only: [rule.source.split('/').slice(0, 2).join('/')] } : {};
    const meter = createSweepMeter(budgetSourceOf(rule));
    const order: SweepOrder = {
      rule,
      slot: asked.slot,
      job: job.id,
      door: job.door === 'cli' ? 'cli' : 'cron',
      isInScope: (subject) =>
        isOfHome(rule, subject) && isInScope(rule, subject, meter) && named(nameOf(subject)),
      isPartial: asked.in !== undefined,
      // The border to the store: a checkpoint of this job was written by the sweep alone.
      ...(job.checkpoint === null || job.checkpoint === undefined
        ? {}
        : { checkpoint: job.checkpoint as SweepCheckpoint }),
    };
    const { deferral } = await runSweep({ ...parts, served: { ...parts.served, ...only } }, order, lease);
    // A later job with the same items does what this one was kept from.
    const key = JSON.stringify(asked.in ?? []);
    return { runs: [], deferral: deferral && { ...deferral, key } };
  };
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
