import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient } from '../../../src/client/client.ts';
import { operations } from '../../../src/contract/operations.ts';
import { start, waitForOutput } from '../../../test/support/command.ts';
import { makeQueueRepository, type RepositoryAt } from '../../../test/support/queue/queue-repository.ts';

/** On a busy machine, a write of the forge takes long: only a request that hangs ends here. */
const timeoutMs = 120_000;

export const [org, botName] = ['acme', 'reeve'] as const;
const passwordOf = (name: string): string => `${name}-password`;

/** An embedded forge in a process of its own, with one repository whose base requires the status `ci`. */
export interface QueueForge {
  readonly url: string;
  /** The administrator, who does what contributors and CI do. */
  readonly root: Client;
  readonly at: RepositoryAt;
  /** Folder of the repository, in which git is run. */
  readonly folder: string;
  /** Tokens of the bot's account: one for each of its processes, by which their requests are told apart. */
  readonly tokens: readonly string[];
  /** Sends what happens to this address. */
  hookTo(url: string, secrets: { readonly authorization: string; readonly secret: string }): Promise<void>;
}

/** Starts it. `processes`: how many processes the bot has. */
export async function startQueueForge(data: string, processes: number): Promise<QueueForge> {
  await mkdir(data, { recursive: true });
  const child = start([
    'forge',
    '--port',
    '0',
    '--data',
    data,
    '--admin',
    `root:${passwordOf('root')}`,
    '--json',
  ]);
  const printed = await waitForOutput(child, /"url":"[^"]+"/);
  const url = /"url":"([^"]+)"/.exec(printed)?.[1] ?? '';
  const root = await signIn(url, 'root', ['all']);
  await root.client.call(operations.createUser, {
    body: {
      username: botName,
      password: passwordOf(botName),
      email: `${botName}@example.org`,
      must_change_password: false,
    },
  });
  await root.client.call(operations.createOrganization, { body: { username: org } });
  // Without `reeve/queue`: the forge is not to refuse what the queue must not ask for.
  const { at, id } = await makeQueueRepository(root.client, {
    owner: org,
    name: 'demo',
    bot: botName,
    contexts: ['ci'],
  });
  const scopes = ['read:user', 'read:organization', 'write:repository', 'write:issue'];
  const tokens: string[] = [];
  for (let made = 0; made < processes; made += 1) tokens.push((await signIn(url, botName, scopes)).token);
  return {
    url,
    root: root.client,
    at,
    folder: join(data, 'repositories', `${id}.git`),
    tokens,
    async hookTo(target, { authorization, secret }) {
      await root.client.call(operations.createHook, {
        params: at,
        body: {
          type: 'gitea',
          active: true,
          events: ['push', 'pull_request', 'status'],
          config: { url: target, content_type: 'json', secret },
          authorization_header: authorization,
        },
      });
    },
  };
}

let made = 0;
async function signIn(url: string, name: string, scopes: readonly string[]) {
  made += 1;
  const owner = createClient({ timeoutMs, url, credentials: { user: name, password: passwordOf(name) } });
  const { sha1 } = await owner.call(operations.createToken, {
    params: { username: name },
    body: { name: `crash-${made}`, scopes: [...scopes] },
  });
  const token = sha1 ?? '';
  return { token, client: createClient({ timeoutMs, url, credentials: { token } }) };
}
