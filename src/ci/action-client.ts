import { type Client, createClient, findAccount } from '../client/client.ts';
import type { RepositoryRef } from '../contract/events/subject.ts';
import { operations } from '../contract/operations.ts';
import type { Run } from '../engine/record.ts';
import { isSent, type OneTimeGuard, type RunContext } from '../engine/run-context.ts';
import { createFactMemory } from '../facts/ask.ts';
import { command } from '../facts/command.ts';
import { requestsOfRule } from '../rules/needs.ts';
import type { LoadedRule } from '../rules/rule.ts';
import { type ActionRunner, inText } from './runner.ts';
import { type JobState, madeBefore, openState } from './state.ts';

/** Returns a client for the forge that runs the workflow, with the token of the action. */
export function actionClient(runner: ActionRunner): Client {
  const { url, token } = forgeOf(runner);
  return createClient({ url, credentials: { token } });
}

/** Returns the address of the forge and the token. */
function forgeOf(runner: ActionRunner): { readonly url: string; readonly token: string } {
  const token = runner.input('token');
  const url = runner.input('server-url') || runner.environment.GITHUB_SERVER_URL;
  if (!url) throw new Error('the runner does not name a forge: set server-url');
  if (token === '') throw new Error('facts are read from the forge: set token');
  runner.hide(token);
  return { url, token };
}

/** Reads a repository from the forge. */
export async function readRepository(
  client: Client,
  { owner, name: repo }: Pick<RepositoryRef, 'owner' | 'name'>,
): Promise<RepositoryRef> {
  const live = await client.call(operations.getRepository, { params: { owner, repo } });
  return { id: live.id, owner: live.owner.login, name: live.name };
}

/**
 * Calls `work` with the state of the job, and with the mode in which the rules may run: if the state cannot be used, no
 * budget is left, and the changes are only shown. Call it only in jobs that may write.
 */
export async function withState<Result>(
  runner: ActionRunner,
  repository: RepositoryRef,
  work: (state: JobState, mode: 'plan' | 'enforce') => Promise<Result>,
): Promise<Result> {
  const state = await openState(runner, { ...forgeOf(runner), repository });
  try {
    return await work(state, state.kind === 'refused' ? 'plan' : 'enforce');
  } finally {
    if (state.kind === 'kept') await state.state.close();
  }
}

/** Returns the context of the runs of a job. */
export function createActionContext(
  client: Client,
  { runner, state }: { readonly runner: ActionRunner; readonly state: JobState },
): RunContext {
  const { clock } = runner;
  const kept = state.kind === 'kept' ? state.state : undefined;
  return {
    client,
    // The token of a job belongs to an account of the forge itself. That account identifies earlier comments of the
    // action.
    account: () => findAccount(client, { allowAdmin: true }),
    clock,
    memory: createFactMemory(clock),
    capabilities: () => client.capabilities(),
    messages: { refusal: messageRefusal(runner) },
    ledger: kept?.ledger,
    actionMemory: kept?.memory,
    oneTime: hasState(runner) ? kept?.oneTime : refuseWithoutMemory,
  };
}

/** Returns whether the job is to remember earlier jobs. */
function hasState(runner: ActionRunner): boolean {
  return runner.input('state') !== '';
}

/** A job has no named secrets and, without state, would repeat a message on every event. */
function messageRefusal(runner: ActionRunner): string {
  const why = hasState(runner) ? 'it has no named secrets' : 'a job does not remember which were sent';
  return `the CI action sends no messages, because ${why}: run Reeve as a server`;
}

const noMemory =
  'without the input state, a job does not remember whether an earlier one did this: set state and state-secret, or run Reeve as a server';

const refuseWithoutMemory: OneTimeGuard = async (changes, input) => ({
  reasons: new Map(
    changes
      .filter((one) => isSent(one, input) && one.proposals.some(({ action }) => action.needsMemory))
      .map((planned) => [planned, noMemory]),
  ),
});

/**
 * Reports what the rules cannot do in this job: with an annotation, and in the returned rows of the summary, in
 * Markdown. An unusable state is a finding.
 */
export function reportState(
  runner: ActionRunner,
  rules: readonly LoadedRule[],
  state: JobState,
): { readonly findings: number; readonly rows: readonly string[] } {
  const undone = rules.flatMap((rule) =>
    rule.steps.flatMap(({ name, action }) => {
      if (action.needsMemory === undefined || rule.mode !== 'enforce') return [];
      const why = action.name === 'notify' ? messageRefusal(runner) : hasState(runner) ? undefined : noMemory;
      return why === undefined ? [] : [`${rule.name}, step ${name}: ${why}`];
    }),
  );
  for (const one of undone) runner.notice(`not done: ${one}`);
  const repeated = hasState(runner)
    ? []
    : rules.filter((rule) => requestsOfRule(rule).some(({ name }) => name === command.name));
  const rows = [
    ...undone.map((one) => `- not done: ${inText(one)}`),
    ...repeated.map(
      ({ name }) =>
        `- note: ${inText(name)} executes the commands of a comment again if the job is repeated: without the input state, nothing is remembered`,
    ),
  ];
  if (state.kind === 'none') return { findings: 0, rows };
  if (state.kind === 'kept') return { findings: 0, rows: [...rows, `- ${state.state.describe()}`] };
  runner.error(`nothing is written: ${state.why}`);
  return { findings: 1, rows: [`- nothing is written: ${inText(state.why)}`, ...rows] };
}

/** Returns the number of rules and changes of a run that fail the job, and of the refusals that do. */
export function countFailures({ rules, outcomes, refused }: Run, failing: Run['refused'] = refused): number {
  const open = failing.filter(({ why }) => !why.startsWith(madeBefore));
  const failedRules = rules.filter(({ verdict }) => verdict === 'failed');
  return failedRules.length + outcomes.filter(({ status }) => status === 'failed').length + open.length;
}
