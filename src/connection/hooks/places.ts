import type { Client } from '../../client/client.ts';
import type { AnyInput, Operation } from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import { Hook } from '../../contract/resources/hooks.ts';
import type { WebhookForm } from '../../settings/operator-file/webhook.ts';

type Level = 'system' | 'user' | 'organization' | 'repository';
/** Somewhere a hook can be. `name` is empty for the instance, `owner/name` for a repository. */
export type Place = { readonly level: Level; readonly name: string };

type Row = {
  readonly list: (client: Client, params: Params) => AsyncGenerator<Hook>;
  readonly create: Operation;
  readonly edit: Operation;
  readonly delete: Operation;
};
type Params = Readonly<Record<'owner' | 'repo' | 'org', string>>;

const rows: Readonly<Record<Level, Row>> = {
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

/** Returns the places that the operator file names, the widest first. */
export function placesOf(webhook: WebhookForm): readonly Place[] {
  const named = (level: Level, names: readonly string[] = []): Place[] =>
    names.map((name) => ({ level, name }));
  return [
    ...named('system', webhook.system ? [''] : []),
    ...named('organization', webhook.organizations),
    ...named('user', webhook.users),
    ...named('repository', webhook.repositories),
  ];
}

/** Returns how people call a place; it is also the key under which the hook there is remembered. */
export function titleOf({ level, name }: Place): string {
  return level === 'system' ? 'the instance' : `${level} ${name}`;
}

/** Returns owner and name of a repository's place. */
export function repositoryAt({ name }: Place): { owner: string; repo: string } {
  const [owner = '', repo = ''] = name.split('/');
  return { owner, repo };
}

function paramsOf(place: Place): Params {
  return { ...repositoryAt(place), org: place.name };
}

export async function listHooksAt(client: Client, place: Place): Promise<readonly Hook[]> {
  const found: Hook[] = [];
  for await (const hook of rows[place.level].list(client, paramsOf(place))) found.push(hook);
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
  place: Place,
  { url, secret, ...body }: HookBody & { readonly secret: string },
): Promise<Hook> {
  const config = {
    url,
    content_type: 'json',
    secret,
    ...(place.level === 'system' ? { is_system_webhook: 'true' } : {}),
  };
  return send(client, rows[place.level].create, {
    params: paramsOf(place),
    body: { type: 'gitea', active: true, ...body, config },
  });
}

/** Makes a hook active and as said; its secret stays, since no forge lets it be edited. */
export async function editHookAt(
  client: Client,
  place: Place,
  { id, url, ...body }: HookBody & { readonly id: number },
): Promise<Hook> {
  return send(client, rows[place.level].edit, {
    params: { ...paramsOf(place), id },
    body: { active: true, ...body, config: { url, content_type: 'json' } },
  });
}

export async function deleteHookAt(client: Client, place: Place, id: number): Promise<void> {
  await client.send(rows[place.level].delete, { params: { ...paramsOf(place), id } });
}

async function send(client: Client, operation: Operation, input: AnyInput): Promise<Hook> {
  return Hook.parse(await client.send(operation, input));
}
