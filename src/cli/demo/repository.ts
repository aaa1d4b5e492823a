import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient } from '../../client/client.ts';
import type { Operation } from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import type { Repository } from '../../contract/resources/repositories.ts';
import { ReeveError } from '../../platform/errors.ts';

/**
 * The secrets of a demo. They are generated once and stored in `demo.env`, so that a restart finds the same accounts.
 */
type DemoSecrets = {
  readonly rootPassword: string;
  readonly adaPassword: string;
  readonly reevePassword: string;
  /** The bot's access token; empty until the token is created. */
  readonly reeveToken: string;
  readonly authorization: string;
  readonly secret: string;
};

const names: Readonly<Record<keyof DemoSecrets, string>> = {
  rootPassword: 'DEMO_ROOT_PASSWORD',
  adaPassword: 'DEMO_ADA_PASSWORD',
  reevePassword: 'DEMO_BOT_PASSWORD',
  reeveToken: 'DEMO_BOT_TOKEN',
  authorization: 'DEMO_AUTHORIZATION',
  secret: 'DEMO_SECRET',
};

/** Returns the path of the file with the demo's secrets. */
function demoFile(data: string): string {
  return join(data, 'demo.env');
}

/** Returns the secrets from the demo's file, or new ones if the file is missing. */
export function readDemoSecrets(data: string): DemoSecrets {
  const path = demoFile(data);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  const known = new Map(
    lines.map((line) => [line.slice(0, line.indexOf('=')), unquote(line.slice(line.indexOf('=') + 1))]),
  );
  const secrets = Object.entries(names).map(([member, name]) => [
    member,
    known.get(name) ?? makeDemoSecret(member),
  ]);
  // `secrets` contains every member of the table.
  return Object.fromEntries(secrets) as DemoSecrets;
}

function makeDemoSecret(member: string): string {
  if (member === 'reeveToken') return '';
  const random = randomBytes(24).toString('hex');
  return member === 'authorization' ? `Bearer ${random}` : random;
}

function unquote(text: string): string {
  return text.replace(/^'(.*)'$/, '$1');
}

/** Writes the demo's file in shell syntax, with read access only for its owner. */
export async function writeDemoFile(
  data: string,
  secrets: DemoSecrets,
  urls: { forge: string; webhook: string },
): Promise<string> {
  const path = demoFile(data);
  const lines = [
    '# Made by `reeve serve` without FORGE_URL. Load it into a shell with:  . PATH/demo.env',
    `DEMO_URL='${urls.forge}'`,
    `DEMO_REPOSITORY='${urls.forge}/acme/demo.git'`,
    `DEMO_WEBHOOK_URL='${urls.webhook}'`,
    "DEMO_ROOT='root'",
    "DEMO_ADA='ada'",
    "DEMO_BOT='reeve'",
    ...Object.entries(names).map(([member, name]) => `${name}='${secrets[member as keyof DemoSecrets]}'`),
  ];
  await writeFile(`${path}.new`, `${lines.join('\n')}\n`, { mode: 0o600 });
  await chmod(`${path}.new`, 0o600);
  await rename(`${path}.new`, path);
  return path;
}

/** The accounts of the demo, each with its client. */
export type People = { readonly root: Client; readonly ada: Client; readonly reeve: Client };

export const at = { owner: 'acme', repo: 'demo' } as const;

const labels = [
  { name: 'area/docs', color: '0075ca' },
  { name: 'area/code', color: '1d76db' },
  { name: 'size/L', color: 'd93f0b' },
  { name: 'help wanted', color: '008672' },
];

/**
 * Creates the accounts ada (a human user) and reeve (the bot) if they are missing. The administrator root already
 * exists.
 */
export async function findOrCreatePeople(url: string, secrets: DemoSecrets): Promise<People> {
  const as = (user: string, password: string): Client =>
    createClient({ url, credentials: { user, password } });
  const people = {
    root: as('root', secrets.rootPassword),
    ada: as('ada', secrets.adaPassword),
    reeve: as('reeve', secrets.reevePassword),
  };
  for (const [username, password] of [
    ['ada', secrets.adaPassword],
    ['reeve', secrets.reevePassword],
  ] as const) {
    await findOr(people.root, operations.getUser, { params: { username } }, () =>
      people.root.call(operations.createUser, {
        body: { username, password, email: `${username}@example.org`, must_change_password: false },
      }),
    );
    await people[username].call(operations.getSelf, {}).catch((cause: unknown) => {
      throw new ReeveError(
        'settings',
        `the demo's account ${username} has another password than demo.env says: remove the data folder and start again`,
        { cause },
      );
    });
  }
  return people;
}

