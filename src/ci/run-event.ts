import { printRun } from '../cli/output/print-run.ts';
import { findAccount } from '../client/account.ts';
import type { Event } from '../contract/events/events.ts';
import type { AnyInput } from '../contract/operation.ts';
import { accountsIn } from '../engine/bounds/accounts.ts';
import { standardDeliveryLifetimeMs } from '../engine/delivery-lifetime.ts';
import { isObserved, observedWords } from '../engine/describe-change.ts';
import { makeEventRun } from '../engine/make-run.ts';
import type { RecordedChange, Run } from '../engine/record.ts';
import { createFactMemory } from '../facts/ask.ts';
import { systemClock } from '../platform/clock.ts';
import type { LoadedRule } from '../rules/rule.ts';
import { createRuleSet } from '../rules/rule-set.ts';
import { loadRuleFiles } from '../rules/sources/folder.ts';
import { readRepositoryRules } from '../rules/sources/repository-file.ts';
import { nameOfRule } from '../rules/verdict.ts';
import { actionClient } from './action-client.ts';
import { readStarted, type Started } from './event.ts';
import { readOrigin } from './origin.ts';
import { createActionPacks } from './packs.ts';
import { annotateProblems, type Finished } from './problems.ts';
import { type ActionRunner, inCode, inText, rulePaths } from './runner.ts';

/** Shows what would be done with the event of the workflow by the rule files that are checked out. Only reads. */
export async function planEvent(runner: ActionRunner): Promise<Finished> {
  const started = readStarted(runner.environment);
  const offered = createActionPacks(runner, () => actionClient(runner));
  const files = await loadRuleFiles(rulePaths(runner), { offered });
  const problems = annotateProblems(
    runner,
    files.flatMap((file) => file.problems),
  );
  if (started.event === undefined) return nothingIn(started, problems.length);
  const rules = files.flatMap((file) => file.rules);
  const run = await runOn(runner, started.event, rules, 'plan');
  return finish(runner, run, problems.length);
}

/**
 * Does what rules ask for the event of the workflow: those of the repository's own file on its default branch, as the bot
 * reads it; or, where the default branch itself is checked out, the files that `config` names.
 */
export async function applyEventRules(runner: ActionRunner): Promise<Finished> {
  if (runner.input('apply') !== 'true') throw new Error('apply writes to the forge: say apply: true');
  const started = readStarted(runner.environment);
  const { event } = started;
  if (event?.repository === undefined) return nothingIn(started, 0);
  if (await isFromFork(runner, started, event)) return skippedFork;
  if (runner.input('packs') !== '') requireDefaultBranch('packs', started);
  const own =
    runner.input('config') === '' ? await ownRules(runner, event) : await checkedOut(runner, started);
  if (own.problems > 0)
    return { findings: own.problems, summary: 'the rule file cannot be used', details: '' };
  const run = await runOn(runner, event, own.rules, 'enforce');
  return finish(runner, run, 0);
}

/** Pull requests from forks are normal: the job passes. */
const skippedFork: Finished = {
  findings: 0,
  summary:
    'skipped: the event is about a fork, for which this action does not write; Reeve as a server handles it',
  details: '',
  isSkipped: true,
};

/**
 * Returns whether an event is about a fork, which brings code and text of strangers into a job whose token may write. Throws
 * where that cannot be told: a workflow that starts for such events never does anything.
 */
async function isFromFork(runner: ActionRunner, { name }: Started, event: Event): Promise<boolean> {
  const origin = await readOrigin(actionClient(runner), event);
  if (origin.from !== 'unknown') return origin.from === 'fork';
  throw new Error(
    `it cannot be told whether this ${name} is about a fork (${origin.reason}), for which this action does not write: run Reeve as a server`,
  );
}

type LoadedRules = { readonly rules: readonly LoadedRule[]; readonly problems: number };

/** Nothing that a pull request brings is trusted: the file is read from the default branch, whatever is checked out. */
async function ownRules(runner: ActionRunner, { repository }: Event): Promise<LoadedRules> {
  if (repository === undefined) return { rules: [], problems: 0 };
  const client = actionClient(runner);
  const packs = createActionPacks(runner, () => client);
  const { file } = await readRepositoryRules(client, repository, [], packs);
  for (const problem of file.problems) runner.error(problem);
  return { rules: file.rules, problems: file.problems.length };
}

