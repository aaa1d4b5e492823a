import type { Client } from '../../src/client/client.ts';
import type { InputOf } from '../../src/contract/operation.ts';
import { operations } from '../../src/contract/operations.ts';
import { at } from './flow-names.ts';

export const authorization = 'Bearer a-value-that-only-the-hook-knows';
export const secret = 'a-secret-that-only-the-hook-knows';

/** Whose repositories a hook hears; `none`: the flow makes its own. */
export type HookLevel = 'repository' | 'organization' | 'user' | 'system' | 'none';

/** What flows listen to, in words that every forge knows. */
const events = ['push', 'create', 'delete', 'issues', 'pull_request', 'repository', 'release'];

/** Returns what makes a hook that points to the bot. */
function hookTo(url: string): InputOf<typeof operations.createHook>['body'] {
  return {
    type: 'gitea',
    active: true,
    events,
    config: { url, content_type: 'json', secret },
    authorization_header: authorization,
  };
}

/** Makes the hook of a flow; the one of a user is ada's. Returns what removes a hook that would outlive the flow. */
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
