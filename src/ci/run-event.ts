import { readFileSync } from 'node:fs';
import { printRun } from '../cli/output/print-run.ts';
import type { Client } from '../client/client.ts';
import type { Family } from '../contract/events/event-families.ts';
import type { Event } from '../contract/events/events.ts';
import { namedEvent } from '../contract/events/named-event.ts';
import { readMember } from '../contract/events/payload-members.ts';
import type { RepositoryRef } from '../contract/events/subject.ts';
import type { AnyInput } from '../contract/operation.ts';
import { operations } from '../contract/operations.ts';
import { accountsIn } from '../engine/bounds/accounts.ts';
import { isObserved, observedWords } from '../engine/describe-change.ts';
import { standardDeliveryLifetimeMs } from '../engine/limits.ts';
import { makeEventRun } from '../engine/make-run.ts';
import type { RecordedChange, Run } from '../engine/record.ts';
import type { RunContext } from '../engine/run-context.ts';
import { messageOf } from '../platform/errors.ts';
import { createRuleSet, type LoadedRule } from '../rules/rule.ts';
import { loadRuleFiles } from '../rules/sources/folder.ts';
import { readRepositoryRules } from '../rules/sources/repository-file.ts';
import { nameOfRule } from '../rules/verdict.ts';
import {
  actionClient,
  countFailures,
  createActionContext,
  readRepository,
  reportState,
  withState,
} from './action-client.ts';
import { createActionPacks } from './packs.ts';
import { annotateProblems, type Finished } from './problems.ts';
import { type ActionRunner, inCode, inText, type RunnerEnvironment, rulePaths, shortPath } from './runner.ts';
import type { JobState } from './state.ts';
import { repositoryOfJob, sweepRepository } from './sweep.ts';

/** Shows the plan of the checked-out rule files for the event of the workflow. Does not write. */
export async function planEvent(runner: ActionRunner): Promise<Finished> {
  const started = readStarted(runner.environment);
  const { rules, problems } = await loadCheckedOut(runner);
  if (started.name === 'schedule' && hasSchedule(rules)) {
    const client = actionClient(runner);
    const repository = await repositoryOfJob(runner, client);
    const swept = await sweepRepository(runner, { client, repository, rules, mode: 'plan', state: noState });
    return { ...swept, findings: swept.findings + problems };
  }
  if (started.event === undefined) return nothingIn(started, problems);
  const run = await runOn(runner, started.event, { rules, mode: 'plan', state: noState });
  return finish(runner, run, { problems, rules, state: noState });
}

/**
 * Applies rules to the event of the workflow: those of the repository's own file on its default branch, as the bot
 * reads it; or those of the files in `config`, if the default branch is checked out.
 */
export async function applyEventRules(runner: ActionRunner): Promise<Finished> {
  if (runner.input('apply') !== 'true') throw new Error('apply writes to the forge: set apply: true');
  const started = readStarted(runner.environment);
  const { event } = started;
  if (started.name === 'schedule' || started.name === 'workflow_dispatch')
    return sweepFiles(runner, { isAsked: false });
  if (event?.repository === undefined) return nothingIn(started, 0);
  if (await isFromFork(runner, started, event)) return skippedFork;
  if (runner.input('packs') !== '') requireDefaultBranch('packs', started);
  const own =
    runner.input('config') === '' ? await ownRules(runner, event) : await checkedOut(runner, started);
  if (own.problems > 0)
    return { findings: own.problems, summary: 'the rule file cannot be used', details: '' };
  const { rules } = own;
  const repository = await readRepository(actionClient(runner), event.repository);
  return withState(runner, repository, async (state, mode) => {
    const run = await runOn(runner, event, { rules, mode, state });
    return finish(runner, run, { problems: 0, rules, state });
  });
}

/**
 * Runs the rules with a schedule over the repository: those of the repository's own file on its default branch, or those
 * of the files in `config`, if the default branch is checked out. Without `apply: true`, shows what it would change.
 */
