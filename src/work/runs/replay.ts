import type { Client } from '../../client/client.ts';
import type { Event } from '../../contract/events/events.ts';
import { makeEventRun } from '../../engine/make-run.ts';
import type { Run } from '../../engine/record.ts';
import type { FactMemory } from '../../facts/fact.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RuleSet } from '../../rules/rule.ts';

/**
 * Holds a past event against rules of today and returns the run, plan only: facts are live, nothing is written. Events of
 * the account itself are skipped as they were.
 */
export async function replayEvent(
  event: Event,
  options: {
    client: Client;
    rules: RuleSet;
    memory: FactMemory;
    clock: Pick<Clock, 'now' | 'monotonicMs'>;
    account?: { readonly id: number };
    delivery?: string | undefined;
    explainAll?: boolean;
  },
): Promise<Run> {
  const { rules, clock, client, memory, account, delivery, explainAll } = options;
  const { run } = await makeEventRun(event, {
    mode: 'plan',
    door: 'cli',
    delivery,
    rules,
    facts: { client, memory },
    account,
    explainAll,
    clock,
  });
  return run;
}