function requireDefaultBranch(input: string, { isOnDefaultBranch, name }: Started): void {
  if (isOnDefaultBranch) return;
  throw new Error(
    `${input} is read from what is checked out, which apply trusts on the default branch alone: leave it out for ${name}`,
  );
}

async function checkedOut(runner: ActionRunner, started: Started): Promise<LoadedRules> {
  requireDefaultBranch('config', started);
  const offered = createActionPacks(runner, () => actionClient(runner));
  const files = await loadRuleFiles(rulePaths(runner), { offered });
  const problems = annotateProblems(
    runner,
    files.flatMap((file) => file.problems),
  );
  return { rules: files.flatMap((file) => file.rules), problems: problems.length };
}

async function runOn(
  runner: ActionRunner,
  event: Event,
  rules: readonly LoadedRule[],
  mode: 'plan' | 'enforce',
): Promise<Run> {
  const client = actionClient(runner);
  const { run } = await makeEventRun(event, {
    mode,
    door: 'ci',
    rules: createRuleSet(rules),
    facts: { client, memory: createFactMemory(systemClock) },
    // The token of a job acts as an account of the forge’s own; what that account wrote before is known by it.
    account: await findAccount(client, { allowAdmin: true }),
    capabilities: () => client.capabilities(),
    messages: { refusal: noMessages },
    // A job that is started again replays its event, whatever became of the comment meanwhile.
    maxAnnouncedAgeMs: mode === 'enforce' ? standardDeliveryLifetimeMs : undefined,
    clock: systemClock,
    explainAll: mode === 'plan',
  });
  printRun(run, runner.terminal);
  return run;
}

/** A job ends with what it knows: it would send a message again at every event, and has no named secrets. */
const noMessages =
  'the CI action sends no messages, because a job does not remember which were sent: run Reeve as a server';

function nothingIn({ name }: Started, problems: number): Finished {
  return {
    findings: problems,
    summary: `nothing is planned for ${name}: it is no event of the repository`,
    details: '',
  };
}

/** Most bytes of a plan that go into an output: runners cut or refuse larger ones. */
const maxPlanBytes = 64 * 1024;

function finish(runner: ActionRunner, run: Run, problems: number): Finished {
  const json = JSON.stringify(run);
  const isShort = Buffer.byteLength(json) <= maxPlanBytes;
  runner.output(
    'plan',
    isShort ? json : JSON.stringify({ schema: 1, id: run.id, mode: run.mode, cut: true }),
  );
  const failed = run.rules.filter(({ verdict }) => verdict === 'failed').length;
  const wrong = run.outcomes.filter(({ status }) => status === 'failed').length + run.refused.length;
  const applied = run.outcomes.filter(({ status }) => status === 'applied').length;
  const matched = run.rules.filter(({ verdict }) => verdict === 'matched');
  const observed = run.changes.filter((change) => isObserved(run, change));
  const sent = run.changes.length - observed.length;
  const made = run.mode === 'plan' ? `${sent} planned` : `${applied} of ${sent} made`;
  const watched = observed.length === 0 ? '' : `, ${observed.length} ${observedWords}`;
  const rows = [
    ...run.changes.map((change) => {
      const mark = observed.includes(change) ? ` (${observedWords})` : '';
      return `- \`${inCode(change.target)}\` ${inText(change.reason)}${mark}`;
    }),
    ...(run.mode === 'enforce' && run.changes.some(namesAccounts) ? [unheldLogins] : []),
    ...run.refused.map(({ change, why }) => `- refused: \`${inCode(change.target)}\` ${inText(why)}`),
  ];
  return {
    findings: problems + failed + wrong,
    summary: `${matched.length} matched (${matched.map(({ rule }) => nameOfRule(rule)).join(', ') || 'none'}), changes: ${made}${watched}`,
    details: rows.join('\n'),
  };
}

/** A job remembers nothing, so that it cannot tell who had a login before. */
const unheldLogins =
  '- note: logins were used as they stand today: a job does not remember the accounts that had them before; Reeve as a server does';

function namesAccounts({ action, operation, input, target }: RecordedChange): boolean {
  const isAssigned = action === 'set-issue' && target.startsWith('assignee:');
  return isAssigned || accountsIn(operation, (input ?? {}) as AnyInput).length > 0;
}