export async function sweepFiles(
  runner: ActionRunner,
  { isAsked = true }: { readonly isAsked?: boolean } = {},
): Promise<Finished> {
  const { GITHUB_EVENT_NAME: trigger } = runner.environment;
  // A runner of another kind names no event, and is asked for a sweep anyway.
  const started = trigger ? readStarted(runner.environment) : startedByHand;
  const mode = runner.input('apply') === 'true' ? 'enforce' : 'plan';
  if (mode === 'enforce' && !mayStartSweep(started)) {
    throw new Error(
      `sweep writes only in workflows with on: schedule or workflow_dispatch, or for a push to the default branch: strangers can cause ${started.name}`,
    );
  }
  const client = actionClient(runner);
  if (mode === 'enforce' && runner.input('packs') !== '') requireDefaultBranch('packs', started);
  const repository = await repositoryOfJob(runner, client);
  const own =
    runner.input('config') === ''
      ? await rulesOfDefaultBranch(runner, repository)
      : await checkedOut(runner, started, mode);
  if (own.problems > 0)
    return { findings: own.problems, summary: 'the rule file cannot be used', details: '' };
  const isIdle = !isAsked && !hasSchedule(own.rules);
  const given = { client, repository, rules: own.rules };
  if (mode === 'plan') {
    const planned = await sweepRepository(runner, { ...given, mode, state: noState });
    return { ...planned, summary: `nothing was written: apply is not true; ${planned.summary}` };
  }
  return withState(runner, repository, async (state, left) => {
    if (!isIdle) return sweepRepository(runner, { ...given, mode: left, state });
    const { findings, rows } = reportState(runner, [], state);
    return { ...nothingIn(started, findings), details: rows.join('\n') };
  });
}

/** A job that only shows changes neither reads nor writes the state: a fork may have started it. */
const noState: JobState = { kind: 'none' };

/** Returns whether only people with write access, or the clock, can start the job. */
function mayStartSweep({ name, isOnDefaultBranch }: Started): boolean {
  return noEvents.has(name) || name === startedByHand.name || (name === 'push' && isOnDefaultBranch);
}

function hasSchedule(rules: readonly LoadedRule[]): boolean {
  return rules.some(({ schedules }) => schedules.length > 0);
}

/** Pull requests from forks are normal, so the job passes. */
const skippedFork: Finished = {
  findings: 0,
  summary:
    'skipped: the event is about a fork, for which this action does not write; Reeve as a server handles it',
  details: '',
  isSkipped: true,
};

/**
 * Returns whether an event is about a fork, which brings untrusted code and text into a job whose token may write.
 * Throws if that cannot be determined: a workflow that such events start never writes anything.
 */
async function isFromFork(runner: ActionRunner, { name }: Started, event: Event): Promise<boolean> {
  const origin = await readOrigin(actionClient(runner), event);
  if (origin.from !== 'unknown') return origin.from === 'fork';
  throw new Error(
    `cannot determine whether this ${name} is about a fork (${origin.reason}), for which this action does not write: run Reeve as a server`,
  );
}

type LoadedRules = { readonly rules: readonly LoadedRule[]; readonly problems: number };

/**
 * The content of a pull request is not trusted: the file is read from the default branch, regardless of which commit is
 * checked out.
 */
async function ownRules(runner: ActionRunner, { repository }: Event): Promise<LoadedRules> {
  return repository === undefined ? { rules: [], problems: 0 } : rulesOfDefaultBranch(runner, repository);
}

async function rulesOfDefaultBranch(runner: ActionRunner, repository: RepositoryRef): Promise<LoadedRules> {
  const client = actionClient(runner);
  const packs = createActionPacks(runner, () => client);
  const { file } = await readRepositoryRules(client, repository, [], packs);
  for (const problem of file.problems) runner.error(problem);
  return { rules: file.rules, problems: file.problems.length };
}

function requireDefaultBranch(input: string, { isOnDefaultBranch, name }: Started): void {
  if (isOnDefaultBranch) return;
  throw new Error(
    `${input} is read from the checked-out files, which apply trusts only on the default branch: leave it out for ${name}`,
  );
}

async function checkedOut(
  runner: ActionRunner,
  started: Started,
  mode: 'plan' | 'enforce' = 'enforce',
): Promise<LoadedRules> {
  if (mode === 'enforce') requireDefaultBranch('config', started);
  return loadCheckedOut(runner);
}

/** Loads the checked-out rule files, and annotates their problems. */
async function loadCheckedOut(runner: ActionRunner): Promise<LoadedRules> {
  const offered = createActionPacks(runner, () => actionClient(runner));
  const files = await loadRuleFiles(rulePaths(runner), { offered });
  const problems = annotateProblems(
    runner,
    files.flatMap((file) => file.problems),
  );
  // Some runners check out each job into another folder, and the state knows rules by their identity.
  const rules = files.flatMap((file) =>
    file.rules.map((rule) => ({ ...rule, id: shortPath(runner.workspace, rule.id) })),
  );
  return { rules, problems: problems.length };
}

