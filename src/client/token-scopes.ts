import { randomBytes } from 'node:crypto';
import { operations } from '../contract/operations.ts';
import { messageOf, ReeveError } from '../errors.ts';
import type { Capabilities } from './capabilities.ts';
import type { Client } from './client.ts';

/** Whether a token has a scope; `unknown`: the forge lists none, and it was not tried. */
type Holding = 'held' | 'missing' | 'unknown';

type Try = (client: Client, nobody: string) => Promise<unknown>;

/**
 * For each scope a call that needs it and no other, and that can do nothing: writes go to what does not exist. Forges
 * look at the scope before they look for the thing. Source: forge `routers/api/v1/api.go tokenRequiresScopes`.
 */
const tries: Readonly<Record<string, Try>> = {
  'read:user': (client) => client.call(operations.getSelf, {}),
  'write:user': (client) => client.call(operations.deleteUserHook, { params: { id: 0 } }),
  'read:repository': (client, owner) =>
    client.call(operations.getRepository, { params: { owner, repo: 'none' } }),
  'write:repository': (client, owner) =>
    client.call(operations.deleteHook, { params: { owner, repo: 'none', id: 0 } }),
  'read:issue': (client, owner) => client.call(operations.listLabels, { params: { owner, repo: 'none' } }),
  'write:issue': (client, owner) =>
    client.call(operations.deleteLabel, { params: { owner, repo: 'none', id: 0 } }),
  'read:organization': (client, org) => client.call(operations.getOrganization, { params: { org } }),
  'write:organization': (client, org) =>
    client.call(operations.deleteOrganizationHook, { params: { org, id: 0 } }),
  'read:notification': (client) => client.call(operations.countNotifications, {}),
  'write:notification': (client) =>
    client.call(operations.markNotification, { params: { id: 0 }, query: {} }),
};

/**
 * Tells which of these scopes (`write:issue`) the client's token has: from the forge where it lists them, else by trying
 * each. With `readOnly` nothing but GET is sent. Throws where the forge cannot be asked at all.
 */
export async function askScopes(
  client: Client,
  scopes: readonly string[],
  { capabilities, readOnly = false }: { capabilities: Capabilities; readOnly?: boolean },
): Promise<ReadonlyMap<string, Holding>> {
  const listed = capabilities.has.token_self ? await listScopes(client) : undefined;
  if (listed !== undefined) return new Map(scopes.map((scope) => [scope, isCovered(scope, listed)]));
  const nobody = `no-such-${randomBytes(10).toString('hex')}`;
  const answers = await Promise.all(
    scopes.map(async (scope): Promise<readonly [string, Holding]> => {
      const attempt = tries[scope];
      if (attempt === undefined || (readOnly && scope.startsWith('write:'))) return [scope, 'unknown'];
      return [scope, await holding(attempt(client, nobody))];
    }),
  );
  return new Map(answers);
}

function isCovered(scope: string, listed: readonly string[]): Holding {
  const wider = scope.replace(/^read:/, 'write:');
  return listed.some((one) => one === 'all' || one === scope || one === wider) ? 'held' : 'missing';
}

/** Returns the scopes of the token, or undefined where the credential is another one (a password has no limits). */
async function listScopes(client: Client): Promise<readonly string[] | undefined> {
  try {
    return (await client.call(operations.getCurrentToken, {})).scopes ?? [];
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'forge-not-found') return undefined;
    throw error;
  }
}

async function holding(answer: Promise<unknown>): Promise<Holding> {
  try {
    await answer;
    return 'held';
  } catch (error) {
    if (!(error instanceof ReeveError) || error.status === undefined || error.code === 'forge-unauthorized') {
      throw error;
    }
    if (error.status === 403) return /scope/.test(messageOf(error)) ? 'missing' : 'unknown';
    return error.status < 500 ? 'held' : 'unknown';
  }
}
