import type { Client } from '../../client/client.ts';
import type { AnyInput, Operation } from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import { Hook } from '../../contract/resources/hooks.ts';
import { isDenied, ReeveError } from '../../platform/errors.ts';
import type { WebhookForm } from '../settings/operator-file.ts';

type HookLevel = 'system' | 'user' | 'organization' | 'repository';
/** A location of hooks. `name` is empty for the instance, and `owner/name` for a repository. */
export type HookLocation = { readonly level: HookLevel; readonly name: string };

type LocationRow = {
  readonly list: (client: Client, params: LocationParams) => AsyncGenerator<Hook>;
  readonly create: Operation;
  readonly edit: Operation;
  readonly delete: Operation;
};
type LocationParams = Readonly<Record<'owner' | 'repo' | 'org', string>>;

const rows: Readonly<Record<HookLevel, LocationRow>> = {
  system: {
    list: (client) => client.items(operations.listSystemHooks, {}),
    create: operations.createSystemHook,
    edit: operations.editSystemHook,
    delete: operations.deleteSystemHook,
  },
  user: {
    list: (client) => client.items(operations.listUserHooks, {}),
    create: operations.createUserHook,
    edit: operations.editUserHook,
    delete: operations.deleteUserHook,
  },
  organization: {
    list: (client, params) => client.items(operations.listOrganizationHooks, { params }),
    create: operations.createOrganizationHook,
    edit: operations.editOrganizationHook,
    delete: operations.deleteOrganizationHook,
  },
  repository: {
    list: (client, params) => client.items(operations.listHooks, { params }),
    create: operations.createHook,
    edit: operations.editHook,
    delete: operations.deleteHook,
  },
};

/** Returns the locations that get a hook, widest first: those in the operator file that no wider location covers. */
export function hookLocations(webhook: WebhookForm): readonly HookLocation[] {
  const all = namedLocations(webhook);
  return all.filter((location) => coveringLocation(location, all) === undefined);
}

/** A repository that needs no hook, and the location whose hook delivers its events. */
export type CoveredLocation = { readonly location: HookLocation; readonly by: HookLocation };

/** Returns the repositories in the operator file that a wider location covers. */
export function coveredLocations(webhook: WebhookForm): readonly CoveredLocation[] {
  const all = namedLocations(webhook);
  return all.flatMap((location) => {
    const by = coveringLocation(location, all);
    return by === undefined ? [] : [{ location, by }];
  });
}

function coveringLocation(location: HookLocation, all: readonly HookLocation[]): HookLocation | undefined {
  if (location.level !== 'repository') return undefined;
  const { owner, repo } = repositoryAt(location);
  return all.find((other) => other.level !== 'repository' && coversRepository(other, { owner, name: repo }));
}

/** Returns whether a hook at this location delivers the events of a repository. */
export function coversRepository(
  { level, name }: HookLocation,
  { owner, name: repository }: { readonly owner: string; readonly name: string },
): boolean {
  if (level === 'system') return true;
  const location = name.toLowerCase();
  return location === (level === 'repository' ? `${owner}/${repository}` : owner).toLowerCase();
}

function namedLocations(webhook: WebhookForm): readonly HookLocation[] {
  const named = (level: HookLevel, names: readonly string[] = []): HookLocation[] =>
    names.map((name) => ({ level, name }));
  return [
    ...named('system', webhook.system ? [''] : []),
    ...named('organization', webhook.organizations),
    ...named('user', webhook.users),
    ...named('repository', webhook.repositories),
  ];
}

/** Returns the display name of a location. It is also part of the storage key of the location's hook. */
export function locationName({ level, name }: HookLocation): string {
  return level === 'system' ? 'the instance' : `${level} ${name}`;
}

/** Returns the owner and name of a repository location. */
export function repositoryAt({ name }: HookLocation): { owner: string; repo: string } {
  const [owner = '', repo = ''] = name.split('/');
  return { owner, repo };
}

function locationParams(location: HookLocation): LocationParams {
  return { ...repositoryAt(location), org: location.name };
}

