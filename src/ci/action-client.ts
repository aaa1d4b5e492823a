import { type Client, createClient } from '../client/client.ts';
import type { ActionRunner } from './runner.ts';

/** Returns the client of the forge that runs the workflow, with the token of the action. */
export function actionClient(runner: ActionRunner): Client {
  const token = runner.input('token');
  const url = runner.input('server-url') || runner.environment.GITHUB_SERVER_URL;
  if (!url) throw new Error('the runner names no forge: give server-url');
  if (token === '') throw new Error('facts are asked of the forge: give token');
  runner.hide(token);
  return createClient({ url, credentials: { token } });
}
