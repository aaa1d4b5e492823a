import type { Client } from '../../../client/client.ts';
import type { RepositoryRef } from '../../../contract/events/subject.ts';
import { isDenied } from '../../../platform/errors.ts';
import { type HookLocation, listHooksAt, locationName } from '../../../server/hooks/places.ts';
import { maxExamined } from '../../../work/served.ts';
import { count, plain } from '../../output/terminal.ts';
import { type Finding, ok, skipped, warning } from '../finding.ts';

/** Maximum number of hooks that are named. */
const maxNamed = 3;

/**
 * Checks whether an active hook of served repositories, or of their organizations, delivers to a Reeve, while this one
 * polls them. Locations whose hooks the account cannot read are left out.
 */
export async function checkOtherReceivers(
  client: Client,
  served: readonly RepositoryRef[],
  ownUrl: string | undefined,
): Promise<Finding> {
  const examined = served.slice(0, maxExamined);
  const owners = new Set(examined.map(({ owner }) => owner));
  const locations: readonly HookLocation[] = [
    ...[...owners].map((name) => ({ level: 'organization', name }) as const),
    ...examined.map(({ owner, name }) => ({ level: 'repository', name: `${owner}/${name}` }) as const),
  ];
  const found: string[] = [];
  let read = 0;
  for (const location of locations) {
    const live = await listHooksAt(client, location).catch((error: unknown) => {
      if (isDenied(error)) return undefined;
      throw error;
    });
    if (live === undefined) continue;
    read += 1;
    for (const { active, config } of live) {
      const address = active && config?.url !== ownUrl ? receiverAddress(config?.url) : undefined;
      if (address !== undefined) found.push(`${locationName(location)} delivers to ${address}`);
    }
  }
  if (found.length > 0) {
    const more = found.length > maxNamed ? `; and ${found.length - maxNamed} more` : '';
    return warning(
      plain(`a hook of ${found.slice(0, maxNamed).join('; a hook of ')}${more}`),
      'if a Reeve is still there, an event is handled twice, by the hook and by polling: stop it, or delete the hook on the forge',
    );
  }
  if (read === 0) return skipped('the account cannot read the hooks of the served repositories');
  return ok(`no hook of another Reeve in ${count(read, 'place')}`);
}

/** Returns the address of a hook to a Reeve, without query and credentials, which may be secrets; undefined for others. */
function receiverAddress(url: string | undefined): string | undefined {
  const parsed = url === undefined ? null : URL.parse(url);
  if (!parsed?.pathname.endsWith('/webhook')) return undefined;
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
}
