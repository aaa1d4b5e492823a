/** Account of the forge, with its credentials. */
export type ForgeAccount = {
  readonly name: string;
  readonly password: string;
  /** An access token with every scope. */
  readonly token: string;
};

/** Options of an embedded forge. */
export type ForgeOptions = {
  /** The port on 127.0.0.1; default 0: a free one. */
  readonly port?: number;
  /**
   * Folder of the database and the repositories, kept when the forge is closed; default: a temporary folder, which is
   * deleted.
   */
  readonly data?: string;
  /**
   * Initial content of the forge: the text of a seed file (YAML or JSON), or the same content as an object. `reeve
   * forge --seed-schema` prints the JSON Schema.
   */
  readonly seed?: string | object;
  /**
   * Hosts with private addresses that the hooks of every account may reach: names, addresses, networks, or `loopback`.
   * Default: `['loopback']`, where the receivers of a test listen. The hooks of the site administrator may reach any
   * address.
   */
  readonly hookHosts?: readonly string[];
  /** The clock of the forge; default: the system clock of this machine. */
  readonly now?: () => Date;
};

/** A running forge. */
export interface Forge {
  /** Base URL of the web pages and of git: `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string;
  /** Base URL of the API: `url` with `/api/v1` appended. */
  readonly apiUrl: string;
  /** The site administrator, `root`. */
  readonly admin: ForgeAccount;
  /** Creates an account. Rejects with the forge's error message, for example if the name is taken. */
  createAccount(name: string): Promise<ForgeAccount>;
  /** Resolves once every webhook caused so far has been sent and answered, or given up. */
  idle(): Promise<void>;
  /** Stops the forge and frees its port. Deletes its folder if that is a temporary one. */
  close(): Promise<void>;
}

/**
 * Starts an embedded forge in this process: a service with Gitea's API, git over HTTP, webhooks and pages. It listens
 * only on 127.0.0.1, and needs git 2.38 or later in the PATH.
 */
export async function createForge(options: ForgeOptions = {}): Promise<Forge> {
  const { randomBytes } = await import('node:crypto');
  const { createForgeInstance } = await import('../forge/forge.ts');
  const { port = 0, data, hookHosts = ['loopback'], now = () => new Date() } = options;
  const seed = options.seed === undefined ? undefined : await readSeed(options.seed);
  // A temporary forge is for tests and stores no password that a slow hash would have to protect.
  const passwordCost = data === undefined ? 1_024 : undefined;
  const forge = await createForgeInstance({ clock: now, data, seed, hookHosts, passwordCost });
  try {
    const password = randomBytes(18).toString('base64url');
    await forge.createAdministrator({ name: 'root', password });
    const url = await forge.listen({ port });
    const admin = { name: 'root', password, token: await replaceToken(url, { name: 'root', password }) };
    return {
      url,
      apiUrl: `${url}/api/v1`,
      admin,
      async createAccount(name) {
        const account = { name, password: randomBytes(18).toString('base64url') };
        await send(url, {
          path: '/admin/users',
          authorization: `token ${admin.token}`,
          body: {
            username: name,
            email: `${name}@example.invalid`,
            password: account.password,
            must_change_password: false,
          },
        });
        return { ...account, token: await replaceToken(url, account) };
      },
      idle: () => forge.deliveries.idle(),
      close: () => forge.close(),
    };
  } catch (error) {
    await forge.close();
    throw error;
  }
}

async function readSeed(given: string | object) {
  const { parseSeed } = await import('../forge/testing/seed-shape.ts');
  const read = parseSeed(typeof given === 'string' ? given : JSON.stringify(given), 'seed');
  if ('problems' in read) throw new Error(`the seed cannot be used\n${read.problems.join('\n')}`);
  return read;
}

const tokenName = 'createForge';

/** Creates a token for an account and replaces the token that an earlier start on the same folder created. */
async function replaceToken(url: string, { name, password }: Omit<ForgeAccount, 'token'>): Promise<string> {
  const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  const path = `/users/${encodeURIComponent(name)}/tokens`;
  await send(url, { method: 'DELETE', path: `${path}/${tokenName}`, authorization, mayMiss: true });
  const created = await send(url, { path, authorization, body: { name: tokenName, scopes: ['all'] } });
  const { sha1 } = created as { readonly sha1: string };
  return sha1;
}

/** Sends a request to the API and returns its response as JSON. Rejects with the forge's error message. */
async function send(
  url: string,
  request: {
    readonly method?: string;
    readonly path: string;
    readonly authorization: string;
    readonly body?: object;
    /** Whether a 404 response is valid. */
    readonly mayMiss?: boolean;
  },
): Promise<unknown> {
  const { method = 'POST', path, authorization, body, mayMiss = false } = request;
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.ok || (mayMiss && response.status === 404)) return text === '' ? undefined : JSON.parse(text);
  throw new Error(`the forge answers ${method} ${path} with ${response.status}: ${text}`);
}
