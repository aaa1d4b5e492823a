import { createReadOnlyMemory } from '../../../actions/memory.ts';
import type { Event } from '../../../contract/events/events.ts';
import { namedEvent } from '../../../contract/events/named-event.ts';
import { makeEventRun, type RunRequest } from '../../../engine/make-run.ts';
import { describeTrigger, type Run } from '../../../engine/record.ts';
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
import { createChangeList } from '../../output/change-list.ts';
import { printRun, printVerdict } from '../../output/print-run.ts';
import { count, plain, type Terminal } from '../../output/terminal.ts';
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
  /** Whether each event is printed with every rule, instead of the changes once. */
  readonly all?: boolean;
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
  const { pull, issue, branch, repository, activity, rules, json, all = false } = options;
  const named = { pull_request: pull, issue, branch, repository };
  const [subject] = Object.entries(named).flatMap(([kind, text]) =>
    text === undefined ? [] : [parseSimulatedSubject(kind as SimulatedKind, text)],
  );
  if (subject === undefined) throw new ReeveError('internal', 'no subject is named');
  return withSimulation({ settings, rules, terminal }, async (context) => {
    const simulation = await simulate({ subject, activity }, context);
    if (json) for (const run of simulation.runs) terminal.out(JSON.stringify(run));
    else if (all) printSimulation(simulation, terminal);
    else printChanges(pull ?? issue ?? branch ?? repository ?? '', simulation, terminal);
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

/**
 * Prints the changes and failures of all events once, then why the rules want them, and counts the other rules. A rule
 * that several events reach counts by its best verdict.
 */
function printChanges(item: string, { runs, left, ignored }: Simulation, terminal: Terminal): void {
  const list = createChangeList();
  const judged = new Map<string, { readonly run: Run; readonly verdict: Run['rules'][number] }>();
  const telling = new Set<string>();
  for (const run of runs) {
    list.add(item, run, describeTrigger(run.trigger));
    const wanted = [...run.changes, ...run.refused.map(({ change }) => change)];
    const wanting = new Set(wanted.flatMap((change) => change.rules));
    for (const verdict of run.rules) {
      const { rule } = verdict;
      const tells = wanting.has(rule) || verdict.verdict === 'failed';
      const known = judged.get(rule);
      const isBetter =
        known === undefined || ranks.indexOf(verdict.verdict) < ranks.indexOf(known.verdict.verdict);
      if (tells ? !telling.has(rule) : !telling.has(rule) && isBetter) judged.set(rule, { run, verdict });
      if (tells) telling.add(rule);
    }
  }
  list.print(terminal);
  if (telling.size > 0) terminal.out('');
  else if (judged.size > 0) terminal.out('Nothing to change.');
  for (const [rule, { run, verdict }] of judged) if (telling.has(rule)) printVerdict(verdict, run, terminal);
  const quiet = [...judged].filter(([rule]) => !telling.has(rule)).map(([, { verdict }]) => verdict.verdict);
  const of = (wanted: (typeof ranks)[number]): number => quiet.filter((one) => one === wanted).length;
  const counts = (
    [
      [of('matched'), 'with nothing to change'],
      [of('unmatched'), 'whose condition does not hold'],
      [of('skipped'), 'skipped'],
      [left.length, 'that no event of this subject reaches'],
    ] as const
  ).flatMap(([number, words]) => (number === 0 ? [] : [`${count(number, 'rule')} ${words}`]));
  if (judged.size + left.length === 0) terminal.out('No rule was tested.');
  if (counts.length > 0) terminal.out(terminal.style('dim', `- ${counts.join(', ')}; --all lists them`));
  if (ignored !== undefined) terminal.error(plain(`warning: ${ignored}: its deliveries are ignored`));
}

/** Verdicts, the most telling one first. */
const ranks = ['matched', 'failed', 'unmatched', 'skipped'] as const;

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
