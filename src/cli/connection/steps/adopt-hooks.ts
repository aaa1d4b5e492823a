import { ReeveError } from '../../../platform/errors.ts';
import type { WebhookForm } from '../../../server/settings/operator-file/operator-file.ts';
import type { Finding } from '../finding.ts';
import { type HookLocation, hookLocations, locationName, repositoryAt } from '../hooks/places.ts';
import { readHooks, type Signed } from '../hooks/read-hooks.ts';

/**
 * Returns the hooks that are wanted, with the organization or account of each repository whose hook delivers to the same address
 * already: a hook of the repository beside it would deliver every event twice. What the accounts cannot see is not there for them.
 */
export async function adoptWiderHooks(
  webhook: WebhookForm,
  makers: readonly Signed[],
): Promise<{ readonly webhook: WebhookForm; readonly findings: readonly Finding[] }> {
  const repositories = hookLocations(webhook).filter(({ level }) => level === 'repository');
  const owners = new Set(repositories.map((location) => repositoryAt(location).owner));
  const found: HookLocation[] = [];
  for (const name of owners) {
    for (const level of ['organization', 'user'] as const) {
      const location = { level, name };
      if (await deliversFrom(location, webhook.url, makers)) found.push(location);
    }
  }
  const named = (level: HookLocation['level']): string[] | undefined => {
    const names = found.filter((location) => location.level === level).map(({ name }) => name);
    const before = (level === 'organization' ? webhook.organizations : webhook.users) ?? [];
    return before.length + names.length === 0 ? undefined : [...before, ...names];
  };
  return {
    webhook:
      found.length === 0
        ? webhook
        : { ...webhook, organizations: named('organization'), users: named('user') },
    findings: found.map((location) => ({
      state: 'ok',
      text: `${locationName(location)} has a hook that delivers to ${webhook.url}: it is used for its repositories`,
    })),
  };
}

async function deliversFrom(
  location: HookLocation,
  url: string,
  makers: readonly Signed[],
): Promise<boolean> {
  try {
    const { live } = await readHooks(makers, location);
    return live.some(({ active, config }) => active && config?.url === url);
  } catch (error) {
    if (error instanceof ReeveError && (error.status === 403 || error.status === 404)) return false;
    throw error;
  }
}