async function runOn(
  runner: ActionRunner,
  event: Event,
  {
    rules,
    mode,
    state,
  }: {
    readonly rules: readonly LoadedRule[];
    readonly mode: 'plan' | 'enforce';
    readonly state: JobState;
  },
): Promise<Run> {
  const context = createActionContext(actionClient(runner), { runner, state });
  const request = {
    mode,
    door: 'ci',
    rules: createRuleSet(rules),
    // A restarted job replays its event, even if the comment has changed meanwhile.
    maxAnnouncedAgeMs: mode === 'enforce' ? standardDeliveryLifetimeMs : undefined,
    explainAll: mode === 'plan',
    // A plan evaluates the rules even if the token's account started the workflow.
    isOwn: mode === 'plan' && (await isByToken(event, context)) ? false : undefined,
  } as const;
  const { run } = await makeEventRun(event, request, context);
  printRun(run, runner.terminal);
  if (run.rules.length > 0 && run.rules.every(({ reason }) => reason === 'own'))
    runner.notice(
      `no rule was evaluated: @${event.sender?.login} caused this event, and this job uses a token of that account. Leave out the input "token", or use the token of another account`,
    );
  return run;
}

/** Returns whether the account of the token is the sender of the event. */
async function isByToken(event: Event, { account }: RunContext): Promise<boolean> {
  return event.sender !== undefined && event.sender.id === (await account?.())?.id;
}

function nothingIn({ name }: Started, problems: number): Finished {
  return {
    findings: problems,
    summary:
      name === 'schedule' || name === 'workflow_dispatch'
        ? `nothing is planned for ${name}: no rule has a schedule`
        : `nothing is planned for ${name}: it is not an event of the repository`,
    details: '',
  };
}

/** Maximum number of bytes of a plan in an output: runners truncate or refuse larger ones. */
const maxPlanBytes = 64 * 1024;

function finish(
  runner: ActionRunner,
  run: Run,
  {
    problems,
    rules,
    state,
  }: { readonly problems: number; readonly rules: readonly LoadedRule[]; readonly state: JobState },
): Finished {
  const json = JSON.stringify(run);
  const isShort = Buffer.byteLength(json) <= maxPlanBytes;
  runner.output(
    'plan',
    isShort ? json : JSON.stringify({ schema: 1, id: run.id, mode: run.mode, cut: true }),
  );
  const applied = run.outcomes.filter(({ status }) => status === 'applied').length;
  const matched = run.rules.filter(({ verdict }) => verdict === 'matched');
  const observed = run.changes.filter((change) => isObserved(run, change));
  const sent = run.changes.length - observed.length;
  const made = run.mode === 'plan' ? `${sent} planned` : `${applied} of ${sent} made`;
  const watched = observed.length === 0 ? '' : `, ${observed.length} ${observedWords}`;
  const report = reportState(runner, rules, state);
  const rows = [
    ...report.rows,
    ...run.changes.map((change) => {
      const mark = observed.includes(change) ? ` (${observedWords})` : '';
      return `- \`${inCode(change.target)}\` ${inText(change.reason)}${mark}`;
    }),
    ...(run.mode === 'enforce' && run.changes.some(namesAccounts) ? [unheldLogins] : []),
    ...run.refused.map(({ change, why }) => `- refused: \`${inCode(change.target)}\` ${inText(why)}`),
  ];
  return {
    findings: problems + report.findings + countFailures(run),
    summary: `${state.kind === 'refused' ? 'nothing is written: the state cannot be used; ' : ''}${matched.length} matched (${matched.map(({ rule }) => nameOfRule(rule)).join(', ') || 'none'}), changes: ${made}${watched}`,
    details: rows.join('\n'),
  };
}

/** A job has no persistent state, so it cannot know the earlier account of a login. */
const unheldLogins =
  '- note: logins stand for the accounts that have them today: a job does not remember earlier accounts; Reeve as a server does';

function namesAccounts({ action, operation, input, target }: RecordedChange): boolean {
  const isAssigned = action === 'set-issue' && target.startsWith('assignee:');
  return isAssigned || accountsIn(operation, (input ?? {}) as AnyInput).length > 0;
}

/** Trigger of a workflow. */
type Started = {
  /** Event name of the runner: `push`, `pull_request`, `schedule`. */
  readonly name: string;
  /** Undefined for triggers that are not events of a repository: a schedule, a manual start. */
  readonly event: Event | undefined;
  /** Whether the default branch is checked out, as far as the runner's environment shows it. */
  readonly isOnDefaultBranch: boolean;
};

/** A job whose runner names no event: nothing is known about what is checked out. */
const startedByHand: Started = { name: 'sweep', event: undefined, isOnDefaultBranch: false };

