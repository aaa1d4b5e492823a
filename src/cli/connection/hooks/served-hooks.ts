import { type Capabilities, capabilityOfEvent } from '../../../client/capabilities.ts';
import type { Client } from '../../../client/client.ts';
import { eventFamilies } from '../../../contract/events/event-families.ts';
import { hookEventNames, shownEvents, wantedEvents } from '../../../contract/events/hook-events.ts';
import type { RepositoryRef } from '../../../contract/events/subject.ts';
import { isDenied } from '../../../platform/errors.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import { coversRepository, type HookLocation, listHooksAt } from '../../../server/hooks/places.ts';
import type { StoreQueries } from '../../../store/store.ts';
import { servedRepositories, toRepositoryRef } from '../../../work/sweeps/targets/repositories.ts';
import { count } from '../../output/terminal.ts';
import { type Finding, ok, wrong } from '../finding.ts';

/** Maximum number of repositories whose own hooks are read because no hook is known for them. Each costs a request. */
const maxLooks = 100;
/** Maximum number of repositories named in a finding. */
const maxNamed = 5;

/** Input of the check that served repositories have hooks. */
type ServedHooks = {
  readonly client: Client;
  readonly login: string;
  /** Patterns from the operator file. */
  readonly listed: readonly string[];
  /** Locations that have a hook that delivers to the receiver, or whose hooks cannot be read. */
  readonly places: readonly HookLocation[];
  /** URL of the receiver; absent: every hook whose URL ends in `/webhook` counts. */
  readonly url: string | undefined;
  readonly store: StoreQueries | undefined;
};

/**
 * Checks that every served repository has a hook, either at a wider location or its own, or has sent a delivery before.
 * The finding is `wrong` if no repository is served, or if one has no known hook.
 */
export async function checkServedHooks(given: ServedHooks): Promise<Finding> {
  const { client, login, listed, places: locations } = given;
  const withoutHook: RepositoryRef[] = [];
  let served = 0;
  for await (const page of servedRepositories(client, { login: async () => login, listed })) {
    for (const repository of page.repositories.map(toRepositoryRef)) {
      served += 1;
      if (!locations.some((location) => coversRepository(location, repository))) withoutHook.push(repository);
    }
  }
  if (served === 0) {
    return wrong(
      `no repository is served: @${login} has starred none, and the operator file lists none that the account can read`,
      `name them: reeve setup --serve OWNER/NAME; or sign in to the forge as @${login} and star them (over the API, starring needs a token with write:user)`,
    );
  }
  const silent: string[] = [];
  for (const repository of withoutHook.slice(0, maxLooks)) {
    if (!(await isHeard(repository, given))) silent.push(`${repository.owner}/${repository.name}`);
  }
  const rest = withoutHook.length - Math.min(withoutHook.length, maxLooks);
  const more = rest > 0 ? `; ${count(rest, 'more repository')} not examined` : '';
  const all = count(served, 'served repository');
  if (silent.length === 0) return ok(`a hook delivers from each of ${all}${more}`);
  const named = silent.slice(0, maxNamed).join(', ');
  const others = silent.length > maxNamed ? ` and ${silent.length - maxNamed} more` : '';
  return wrong(
    `no hook delivers from ${named}${others}, of ${all}${more}`,
    'reeve setup --repository OWNER/NAME creates the hook; --organization creates one for all of an organization',
  );
}

/**
 * Reads a repository's own hooks. If access is denied or there is no such hook, checks for earlier deliveries of the
 * repository.
 */
async function isHeard(
  { id, owner, name }: RepositoryRef,
  { client, url, store }: ServedHooks,
): Promise<boolean> {
  try {
    const hooks = await listHooksAt(client, { level: 'repository', name: `${owner}/${name}` });
    const isHere = (address: string | undefined): boolean =>
      url === undefined ? (address?.endsWith('/webhook') ?? false) : address === url;
    if (hooks.some(({ active, config }) => active && isHere(config?.url))) return true;
  } catch (error) {
    if (!isDenied(error)) throw error;
  }
  const { items = [] } = (await store?.listDeliveries({ repositoryId: id, limit: 20 })) ?? {};
  return items.some(({ door }) => door === 'webhook');
}

/**
 * Events that are always needed: a push invalidates cached rule files, and is the event of a hook's test; `repository`
 * announces created and deleted repositories.
 */
const always = ['push', 'repository'];

/**
 * Returns the event types for hooks, in order: all, or those that these rules need. Event types that the forge does not
 * know and would silently drop are omitted.
 */
export function hookKinds(
  events: 'all' | 'rules',
  rules: readonly LoadedRule[],
  capabilities: Capabilities,
): readonly string[] {
  const named = events === 'all' ? hookEventNames : eventNamesOf(rules);
  const known = named.filter((name) => {
    const needed = capabilityOfEvent[name];
    return needed === undefined || capabilities.has[needed];
  });
  return wantedEvents([...always, ...known]);
}

/** Returns the event names that enable exactly the event types of the rules' families. */
function eventNamesOf(rules: readonly LoadedRule[]): readonly string[] {
  const types = rules.flatMap(({ on }) =>
    on.flatMap(({ family }) => Object.keys(eventFamilies[family].types)),
  );
  return shownEvents(types).map((kind) =>
    kind === 'issues' || kind === 'pull_request' ? `${kind}_only` : kind,
  );
}
