import { randomUUID } from 'node:crypto';
import type { Client } from '../client/client.ts';
import type { Event } from '../contract/events/events.ts';
import type { Run } from '../engine/record.ts';
import { runEvent } from '../engine/run.ts';
import { createFacts } from '../facts/ask.ts';
import type { FactMemory } from '../facts/fact.ts';
import type { RuleSet } from '../rules/rule-set.ts';

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
    now: Date;
    nowMs: () => number;
    account?: { readonly id: number };
    delivery?: string;
    explainAll?: boolean;
  },
): Promise<Run> {
  const { rules, now, nowMs, memory, account, delivery, explainAll } = options;
  const client = options.client.counted();
  const subject = event.subject ?? { kind: 'repository' as const };
  const { run } = await runEvent({
    id: randomUUID(),
    mode: 'plan',
    trigger: {
      door: 'cli',
      kind: event.family ?? event.eventType,
      activity: event.activity,
      ...(delivery === undefined ? {} : { delivery }),
      at: now.toISOString(),
    },
    rules,
    event,
    facts: createFacts({ client, subject, memory, nowMs }),
    client,
    account,
    explainAll,
    now,
    nowMs,
  });
  return run;
}
