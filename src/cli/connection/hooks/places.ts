import type { Client } from '../../../client/client.ts';
import type { AnyInput, Operation } from '../../../contract/operation.ts';
import { operations } from '../../../contract/operations.ts';
import { Hook } from '../../../contract/resources/hooks.ts';
import { ReeveError } from '../../../platform/errors.ts';
import type { WebhookForm } from '../../../server/settings/operator-file.ts';

type HookLevel = 'system' | 'user' | 'organization' | 'repository';
/** Somewhere a hook can be. `name` is empty for the instance, `owner/name` for a repository. */
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

/** Returns the places that get a hook, the widest first: those that the operator file names and that no wider one covers. */
export function hookLocations(webhook: WebhookForm): readonly HookLocation[] {
  const all = namedLocations(webhook);
  return all.filter((location) => coveringLocation(location, all) === undefined);
}

/** A repository that needs no hook, and the place whose hook delivers its events. */
export type CoveredLocation = { readonly location: HookLocation; readonly by: HookLocation };

/** Returns the repositories that the operator file names and a wider place covers. */
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

/** Returns whether a hook at a place delivers the events of a repository. */
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

/** Returns how people call a place; it is also the key under which the hook there is remembered. */
export function locationName({ level, name }: HookLocation): string {
  return level === 'system' ? 'the instance' : `${level} ${name}`;
}

/** Returns owner and name of a repository's place. */
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

/** What a hook is sent as, beside its place. */
export type HookBody = {
  readonly url: string;
  readonly events: readonly string[];
  readonly branch_filter: string;
  readonly authorization_header: string;
};

/** Makes an active hook that signs with this secret. */
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

/** Makes a hook active and as said; its secret stays, since no forge lets it be edited. */
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

/** A way to sign in, and whose it is. */
export type Signed = { readonly client: Client; readonly login: string };
/** The hooks of a place, and the client that may see them. */
type VisibleHooks = { readonly client: Client; readonly live: readonly Hook[] };

/**
 * Reads the hooks of a place with the first of these that may. Those of an account are shown to that account alone: with
 * another token the forge would answer for the wrong one. Throws the first refusal where none may.
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
      if (!(error instanceof ReeveError) || (error.status !== 403 && error.status !== 404)) throw error;
      if (!isRefused) refusal = error;
      isRefused = true;
    }
  }
  throw refusal;
}