export async function listHooksAt(client: Client, location: HookLocation): Promise<readonly Hook[]> {
  const found: Hook[] = [];
  for await (const hook of rows[location.level].list(client, locationParams(location))) found.push(hook);
  return found;
}

/** Request body for a hook. */
export type HookBody = {
  readonly url: string;
  readonly events: readonly string[];
  readonly branch_filter: string;
  readonly authorization_header: string;
};

/** Creates an active hook that signs with the given secret. */
export async function createHookAt(
  client: Client,
  location: HookLocation,
  { url, secret, ...body }: HookBody & { readonly secret: string },
): Promise<Hook> {
  const config = {
    url,
    content_type: 'json',
    secret,
    ...(location.level === 'system' ? { is_system_webhook: 'true' } : {}),
  };
  return sendHookCall(client, rows[location.level].create, {
    params: locationParams(location),
    body: { type: 'gitea', active: true, ...body, config },
  });
}

/** Activates a hook and sets its fields. The secret is unchanged, because no forge can edit it. */
export async function editHookAt(
  client: Client,
  location: HookLocation,
  { id, url, ...body }: HookBody & { readonly id: number },
): Promise<Hook> {
  return sendHookCall(client, rows[location.level].edit, {
    params: { ...locationParams(location), id },
    body: { active: true, ...body, config: { url, content_type: 'json' } },
  });
}

export async function deleteHookAt(client: Client, location: HookLocation, id: number): Promise<void> {
  await client.send(rows[location.level].delete, { params: { ...locationParams(location), id } });
}

async function sendHookCall(client: Client, operation: Operation, input: AnyInput): Promise<Hook> {
  return Hook.parse(await client.send(operation, input));
}

/** A client, with the login of its account. */
export type Signed = { readonly client: Client; readonly login: string };
/** Hooks of a location, and the client that may read them. */
type VisibleHooks = { readonly client: Client; readonly live: readonly Hook[] };

/**
 * Reads the hooks of a location with the first client that has access. Hooks of an account are read only with its own
 * token, because with another token the forge would return the hooks of the wrong account. Throws the first refusal if
 * no client has access.
 */
export async function readHooks(signed: readonly Signed[], location: HookLocation): Promise<VisibleHooks> {
  const isTheirs = ({ login }: Signed): boolean =>
    location.level !== 'user' || login.toLowerCase() === location.name.toLowerCase();
  let refusal = new ReeveError('forge-forbidden', `only a token of @${location.name} can list its hooks`, {
    status: 403,
  });
  let isRefused = false;
  for (const { client } of signed.filter(isTheirs)) {
    try {
      return { client, live: await listHooksAt(client, location) };
    } catch (error) {
      if (!isDenied(error)) throw error;
      if (!isRefused) refusal = error;
      isRefused = true;
    }
  }
  throw refusal;
}

/**
 * Returns the token scopes that are needed to create the hooks that are missing, each with the first reason. Locations
 * whose hooks the accounts cannot read are left out: there, another account may have created the hook.
 */
export async function scopesForHooks(
  locations: readonly HookLocation[],
  url: string,
  signed: readonly Signed[],
): Promise<readonly { readonly scope: string; readonly why: string }[]> {
  const found = new Map<string, string>();
  for (const location of locations) {
    if ((await deliversFrom(location, url, signed)) !== false) continue;
    for (const category of rows[location.level].create.scopes) {
      const scope = `write:${category}`;
      if (!found.has(scope)) found.set(scope, `to create the hook of ${locationName(location)}`);
    }
  }
  return [...found].map(([scope, why]) => ({ scope, why }));
}

/**
 * Returns whether an active hook of a location delivers to the URL; undefined if none of the accounts can read the hooks
 * there.
 */
export async function deliversFrom(
  location: HookLocation,
  url: string,
  signed: readonly Signed[],
): Promise<boolean | undefined> {
  try {
    const { live } = await readHooks(signed, location);
    return live.some(({ active, config }) => active && config?.url === url);
  } catch (error) {
    if (isDenied(error)) return undefined;
    throw error;
  }
}
