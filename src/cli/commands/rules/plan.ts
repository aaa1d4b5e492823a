import { createReadOnlyMemory } from '../../../actions/memory.ts';
import type { Event } from '../../../contract/events/events.ts';
import { namedEvent } from '../../../contract/events/named-event.ts';
import { makeEventRun, type RunRequest } from '../../../engine/make-run.ts';
import type { Run } from '../../../engine/record.ts';
import { systemClock } from '../../../platform/clock.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { formatProblem } from '../../../rules/problem.ts';
import { createRuleSet } from '../../../rules/rule.ts';
import { loadRuleFiles } from '../../../rules/sources/folder.ts';
import { nameOfRule } from '../../../rules/verdict.ts';
import type { Settings } from '../../../server/settings/config.ts';
import {
  parseSimulatedSubject,
  type SimulatedKind,
  type Simulation,
  simulate,
} from '../../../work/runs/simulate.ts';
import { printRun } from '../../output/print-run.ts';
import { plain, type Terminal } from '../../output/terminal.ts';
import { withPlanningContext, withSimulation } from '../planning-context.ts';
import { readData } from '../read-data.ts';
import { pathsOrDefault } from './check.ts';

type PlanOptions = {
  readonly event?: string;
  readonly payload?: string;
  readonly facts?: string;
  /** One of these selects a live subject. */
  readonly pull?: string;
  readonly issue?: string;
  readonly branch?: string;
  readonly repository?: string;
  readonly activity?: string;
  readonly rules?: string;
  readonly json?: boolean;
};

/**
 * Prints the plan for an event from a file, or for a live subject. Writes nothing. Returns the exit status: 1 if a rule
 * failed or a change was refused.
 */
export async function plan(options: PlanOptions, settings: Settings, terminal: Terminal): Promise<number> {
  const given = [options.payload, options.pull, options.issue, options.branch, options.repository];
  if (given.filter((one) => one !== undefined).length !== 1) {
    throw new ReeveError('usage', 'name one of --payload, --pull, --issue, --branch and --repository');
  }
  if (options.payload === undefined) return planLive(options, settings, terminal);
  if (options.event === undefined) throw new ReeveError('usage', 'set --event to the event of the payload');
  if (options.activity !== undefined) throw new ReeveError('usage', 'a payload already has an activity');
  return planPayload({ ...options, event: options.event, payload: options.payload }, settings, terminal);
}

async function planLive(options: PlanOptions, settings: Settings, terminal: Terminal): Promise<number> {
  if (options.event !== undefined || options.facts !== undefined) {
    throw new ReeveError('usage', 'a live subject needs neither --event nor --facts: its state is read');
  }
  const { pull, issue, branch, repository, activity, rules, json } = options;
  const named = { pull_request: pull, issue, branch, repository };
  const [subject] = Object.entries(named).flatMap(([kind, text]) =>
    text === undefined ? [] : [parseSimulatedSubject(kind as SimulatedKind, text)],
  );
  if (subject === undefined) throw new ReeveError('internal', 'no subject is named');
  return withSimulation({ settings, rules, terminal }, async (context) => {
    const simulation = await simulate({ subject, activity }, context);
    if (json) for (const run of simulation.runs) terminal.out(JSON.stringify(run));
    else printSimulation(simulation, terminal);
    for (const { source, problems } of simulation.broken)
      terminal.error(plain(`${source}: ${problems.join('\n')}`));
    return simulation.broken.length > 0 || simulation.runs.some(hasFailed) ? 1 : 0;
  });
}

function printSimulation({ runs, left, ignored }: Simulation, terminal: Terminal): void {
  for (const run of runs) printRun(run, terminal);
  for (const { rule, why } of left)
    terminal.out(terminal.style('dim', plain(`- ${nameOfRule(rule)}: not planned (${why})`)));
  if (ignored !== undefined) terminal.error(plain(`warning: ${ignored}: its deliveries are ignored`));
}

async function planPayload(
  options: PlanOptions & { readonly event: string; readonly payload: string },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const payload = await readData(options.payload);
  const event = namedEvent(options.event, payload);
  const { paths, isOperators } = pathsOrDefault(options.rules ? [options.rules] : [], settings.rules);
  const files = await loadRuleFiles(paths, { isOperators });
  const problems = files.flatMap((file) => file.problems);
  for (const problem of problems) terminal.error(`${formatProblem(problem)}\n`);
  const rules = createRuleSet(files.flatMap((file) => file.rules));
  const request = { mode: 'plan', door: 'cli', rules, explainAll: true } as const;
  const run = await planPayloadEvent(event, { facts: options.facts, settings, request });
  if (options.json) terminal.out(JSON.stringify(run));
  else printRun(run, terminal);
  return problems.length > 0 || hasFailed(run) ? 1 : 0;
}

/**
 * Plans a payload event. With `--facts`, no requests are made; otherwise, with a forge, facts are live and the data of
 * a server is read.
 */
async function planPayloadEvent(
  event: Event,
  {
    facts,
    settings,
    request,
  }: { readonly facts: string | undefined; readonly settings: Settings; readonly request: RunRequest },
): Promise<Run> {
  if (facts === undefined && settings.forge !== undefined) {
    return withPlanningContext(settings, async (context) => {
      const actionMemory = createReadOnlyMemory(context.actionMemory);
      return (await makeEventRun(event, request, { ...context, actionMemory })).run;
    });
  }
  const given = facts === undefined ? {} : await readData(facts);
  const placeOf = (_: string, isStandIn: boolean): string => (isStandIn ? 'payload' : 'facts');
  return (await makeEventRun(event, request, { given, placeOf, clock: systemClock })).run;
}

function hasFailed(run: Run): boolean {
  return run.rules.some(({ verdict }) => verdict === 'failed') || run.refused.length > 0;
}
