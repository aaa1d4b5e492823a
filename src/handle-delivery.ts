import { randomUUID } from 'node:crypto';
import type { Client } from './client/client.ts';
import type { Event } from './contract/events.ts';
import type { RepositoryRef } from './contract/subject.ts';
import type { Run } from './engine/record.ts';
import { type RunInput, runEvent } from './engine/run.ts';
import { createFacts } from './facts/ask.ts';
import type { FactMemory } from './facts/fact.ts';
import type { Preview } from './preview.ts';
import { skipRule } from './rules/evaluate.ts';
import { isRecoverable } from './rules/recoverable.ts';
import { createRuleSet, type RuleSet } from './rules/rule-set.ts';
import type { Verdict } from './rules/verdict.ts';
import type { RepositoryRules } from './sources/repository-file.ts';
import type { InForce, RuleSource } from './sources/rules-for.ts';
import { createStoredMemory } from './store/action-memory.ts';
import type { Delivery, Store } from './store/store.ts';

/** Turns a delivery into runs. Once `signal` is aborted, calls under way end and no further change is sent. */
export type DeliveryHandler = (
  delivery: Delivery,
  event: Event,
  lease?: { readonly signal: AbortSignal },
) => Promise<readonly Run[]>;

/** What every run of this process is given, whatever it is about. */
export type RunSettings = Pick<RunInput, 'secrets' | 'capabilities' | 'budgets' | 'ledger'>;

/**
 * Creates the handler that turns a stored delivery into a run: the rules in force for its repository, the live facts, the
 * engine. A repository that was renamed since is followed by its id. Rejects where a later attempt may do better; what
 * this attempt did is then in the store already.
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
  settings?: RunSettings;
  /** Looks at pull requests that touch a rule file; absent: nobody does. */
  preview?: Preview;
  /** Told of every run once it is known what became of it. */
  onRun?: (run: Run, event: Event) => void;
}): DeliveryHandler {
  const { clock, memory, nowMs } = options;
  const actionMemory = createStoredMemory(options.store);

  const attempt = async (
    delivery: Delivery,
    event: Event,
    { rules: all, broken, repository, signal }: InForce & { readonly signal: AbortSignal | undefined },
  ) => {
    const { rules, left } =
      event.payload.caught_up === true ? withoutLost(all, event) : { rules: all, left: [] };
    const found = repository ? follow(event, repository) : event;
    const client = options.client.counted(signal ? { signal } : {});
    const now = clock.now();
    const ran = await runEvent({
      ...options.settings,
      id: randomUUID(),
      mode: 'enforce',
      trigger: {
        door: delivery.door,
        kind: event.family ?? event.eventType,
        activity: event.activity,
        delivery: delivery.id,
        at: now.toISOString(),
      },
      rules,
      event: found,
      facts: createFacts({ client, subject: found.subject ?? { kind: 'repository' }, memory, nowMs }),
      client,
      account: await options.account(),
      memory: actionMemory,
      now,
      nowMs,
    });
    const run: Run = { ...ran.run, rules: [...broken.map(refusedFile), ...left, ...ran.run.rules] };
    options.onRun?.(run, event);
    return { ...ran, run };
  };

  return async (delivery, event, lease) => {
    const signal = lease?.signal;
    if (event.family === undefined || event.subject === undefined) return [];
    await options.preview?.(event);
    const runs: Run[] = [];
    for (let attempts = 0; ; attempts += 1) {
      const force = await options.rules.rulesFor(event);
      if (force.rules.listeningTo(event.family).length === 0 && force.broken.length === 0) return runs;
      const { run, retry, moved } = await attempt(delivery, event, { ...force, signal });
      runs.push(run);
      if (moved && event.repository && attempts === 0) {
        options.rules.forget(event.repository.id);
        memory.drop(`${event.repository.id}/`);
        continue;
      }
      if (retry === undefined) return runs;
      // An attempt that was ended before it wrote anything leaves nothing to tell.
      if (retry.code === 'stopped' && !runs.some(hasWritten)) throw retry;
      const about = event.repository ? { repositoryId: event.repository.id } : {};
      await options.store.appendRuns(runs, about);
      throw retry;
    }
  };
}

function hasWritten({ outcomes }: Run): boolean {
  return outcomes.some(({ status }) => status === 'applied');
}

/** Returns the event about its repository as that is found now. Its payload stays as it was sent. */
function follow(event: Event, repository: RepositoryRef): Event {
  return { ...event, repository, ...(event.subject ? { subject: { ...event.subject, repository } } : {}) };
}

/** An event that was found by reading lacks what only its delivery told: rules that name it are left out, and told so. */
function withoutLost(all: RuleSet, { family }: Event): { rules: RuleSet; left: readonly Verdict[] } {
  const lost = family === undefined ? [] : all.listeningTo(family).filter((rule) => !isRecoverable(rule));
  if (lost.length === 0) return { rules: all, left: [] };
  return {
    rules: createRuleSet(all.rules.filter((rule) => !lost.includes(rule))),
    left: lost.map((rule) => skipRule(rule, 'not recoverable')),
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
