import { randomBytes } from 'node:crypto';
import { hookEventNames } from '../../../src/contract/events/hook-events.ts';
import { cloneRepository, type GitClone } from '../git-client.ts';
import { fixtureAuthorization, fixtureSecret, type HookName } from './fixture.ts';

/** Person in a recording. */
export type Person = { readonly name: string; readonly password: string; readonly token: string };

/**
 * Place of a recording: people, an organization and repositories, all created for the recording, on any kind of forge.
 */
export interface RecordingSetup {
  readonly url: string;
  readonly version: string;
  /** Suffix of every name, so that one server can hold several recordings. */
  readonly suffix: string;
  /** Owner, reviewer, external contributor, and second member of the team. */
  readonly people: Readonly<Record<'ada' | 'ben' | 'cyd' | 'dee', Person>>;
  readonly organization: string;
  /** `acme/demo`, with the suffix in the organization's name. */
  readonly repository: string;
  /**
   * Calls the API. Throws if the status of the response is 300 or higher. The body is sent as JSON unless it is text.
   */
  // biome-ignore lint/suspicious/noExplicitAny: a script looks into answers of every shape
  ask(method: string, path: string, options?: { as?: Person; body?: unknown }): Promise<any>;
  /**
   * Creates a hook, by default for all kinds of events. Its address contains the name, which identifies its deliveries.
   */
  hook(
    name: HookName,
    options?: { config?: Record<string, string>; events?: readonly string[] },
  ): Promise<void>;
  /** Clones a repository as a person. */
  clone(repository: string, person: Person): Promise<GitClone>;
  /** Removes the hooks that receive more than the events of the recording, and the clones. */
  close(): Promise<void>;
}

/** Creates people, an organization, and hooks of the levels that exist before any repository. */
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

/** Action on a forge, with the events that it should cause. */
export type Step = {
  /** Name in kebab case. Together with the kind, it names the fixtures. */
  readonly name: string;
  /**
   * Kinds of events that each hook waits for. A kind listed twice arrives twice. Additional events may arrive, and are
   * recorded.
   */
  readonly expects: readonly string[];
  /** Hooks that receive the events. Default: repository, organization and system. */
  readonly hooks?: readonly HookName[];
  /** Keeps the delivery of each hook. Otherwise, only the first of several deliveries with the same bytes is kept. */
  readonly keepsAll?: boolean;
  /** Seconds to wait if the server is slow. Default: the patience of the recording. */
  readonly timeoutSeconds?: number;
  perform(): Promise<void>;
};

/** Part of the recording, with its name and its steps in order. Later steps build on earlier ones. */
export type Topic = { readonly name: string; readonly steps: readonly Step[] };
