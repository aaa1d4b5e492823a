import { findAccount } from '../../client/account.ts';
import { createClient } from '../../client/client.ts';
import { systemClock } from '../../clock.ts';
import { namedEvent } from '../../contract/events/named-event.ts';
import { makeEventRun } from '../../engine/make-run.ts';
import type { Run } from '../../engine/record.ts';
import { createFactMemory } from '../../facts/ask.ts';
import { printRun } from '../../output/print-run.ts';
import type { Terminal } from '../../output/terminal.ts';
import { formatProblem } from '../../rules/problem.ts';
import { createRuleSet } from '../../rules/rule-set.ts';
import type { Settings } from '../../settings/config.ts';
import { loadRuleFiles } from '../../sources/folder.ts';
import { readData } from '../read-data.ts';
import { pathsOrDefault } from './check.ts';

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
  const { run } = await makeEventRun(event, {
    ...(await sourceFor(options, settings)),
    mode: 'plan',
    door: 'cli',
    rules,
    clock: systemClock,
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
async function sourceFor(options: PlanOptions, settings: Settings) {
  if (options.facts !== undefined || settings.forge === undefined)
    return { facts: { given: options.facts === undefined ? {} : await readData(options.facts) } };
  const client = createClient({ ...settings.forge });
  const memory = createFactMemory(systemClock);
  // What was written before is known by its author: without the account, anybody's marker would pass for ours.
  return { facts: { client, memory }, account: await findAccount(client, { allowAdmin: true }) };
}
