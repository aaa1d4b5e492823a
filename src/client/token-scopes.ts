import { randomBytes } from 'node:crypto';
import { operations } from '../contract/operations.ts';
import { messageOf, ReeveError } from '../platform/errors.ts';
import type { Capabilities } from './capabilities.ts';
import type { Client } from './client.ts';

/** Whether a token has a scope; `unknown`: the forge lists no scopes, and it was not tested. */
type Holding = 'held' | 'missing' | 'unknown';

type Try = (client: Client, missing: string) => Promise<unknown>;

/**
 * For each scope, a call that needs only this scope and has no effect: writes go to objects that do not exist. Forges
 * check the scope before the object. Source: forge `routers/api/v1/api.go tokenRequiresScopes`.
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
 * Returns which of these scopes (`write:issue`) the client's token has: as listed by the forge, otherwise by testing
 * each. With `readOnly` only GET is sent. Throws if the forge is unreachable.
 */
export async function askScopes(
  client: Client,
  scopes: readonly string[],
  { capabilities, readOnly = false }: { capabilities: Capabilities; readOnly?: boolean },
): Promise<ReadonlyMap<string, Holding>> {
  const listed = capabilities.has.token_self ? await listScopes(client) : undefined;
  if (listed !== undefined) return new Map(scopes.map((scope) => [scope, isCovered(scope, listed)]));
  const missing = `no-such-${randomBytes(10).toString('hex')}`;
  const answers = await Promise.all(
    scopes.map(async (scope): Promise<readonly [string, Holding]> => {
      const attempt = tries[scope];
      if (attempt === undefined || (readOnly && scope.startsWith('write:'))) return [scope, 'unknown'];
      return [scope, await holding(attempt(client, missing))];
    }),
  );
  return new Map(answers);
}

function isCovered(scope: string, listed: readonly string[]): Holding {
  const wider = scope.replace(/^read:/, 'write:');
  return listed.some((one) => one === 'all' || one === scope || one === wider) ? 'held' : 'missing';
}

/** Returns the scopes of the token, or undefined for another credential (a password has no scopes). */
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
