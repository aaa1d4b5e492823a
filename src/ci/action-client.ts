import { type Client, createClient } from '../client/client.ts';
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
