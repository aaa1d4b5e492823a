import { type Client, createClient, findAccount } from '../client/client.ts';
import type { Run } from '../engine/record.ts';
import type { RunContext } from '../engine/run-context.ts';
import { createFactMemory } from '../facts/ask.ts';
import { systemClock } from '../platform/clock.ts';
import type { ActionRunner } from './runner.ts';

/** Returns a client for the forge that runs the workflow, with the token of the action. */
export function actionClient(runner: ActionRunner): Client {
  const token = runner.input('token');
  const url = runner.input('server-url') || runner.environment.GITHUB_SERVER_URL;
  if (!url) throw new Error('the runner does not name a forge: set server-url');
  if (token === '') throw new Error('facts are read from the forge: set token');
  runner.hide(token);
  return createClient({ url, credentials: { token } });
}

/** Returns the context of the runs of a job. */
export function createActionContext(client: Client): RunContext {
  return {
    client,
    // The token of a job belongs to an account of the forge itself. That account identifies earlier comments of the
    // action.
    account: () => findAccount(client, { allowAdmin: true }),
    clock: systemClock,
    memory: createFactMemory(systemClock),
    capabilities: () => client.capabilities(),
    messages: { refusal: noMessages },
  };
}

/** A job has no persistent state and no named secrets, so it would repeat a message on every event. */
const noMessages =
  'the CI action sends no messages, because a job does not remember which were sent: run Reeve as a server';

/** Returns the number of rules and changes of a run that fail the job, and of the refusals that do. */
export function countFailures({ rules, outcomes, refused }: Run, failing: Run['refused'] = refused): number {
  const failedRules = rules.filter(({ verdict }) => verdict === 'failed');
  return failedRules.length + outcomes.filter(({ status }) => status === 'failed').length + failing.length;
}
