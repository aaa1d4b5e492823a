import { setMaxListeners } from 'node:events';
import { printRun } from '../cli/output/print-run.ts';
import { ageOf, count } from '../cli/output/terminal.ts';
import type { Client } from '../client/client.ts';
import type { RepositoryRef } from '../contract/events/subject.ts';
import { type BudgetLedger, WriteHistory } from '../engine/budget/write-history.ts';
import type { Run } from '../engine/record.ts';
import type { RunContext } from '../engine/run-context.ts';
import { createUnlimitedMeter } from '../patterns/meter.ts';
import type { Clock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import { isInScope } from '../rules/match.ts';
import { createRuleSet, type Each, type LoadedRule } from '../rules/rule.ts';
import { driftOf } from '../work/sweeps/drift.ts';
import { refusedAsFailure, type Target } from '../work/sweeps/targets/repositories.ts';
import { createEmptyRunnerMemory } from '../work/sweeps/targets/runner-memory.ts';
import { eachTarget } from '../work/sweeps/targets/targets.ts';
import {
  createWaitingClient,
  FailureWatch,
  itemsAtOnce,
  mapConcurrently,
  runItem,
} from '../work/sweeps/walk.ts';
import { countFailures, createActionContext, readRepository, reportState } from './action-client.ts';
import type { Finished } from './problems.ts';
import { type ActionRunner, inCode, inText } from './runner.ts';
import type { JobState } from './state.ts';

/** Items of one repository. A job knows no others. */
const kinds: ReadonlySet<Each['kind']> = new Set([
  'repository',
  'pull_request',
  'issue',
  'branch',
  'milestone',
]);

/** A rule that a job cannot sweep, and why. */
type LeftRule = { readonly rule: LoadedRule; readonly why: string };

/** Result of the sweep of one rule. */
type Swept = {
  readonly rule: LoadedRule;
  readonly items: number;
  readonly runs: readonly Run[];
  /** Number of items that were left because of a limit. */
  readonly left: number;
  /** Lists and items that failed. */
  readonly failures: readonly string[];
  /** First time of what differs still, by item and target, as far as the state knows it. */
  readonly since: ReadonlyMap<string, Date>;
};

/**
 * Runs the rules that have a schedule over the repository of the workflow, whatever their schedules are: the trigger of
 * the workflow decides when. Throws if no rule has a schedule.
 */
export async function sweepRepository(
  runner: ActionRunner,
  {
    client,
    repository,
    rules,
    mode,
    state,
  }: {
    readonly client: Client;
    readonly repository: RepositoryRef;
    readonly rules: readonly LoadedRule[];
    readonly mode: 'plan' | 'enforce';
    readonly state: JobState;
  },
): Promise<Finished> {
  const scheduled = rules.filter(({ schedules }) => schedules.length > 0);
  if (scheduled.length === 0)
    throw new Error('no rule has a schedule: there is nothing to sweep; docs/ci.md shows one');
  const leftRules = scheduled.flatMap((rule): readonly LeftRule[] => {
    const [kind] = (rule.each ?? []).map((one) => one.kind).filter((one) => !kinds.has(one));
    if (kind === undefined) return [];
    return [{ rule, why: `each: ${kind} is not about one repository: run Reeve as a server` }];
  });
  const swept: Swept[] = [];
  const shared = createActionContext(client, { runner, state });
  const context = { ...shared, ledger: shared.ledger ?? createJobLedger(runner.clock) };
  for (const rule of scheduled.filter((one) => !leftRules.some((left) => left.rule === one)))
    swept.push(await sweepRule(rule, { repository, mode, context, runner, state }));
  return finish(runner, { swept, leftRules, mode, state });
}

/** Returns the repository of the input, otherwise that of the workflow. */
export async function repositoryOfJob(runner: ActionRunner, client: Client): Promise<RepositoryRef> {
  const name = runner.input('repository') || (runner.environment.GITHUB_REPOSITORY ?? '');
  const [owner = '', repo = '', ...rest] = name.split('/');
  if (owner === '' || repo === '' || rest.length > 0)
    throw new Error('the repository is not known: set repository to OWNER/REPO');
  return readRepository(client, { owner, name: repo });
}

/** Creates a ledger that ends with the job: all items share the budget of an hour. */
function createJobLedger(clock: Clock): BudgetLedger {
  const history = new WriteHistory({ writes: [], reserved: [] }, () => clock.now().getTime());
  return { edit: async (_place, work) => work(history) };
}

type SweepParts = {
  readonly repository: RepositoryRef;
  readonly mode: 'plan' | 'enforce';
  readonly context: RunContext;
  readonly runner: ActionRunner;
  readonly state: JobState;
};

/**
 * Returns a signal for the runs of a sweep. Each request that waits listens to it, and Node 20 warns of a leak at the
 * eleventh listener.
 */
export function createSweepSignal(): AbortSignal {
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  return signal;
}

/** Runs a rule for each of its items. A forge that fails for several items in a row ends the sweep. */
async function sweepRule(
  rule: LoadedRule,
  { repository, mode, context, runner, state }: SweepParts,
): Promise<Swept> {
  const name = `${repository.owner}/${repository.name}`;
  const signal = createSweepSignal();
  const { clock } = runner;
  const startedAt = clock.now();
  const pause = (ms: number): Promise<unknown> => clock.sleep(ms, signal);
  const meter = createUnlimitedMeter();
  const pages = eachTarget(rule.each, {
    client: createWaitingClient(context.client.counted(), pause),
    served: { login: async () => '', listed: [], only: [name] },
    rule,
    isInScope: (subject) => isInScope(rule, subject, meter),
    runners: createEmptyRunnerMemory(),
    now: startedAt,
    from: undefined,
  });
  const { items: limit = Number.POSITIVE_INFINITY } = rule.mode === 'enforce' ? rule.limits : {};
  const rules = createRuleSet([rule]);
  const runs: Run[] = [];
  const failures: string[] = [];
  /** Targets that differ, by item; an item that could not be judged is missing. */
  const found = new Map<string, readonly string[]>();
  const watch = new FailureWatch();
  let [items, changed, left] = [0, 0, 0];
  const visit = async (target: Target): Promise<void> => {
    items += 1;
    if (changed >= limit) {
      left += 1;
      return;
    }
    const ran = await runItem(target, { door: 'ci', mode, rules, pause, signal }, context);
    const { changes, outcomes } = ran.run;
    const isChanged =
      mode === 'plan' ? changes.length > 0 : outcomes.some(({ status }) => status === 'applied');
    if (isChanged) changed += 1;
    if (ran.deferral !== undefined) left += 1;
    if (ran.retry === undefined)
      found.set(target.key, [...new Set(driftOf(ran.run).map((one) => one.target))]);
    else failures.push(`${target.key}: ${messageOf(ran.retry)}`);
    if (isTelling(ran.run)) {
      runs.push(ran.run);
      runner.say(target.key);
      printRun(ran.run, runner.terminal);
    }
    watch.note(ran.retry);
  };
  try {
    for await (const { targets, failures: unread = [] } of refusedAsFailure(pages)) {
      failures.push(...unread.map(({ item, error }) => `${item}: ${error.message}`));
      // With a limit, the result of an item decides whether the next one has a turn.
      await mapConcurrently(targets, Number.isFinite(limit) ? 1 : itemsAtOnce, visit);
      if (changed >= limit) break;
    }
  } catch (error) {
    // What was done so far is reported.
    failures.push(`the sweep of ${rule.name} ended early: ${messageOf(error)}`);
  }
  const isComplete = failures.length === 0 && left === 0 && changed < limit;
  let since: ReadonlyMap<string, Date> = new Map();
  try {
    if (state.kind === 'kept') since = await state.state.noteDrift(rule.id, found, { startedAt, isComplete });
  } catch (error) {
    failures.push(`the ages of the differences of ${rule.name} are not kept: ${messageOf(error)}`);
  }
  return { rule, items, runs, left, failures, since };
}

/** Returns whether a reader of the job needs to see the run of an item. */
function isTelling({ changes, refused, rules }: Run): boolean {
  return changes.length + refused.length > 0 || rules.some(({ verdict }) => verdict === 'failed');
}

function finish(
  runner: ActionRunner,
  {
    swept,
    leftRules,
    mode,
    state,
  }: {
    readonly swept: readonly Swept[];
    readonly leftRules: readonly LeftRule[];
    readonly mode: 'plan' | 'enforce';
    readonly state: JobState;
  },
): Finished {
  const all = swept.flatMap(({ runs }) => runs);
  const planned = all.flatMap(({ changes }) => changes).length;
  const made = all.flatMap(({ outcomes }) => outcomes).filter(({ status }) => status === 'applied').length;
  const wrong = all.reduce((sum, run) => {
    // What the budget defers comes with the next job.
    const final = run.refused.filter(({ until }) => until === undefined);
    return sum + countFailures(run, final);
  }, 0);
  const failures = swept.flatMap((one) => one.failures);
  const left = swept.reduce((sum, one) => sum + one.left, 0);
  const items = swept.reduce((sum, one) => sum + one.items, 0);
  for (const failure of failures) runner.error(failure);
  const changes = mode === 'plan' ? `${planned} planned` : `${made} of ${planned} made`;
  const report = reportState(
    runner,
    swept.map(({ rule }) => rule),
    state,
  );
  const now = runner.clock.now();
  const rows = [
    ...report.rows,
    ...swept.map(
      (one) =>
        `- ${inText(one.rule.name)}: ${count(one.items, 'item')}, ${count(one.runs.flatMap((run) => run.changes).length, 'change')}${one.left === 0 ? '' : `, ${count(one.left, 'item')} left for the next job`}`,
    ),
    ...all.flatMap(({ trigger, changes: list }) =>
      list.map(({ target, reason }) => `- \`${inCode(`${trigger.item} ${target}`)}\` ${inText(reason)}`),
    ),
    ...swept.flatMap(({ rule, since }) =>
      [...since].map(
        ([name, at]) =>
          `- \`${inCode(name)}\` differs since ${at.toISOString()} (${ageOf(at.toISOString(), now)}), ${inText(rule.name)}`,
      ),
    ),
    ...leftRules.map(({ rule, why }) => `- not swept: ${inText(rule.name)}: ${inText(why)}`),
    ...failures.map((failure) => `- failed: ${inText(failure)}`),
  ];
  return {
    findings: wrong + failures.length + report.findings,
    summary: `${state.kind === 'refused' ? 'nothing is written: the state cannot be used; ' : ''}${count(swept.length, 'rule')} over ${count(items, 'item')}, changes: ${changes}${left === 0 ? '' : `; ${count(left, 'item')} left for the next job, because of a limit`}${leftRules.length === 0 ? '' : `; ${count(leftRules.length, 'rule')} not swept in CI`}`,
    details: rows.join('\n'),
  };
}
