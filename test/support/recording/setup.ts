import { randomBytes } from 'node:crypto';
import { hookEventNames } from '../../../src/contract/events/hook-events.ts';
import { cloneRepository, type GitClone } from '../git-client.ts';
import { fixtureAuthorization, fixtureSecret, type HookName } from './fixture.ts';

/** A person of the recording. */
export type Person = { readonly name: string; readonly password: string; readonly token: string };

/** Where a recording happens: people, an organization and repositories that it made itself, on a forge of any kind. */
export interface RecordingSetup {
  readonly url: string;
  readonly version: string;
  /** At the end of every name, so that several recordings fit on one server. */
  readonly suffix: string;
  /** Owner, reviewer, contributor from outside, second member of the team. */
  readonly people: Readonly<Record<'ada' | 'ben' | 'cyd' | 'dee', Person>>;
  readonly organization: string;
  /** `acme/demo`, with the suffix in the organization's name. */
  readonly repository: string;
  /** Calls the API; throws for every answer from 300 on. The body is JSON unless it is text. */
  // biome-ignore lint/suspicious/noExplicitAny: a script looks into answers of every shape
  ask(method: string, path: string, options?: { as?: Person; body?: unknown }): Promise<any>;
  /** Makes a hook, for all kinds unless told otherwise. The name stands in its address, and so tells its deliveries apart. */
  hook(
    name: HookName,
    options?: { config?: Record<string, string>; events?: readonly string[] },
  ): Promise<void>;
  /** Clones a repository as a person. */
  clone(repository: string, person: Person): Promise<GitClone>;
  /** Removes the hooks that hear more than the recording's own, and the clones. */
  close(): Promise<void>;
}

/** Makes people and organization, and hooks of the levels that are there before any repository is. */
export async function createRecordingSetup(options: {
  url: string;
  token: string;
  receiver: string;
}): Promise<RecordingSetup> {
  const { url, token, receiver } = options;
  const suffix = `-rec${randomBytes(4).toString('hex')}`;
  const clones: GitClone[] = [];
  const systemHooks: number[] = [];
  const root: Person = { name: '', password: '', token };

  const ask: RecordingSetup['ask'] = async (method, path, { as = root, body } = {}) => {
    const basic = Buffer.from(`${as.name}:${as.password}`).toString('base64');
    const response = await fetch(`${url}${path.startsWith('/api/') ? '' : '/api/v1'}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        authorization: as.token === '' ? `Basic ${basic}` : `token ${as.token}`,
        ...(typeof body === 'object' ? { 'content-type': 'application/json' } : {}),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text.trim()}`);
    return text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text;
  };

  async function makePerson(role: string): Promise<Person> {
    const name = `${role}${suffix}`;
    const password = randomBytes(12).toString('hex');
    const body = { username: name, email: `${name}@example.org`, password, must_change_password: false };
    await ask('POST', '/admin/users', { body });
    const scopes = { name: 'record', scopes: ['all'] };
    const made = await ask('POST', `/users/${name}/tokens`, {
      as: { name, password, token: '' },
      body: scopes,
    });
    return { name, password, token: made.sha1 };
  }

  const people = {
    ada: await makePerson('ada'),
    ben: await makePerson('ben'),
    cyd: await makePerson('cyd'),
    dee: await makePerson('dee'),
  };
  const { ada, ben, dee } = people;
  const organization = `acme${suffix}`;
  const repository = `${organization}/demo`;
  await ask('POST', '/orgs', { as: ada, body: { username: organization } });
  const permissions = { permission: 'write', units: ['repo.code', 'repo.issues', 'repo.pulls'] };
  const team = { name: 'release', includes_all_repositories: true, ...permissions };
  const { id } = await ask('POST', `/orgs/${organization}/teams`, { as: ada, body: team });
  for (const { name } of [ben, dee]) await ask('PUT', `/teams/${id}/members/${name}`, { as: ada });

  const places: Readonly<Partial<Record<HookName, string>>> = {
    organization: `/orgs/${organization}/hooks`,
    user: '/user/hooks',
    system: '/admin/hooks',
  };
  const setup: RecordingSetup = {
    url,
    version: (await ask('GET', '/version')).version,
    suffix,
    people,
    organization,
    repository,
    ask,
    async hook(name, { config, ...given } = {}) {
      const body = {
        type: 'gitea',
        active: true,
        events: hookEventNames,
        authorization_header: fixtureAuthorization,
        config: {
          url: `${receiver}/${name}`,
          content_type: 'json',
          secret: fixtureSecret,
          ...(name === 'system' ? { is_system_webhook: 'true' } : {}),
          ...config,
        },
        ...given,
      };
      const place = places[name] ?? `/repos/${repository}/hooks`;
      const made = await ask('POST', place, { as: name === 'system' ? root : ada, body });
      if (name === 'system') systemHooks.push(made.id);
    },
    async clone(path, { name, password }) {
      const address = new URL(`/${path}.git`, url);
      address.username = name;
      address.password = password;
      const clone = await cloneRepository(address.href, { name, email: `${name}@example.org` });
      clones.push(clone);
      return clone;
    },
    async close() {
      for (const clone of clones) clone.remove();
      for (const hook of systemHooks) await ask('DELETE', `/admin/hooks/${hook}`);
    },
  };
  for (const name of ['organization', 'user', 'system'] as const) await setup.hook(name);
  return setup;
}

/** One thing that is done on a forge, and what it is known to bring. */
export type Step = {
  /** In kebab case; with the kind it names the fixtures. */
  readonly name: string;
  /** The kinds that are waited for at each hook; one named twice comes twice. More may come and is recorded. */
  readonly expects: readonly string[];
  /** The hooks that hear it; default: repository, organization and system. */
  readonly hooks?: readonly HookName[];
  /** Keeps each hook's delivery, where otherwise the first of those with the same bytes stands for all. */
  readonly keepsAll?: boolean;
  /** Seconds to wait, where the server takes its time; default as the recording says. */
  readonly timeoutSeconds?: number;
  perform(): Promise<void>;
};

/** A part of the recording: what it is about, and its steps in order. Later steps build on earlier ones. */
export type Topic = { readonly name: string; readonly steps: readonly Step[] };