/** Event names of runners that differ from those of rules. */
const otherNames: Readonly<Record<string, string>> = {
  gollum: 'wiki',
  pull_request_review_comment: 'pull_request_review',
  pull_request_target: 'pull_request',
  registry_package: 'package',
};
/** Workflow triggers without an event in the repository. */
const noEvents: ReadonlySet<string> = new Set(['schedule', 'workflow_dispatch', 'workflow_call']);
/** Events whose workflow runs on a branch of the repository itself, not of a fork. */
const ofBranches: ReadonlySet<string> = new Set(['push', ...noEvents]);

/**
 * Reads the event of a workflow; on Gitea and Forgejo it is the payload of the webhook. Throws if it cannot be used.
 */
function readStarted(environment: RunnerEnvironment): Started {
  const name = environment.GITHUB_EVENT_NAME ?? '';
  const path = environment.GITHUB_EVENT_PATH;
  if (name === '' || !path)
    throw new Error('the runner does not name an event: GITHUB_EVENT_NAME, GITHUB_EVENT_PATH');
  const payload = readPayload(path);
  // Workflows have one kind of comment event; the forge's payload distinguishes issues from pull requests.
  const isOfPull = name === 'issue_comment' && payload.is_pull === true;
  const kind = isOfPull ? 'pull_request_comment' : (otherNames[name] ?? name);
  const event = noEvents.has(name) ? undefined : namedEvent(kind, payload);
  const branch = readMember(payload.repository, 'default_branch');
  // Forges run schedules on the default branch only. Their payloads have no repository.
  const isScheduled = name === 'schedule' && branch === undefined;
  return {
    name,
    event,
    isOnDefaultBranch:
      ofBranches.has(name) && (isScheduled || environment.GITHUB_REF === `refs/heads/${String(branch)}`),
  };
}

function readPayload(path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new Error(`the event of the runner cannot be read: ${messageOf(cause)}`, { cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new Error('the event of the runner is not a JSON object');
}

/** Origin of the code that an event is about. `reason`: why the origin is unknown. */
type CodeOrigin =
  | { readonly from: 'repository' | 'fork' }
  | { readonly from: 'unknown'; readonly reason: string };

/** Families of events that a fork cannot cause. */
const ofRepository: ReadonlySet<Family> = new Set([
  'push',
  'create',
  'delete',
  'fork',
  'repository',
  'release',
  'wiki',
  'package',
]);

/** Families whose subject may be a pull request without its head in the payload. The head is read from the forge. */
const ofConversation: ReadonlySet<Family> = new Set(['issues', 'issue_comment', 'pull_request_comment']);

/**
 * Returns the origin of an event's code; for a pull request, whether its head is in another repository. For a comment,
 * the pull request is read from the forge. If that fails, the result is `unknown`, which the caller refuses as well.
 */
async function readOrigin(client: Client, event: Event): Promise<CodeOrigin> {
  const { family, payload } = event;
  if (family === undefined) return unknown('the kind of event is not known');
  if (ofRepository.has(family)) return { from: 'repository' };
  if (ofConversation.has(family)) return readConversation(client, event);
  if (family === 'workflow_run') {
    const head = readMember(readMember(payload.workflow_run, 'head_repository'), 'id');
    return compare(head, event.repository?.id);
  }
  if (payload.pull_request === undefined) return unknown(`${family} does not say which code it is about`);
  return originOfPull(payload.pull_request);
}

async function readConversation(client: Client, { repository, subject }: Event): Promise<CodeOrigin> {
  if (repository === undefined || subject?.index === undefined)
    return unknown('the event does not name an issue or pull request');
  const params = { owner: repository.owner, repo: repository.name, index: subject.index };
  try {
    const issue = await client.call(operations.getIssue, { params });
    if (!issue.pull_request) return { from: 'repository' };
    return originOfPull(await client.call(operations.getPull, { params }));
  } catch (error) {
    return unknown(messageOf(error));
  }
}

/** If the head has no repository, it may have been a fork, so the origin is unknown. */
function originOfPull(pull: unknown): CodeOrigin {
  const idOf = (side: string): unknown => readMember(readMember(readMember(pull, side), 'repo'), 'id');
  return compare(idOf('head'), idOf('base'));
}

function compare(head: unknown, base: unknown): CodeOrigin {
  if (typeof head !== 'number' || typeof base !== 'number')
    return unknown('the repository of its head is not named');
  return { from: head === base ? 'repository' : 'fork' };
}

function unknown(reason: string): CodeOrigin {
  return { from: 'unknown', reason };
}
