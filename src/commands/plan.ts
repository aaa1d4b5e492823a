import { randomUUID } from 'node:crypto';
import { findAccount } from '../client/account.ts';
import { createClient } from '../client/client.ts';
import type { Event } from '../contract/events/events.ts';
import { namedEvent } from '../contract/events/named-event.ts';
import type { Run } from '../engine/record.ts';
import { runEvent } from '../engine/run.ts';
import { createFactMemory, createFacts, createGivenFacts } from '../facts/ask.ts';
import type { Facts } from '../facts/fact.ts';
import { printRun } from '../output/print-run.ts';
import type { Terminal } from '../output/terminal.ts';
import { formatProblem } from '../rules/problem.ts';
import { createRuleSet } from '../rules/rule-set.ts';
import type { Settings } from '../settings/config.ts';
import { loadRuleFiles } from '../sources/folder.ts';
import { pathsOrDefault } from './check.ts';
import { readData } from './read-data.ts';

type PlanOptions = {
  readonly event: string;
  readonly payload: string;
  readonly facts?: string;
  readonly rules?: string;
  readonly json?: boolean;
};

/** Prints the plan for one event; writes nothing anywhere. Returns the exit status. */
export async function plan(options: PlanOptions, settings: Settings, terminal: Terminal): Promise<number> {
  const payload = await readData(options.payload);
  const event = namedEvent(options.event, payload);
  const files = await loadRuleFiles(pathsOrDefault(options.rules ? [options.rules] : [], settings.rules));
  const problems = files.flatMap((file) => file.problems);
  for (const problem of problems) terminal.error(`${formatProblem(problem)}\n`);
  const rules = createRuleSet(files.flatMap((file) => file.rules));
  const now = new Date();
  const facts = await factsFor(event, options, settings);
  const { run } = await runEvent({
    id: randomUUID(),
    mode: 'plan',
    trigger: {
      door: 'cli',
      kind: event.family ?? event.eventType,
      activity: event.activity,
      at: now.toISOString(),
    },
    rules,
    event,
    facts: facts.facts,
    client: facts.client,
    account: facts.account,
    now,
    nowMs: () => performance.now(),
    explainAll: true,
  });
  if (options.json) terminal.out(JSON.stringify(run));
  else printRun(run, terminal);
  return problems.length > 0 || hasFailed(run) ? 1 : 0;
}

function hasFailed(run: Run): boolean {
  return run.rules.some(({ verdict }) => verdict === 'failed') || run.refused.length > 0;
}

/** With `--facts` nothing is asked of a forge; without it, and with one, facts are live. */
async function factsFor(event: Event, options: PlanOptions, settings: Settings) {
  const subject = event.subject ?? { kind: 'repository' as const };
  if (options.facts !== undefined || settings.forge === undefined) {
    const given = options.facts === undefined ? {} : await readData(options.facts);
    return { facts: createGivenFacts({ subject, given, payload: event.payload }) };
  }
  const client = createClient({ ...settings.forge });
  const nowMs = (): number => performance.now();
  const facts: Facts = createFacts({ client, subject, memory: createFactMemory(nowMs), nowMs });
  // What was written before is known by its author: without the account, anybody's marker would pass for ours.
  return { facts, client, account: await findAccount(client, { allowAdmin: true }) };
}