const tokenName = 'reeve-demo';
/**
 * Minimum scopes for the demo's rules: read the account, changed files and labels of the organization, and set labels.
 */
const tokenScopes = ['read:user', 'read:repository', 'write:issue', 'read:organization'];

/** Returns an access token of the bot: the known token if it works, otherwise a new one. */
export async function findOrCreateToken(url: string, people: People, known: string): Promise<string> {
  if (known !== '') {
    const works = await createClient({ url, credentials: { token: known } })
      .call(operations.getSelf, {})
      .catch(() => undefined); // Whatever is wrong with it, a new one is made.
    if (works) return known;
  }
  const params = { username: 'reeve' };
  for await (const token of people.reeve.items(operations.listTokens, { params })) {
    if (token.name !== tokenName) continue;
    await people.reeve.call(operations.deleteToken, { params: { ...params, token: tokenName } });
  }
  const made = await people.reeve.call(operations.createToken, {
    params,
    body: { name: tokenName, scopes: tokenScopes },
  });
  return made.sha1 ?? '';
}

/** Creates organization, repository, labels, collaborators and the star if they are missing. */
export async function findOrCreateRepository(people: People): Promise<Repository> {
  const { root } = people;
  await findOr(root, operations.getOrganization, { params: { org: at.owner } }, () =>
    root.call(operations.createOrganization, { body: { username: at.owner, full_name: 'Acme' } }),
  );
  await findOr(root, operations.getRepository, { params: at }, () =>
    root.call(operations.createOrganizationRepository, {
      params: { org: at.owner },
      body: {
        name: at.repo,
        auto_init: true,
        default_branch: 'main',
        description: 'What Reeve is shown with.',
      },
    }),
  );
  const known = new Set<string>();
  for await (const label of root.items(operations.listLabels, { params: at })) known.add(label.name);
  for (const label of labels) {
    if (!known.has(label.name)) await root.call(operations.createLabel, { params: at, body: label });
  }
  for (const collaborator of ['ada', 'reeve']) {
    await root.call(operations.putCollaborator, {
      params: { ...at, collaborator },
      body: { permission: 'write' },
    });
  }
  await people.reeve.call(operations.star, { params: at });
  return root.call(operations.getRepository, { params: at });
}

/** Pushes the rule file to the repository as `.reeve.yml` if it is missing or differs. */
export async function pushRules(root: Client, text: string): Promise<'made' | 'changed' | 'there'> {
  const params = { ...at, filepath: '.reeve.yml' };
  const content = Buffer.from(text).toString('base64');
  const live = await root.call(operations.getContents, { params }).catch((error: unknown) => {
    if (error instanceof ReeveError && error.code === 'forge-not-found') return undefined;
    throw error;
  });
  if (live === undefined) {
    await root.call(operations.createFile, { params, body: { content, message: 'Rules for labels' } });
    return 'made';
  }
  if (Array.isArray(live) || live.content === content) return 'there';
  const body = { content, message: 'Change the rules for labels', sha: live.sha ?? '' };
  await root.call(operations.updateFile, { params, body });
  return 'changed';
}

/** Creates the hook that delivers all events of the repository to Reeve, or updates an existing one. */
export async function findOrCreateHook(root: Client, url: string, secrets: DemoSecrets): Promise<number> {
  const events = ['push', 'create', 'delete', 'issues', 'issue_comment', 'pull_request', 'repository'];
  const rest = { events, active: true, branch_filter: '*', authorization_header: secrets.authorization };
  for await (const hook of root.items(operations.listHooks, { params: at })) {
    // The port may differ from that of the last start; the path identifies the hook.
    if (!hook.config?.url?.endsWith('/webhook')) continue;
    await root.call(operations.editHook, {
      params: { ...at, id: hook.id },
      body: { ...rest, config: { url, content_type: 'json' } },
    });
    return hook.id;
  }
  const config = { url, content_type: 'json', secret: secrets.secret };
  const hook = await root.call(operations.createHook, {
    params: at,
    body: { type: 'gitea', config, ...rest },
  });
  return hook.id;
}

async function findOr(
  client: Client,
  get: Operation,
  input: object,
  create: () => Promise<unknown>,
): Promise<void> {
  try {
    await client.send(get, input);
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code !== 'forge-not-found') throw error;
    await create();
  }
}
