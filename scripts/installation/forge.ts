import type { ChildProcess } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { start, waitForOutput } from '../../test/support/command.ts';

/** The repository of an installation. */
export const at = { owner: 'acme', repo: 'demo' } as const;

const [botName, administrator] = ['reeve', 'root'] as const;
const passwordOf = (name: string): string => `${name}-password`;
/** On a busy machine, a write of the forge takes long: only a request that hangs ends here. */
const timeoutMs = 120_000;

/** Starts an embedded forge in `folder` as a process of its own; port 0: a free one. */
export async function startForge(
  folder: string,
  port: number,
): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const data = join(folder, 'forge');
  await mkdir(data, { recursive: true });
  const admin = `${administrator}:${passwordOf(administrator)}`;
  const child = start(['forge', '--port', String(port), '--data', data, '--admin', admin, '--json'], {
    environment: { TMPDIR: folder },
  });
  const url = /"url":"([^"]+)"/.exec(await waitForOutput(child, /"url":"[^"]+"/))?.[1] ?? '';
  // A pipe that is full stops its writer.
  child.stdout?.resume();
  child.stderr?.resume();
  return { child, url };
}

/** What a new forge has after `arrangeForge`. */
export type ArrangedForge = {
  /** The administrator. */
  readonly root: Client;
  /** The token of the bot. */
  readonly token: string;
  readonly repositoryId: number;
};

/** Makes the account of the bot, its token, and the repository with its labels. */
export async function arrangeForge(url: string, labels: readonly string[]): Promise<ArrangedForge> {
  const clientOf = (user: string): Client =>
    createClient({ url, timeoutMs, credentials: { user, password: passwordOf(user) } });
  const root = clientOf(administrator);
  const body = {
    username: botName,
    password: passwordOf(botName),
    email: `${botName}@example.org`,
    must_change_password: false,
  };
  await root.call(operations.createUser, { body });
  await root.call(operations.createOrganization, { body: { username: at.owner } });
  const { id } = await root.call(operations.createOrganizationRepository, {
    params: { org: at.owner },
    body: { name: at.repo, auto_init: true, default_branch: 'main' },
  });
  const params = { ...at, collaborator: botName };
  await root.call(operations.putCollaborator, { params, body: { permission: 'write' } });
  for (const name of labels)
    await root.call(operations.createLabel, { params: at, body: { name, color: 'ff0000' } });
  const { sha1 } = await clientOf(botName).call(operations.createToken, {
    params: { username: botName },
    body: {
      name: 'reeve',
      scopes: ['read:user', 'read:organization', 'write:repository', 'write:issue'],
    },
  });
  return { root, token: sha1 ?? '', repositoryId: id };
}

/** Lets the forge send what happens in the repository to Reeve. */
export async function createHook(
  root: Client,
  url: string,
  { authorization, secret }: { readonly authorization: string; readonly secret: string },
): Promise<void> {
  const body = {
    type: 'gitea',
    active: true,
    events: ['push', 'issues', 'issue_comment', 'pull_request'],
    config: { url, content_type: 'json', secret },
    authorization_header: authorization,
  } as const;
  await root.call(operations.createHook, { params: at, body: { ...body, events: [...body.events] } });
}
