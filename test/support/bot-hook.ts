import type { Client } from '../../src/client/client.ts';
import type { InputOf } from '../../src/contract/operation.ts';
import { operations } from '../../src/contract/operations.ts';
import { at } from './flow-names.ts';

export const authorization = 'Bearer a-value-that-only-the-hook-knows';
export const secret = 'a-secret-that-only-the-hook-knows';

/**
 * Level of a hook, which determines the repositories that send events to the hook. With `none`, the flow creates its
 * own hook.
 */
export type HookLevel = 'repository' | 'organization' | 'user' | 'system' | 'none';

/** Events of flows, by names that every forge supports. */
const events = ['push', 'create', 'delete', 'issues', 'pull_request', 'repository', 'release'];

/** Returns the body of a request that creates a hook for the bot. */
function hookTo(url: string): InputOf<typeof operations.createHook>['body'] {
  return {
    type: 'gitea',
    active: true,
    events,
    config: { url, content_type: 'json', secret },
    authorization_header: authorization,
  };
}

/**
 * Creates the hook of a flow. A hook of the level `user` belongs to ada. Returns a function that removes a hook which
 * would outlive the flow.
 */
export async function createBotHook(
  level: HookLevel,
  { root, ada }: { root: Client; ada: Client },
  url: string,
): Promise<() => Promise<void>> {
  const body = hookTo(url);
  if (level === 'repository') await root.call(operations.createHook, { params: at, body });
  if (level === 'organization')
    await root.call(operations.createOrganizationHook, { params: { org: at.owner }, body });
  if (level === 'user') await ada.call(operations.createUserHook, { body });
  if (level !== 'system') return async () => {};
  const config = { ...body.config, is_system_webhook: 'true' };
  const { id } = await root.call(operations.createSystemHook, { body: { ...body, config } });
  return async () => {
    await root.call(operations.deleteSystemHook, { params: { id } });
  };
}
