import { randomUUID } from 'node:crypto';
import type { Client } from './client/client.ts';
import type { Event } from './contract/events.ts';
import type { Run } from './engine/record.ts';
import { runEvent } from './engine/run.ts';
import { createFacts } from './facts/ask.ts';
import type { FactMemory } from './facts/fact.ts';
import type { Verdict } from './rules/verdict.ts';
import type { RepositoryRules } from './sources/repository-file.ts';
import type { RuleSource } from './sources/rules-for.ts';
import { createStoredMemory } from './store/action-memory.ts';
import type { Delivery, Store } from './store/store.ts';

export type DeliveryHandler = (delivery: Delivery, event: Event) => Promise<readonly Run[]>;

/**
 * Creates the handler that turns a stored delivery into a run: the rules in force for its repository, the live facts, the
 * engine. Rejects where a later attempt may do better; what this attempt did is then in the store already.
 */
export function createDeliveryHandler(options: {
  client: Client;
  /** The account Reeve acts as; asked once. */
  account: () => Promise<{ id: number }>;
  rules: RuleSource;
  memory: FactMemory;
  store: Pick<Store, 'appendRuns' | 'remember' | 'recall'>;
  clock: { now(): Date };
  nowMs: () => number;
  /** Told of every run once it is known what became of it. */
  onRun?: (run: Run, event: Event) => void;
}): DeliveryHandler {
  const { clock, memory, nowMs } = options;
  const actionMemory = createStoredMemory(options.store);
  return async (delivery, event) => {
    if (event.family === undefined || event.subject === undefined) return [];
    const account = await options.account();
    const { rules, broken } = await options.rules.rulesFor(event);
    if (rules.listeningTo(event.family).length === 0 && broken.length === 0) return [];
    const client = options.client.counted();
    const now = clock.now();
    const { run, retry } = await runEvent({
      id: randomUUID(),
      mode: 'enforce',
      trigger: {
        door: 'webhook',
        kind: event.family,
        activity: event.activity,
        delivery: delivery.id,
        at: now.toISOString(),
      },
      rules,
      event,
      facts: createFacts({ client, subject: event.subject, memory, nowMs }),
      client,
      account,
      memory: actionMemory,
      now,
      nowMs,
    });
    const told: Run = { ...run, rules: [...broken.map(refusedFile), ...run.rules] };
    options.onRun?.(told, event);
    if (retry === undefined) return [told];
    await options.store.appendRuns([told], event.repository ? { repositoryId: event.repository.id } : {});
    throw retry;
  };
}

/** A rule file that cannot be used is told in the run like a rule that failed: silence would look like "no rule matched". */
function refusedFile(file: RepositoryRules): Verdict {
  return {
    rule: file.source,
    source: file.source,
    commit: file.commit,
    line: 1,
    verdict: 'failed',
    reason: `the rule file cannot be used:\n${file.problems.join('\n')}`,
    findings: [],
  };
}
