import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe } from 'vitest';
import { createForgeInstance, type ForgeInstance } from '../../src/forge/forge.ts';
import { localHooks } from './hook-receiver.ts';
import { expectDifferences } from './known-differences.ts';
import { launcher } from './launcher.ts';
import { passwordCost } from './privilege-setup.ts';
import { realForge } from './real-forge.ts';
import { recordOperations } from './record-operations.ts';

recordOperations();

/** Forge on which the contract suite runs: the embedded one, or a real one given by the environment. */
export interface ContractForge {
  /** Address without a trailing slash; the API is below `/api/v1`. */
  readonly url: string;
  /** Token of a site administrator with every scope. */
  readonly adminToken: string;
  /** Sends one request with plain fetch and reads the complete response. Redirects are not followed. */
  ask(method: string, path: string, options?: Ask): Promise<Answer>;
  /** Like `ask`, but does not repeat a request whose response genuinely says to try again later. */
  askOnce(method: string, path: string, options?: Ask): Promise<Answer>;
  /** Creates a person with a new name, and with a token that has every scope. */
  makeUser(options?: { visibility?: string; restricted?: boolean }): Promise<Account>;
  /** Creates an organization that the account owns, and returns its name. */
  makeOrganization(owner: Account, options?: { visibility?: string }): Promise<string>;
  /** Creates a repository in the account or in one of its organizations. Returns `owner/name`. */
  makeRepository(owner: Account, options?: Record<string, unknown> & { in?: string }): Promise<string>;
  /** Makes a person a collaborator of a repository of the owner. */
  share(repository: string, owner: Account, options: { with: Account; permission: string }): Promise<void>;
  close(): Promise<void>;
}

export type Account = { readonly name: string; readonly password: string; readonly token: string };
export type Ask = {
  /** Account or token of the caller. Without it, the request is anonymous. */
  readonly as?: Account | string | undefined;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
};
export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Body parsed as JSON, or undefined if the body is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
};

/** All forges on which the suite currently runs: `describe.each(contractForges)('… on $name', ({ start }) => …)`. */
export const contractForges: readonly { readonly name: string; start(): Promise<ContractForge> }[] = [
  { name: 'the embedded forge', start: () => startEmbedded() },
  ...realForges(),
];

/**
 * Describes a subject of the contract on every forge on which the suite runs. The forge is started before the tests of
 * the subject and closed after them. `forge` may be used in hooks and tests.
 */
export function describeContract(subject: string, tests: (forge: ContractForge, name: string) => void): void {
  describe.each(contractForges)(`${subject} on $name`, ({ name, start }) => {
    const forge = {} as ContractForge;
    expectDifferences();
    beforeAll(async () => {
      Object.assign(forge, await start());
    });
    afterAll(() => forge.close());
    tests(forge, name);
  });
}

/**
 * Starts the embedded forge with access to its internals (`forge.deliveries`). `data` is a folder that keeps the
 * forge's files across a restart.
 */
export async function startEmbedded(
  options: { data?: string; features?: { localMirrors: boolean }; hookHosts?: readonly string[] } = {},
): Promise<ContractForge & { readonly forge: ForgeInstance }> {
  const forge = await createForgeInstance({
    passwordCost,
    launcher,
    clock: () => new Date(),
    features: { localMirrors: true },
    ...localHooks,
    ...options,
  });
  const url = await forge.listen();
  await forge.createAdministrator({ name: 'root', password: 'correct horse' });
  const token = await makeToken(url, 'root', 'correct horse');
  return { ...createContractForge(url, token, () => forge.close()), forge };
}

function realForges(): { name: string; start(): Promise<ContractForge> }[] {
  const real = realForge();
  if (real === undefined) return [];
  return [{ name: real.url, start: async () => createContractForge(real.url, real.token, async () => {}) }];
}

/** Returns a name that no earlier run has used. */
export function freshName(prefix: string): string {
  return `${prefix}-${randomBytes(5).toString('hex')}`;
}

function createContractForge(url: string, adminToken: string, close: () => Promise<void>): ContractForge {
  const askOnce = (method: string, path: string, options: Ask = {}): Promise<Answer> =>
    send(`${url}/api/v1${path}`, method, options);
  const ask = async (method: string, path: string, options: Ask = {}): Promise<Answer> => {
    const deadline = Date.now() + 240_000;
    for (;;) {
      const answer = await askOnce(method, path, options);
      if (!isUnfinished(answer) || Date.now() > deadline) return answer;
      await setTimeout(250);
    }
  };
  const must = async (method: string, path: string, options: Ask): Promise<Answer> => {
    const answer = await ask(method, path, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  };
  return {
    url,
    adminToken,
    ask,
    askOnce,
    close,
    async makeUser(options = {}) {
      const name = freshName('user');
      const password = randomBytes(12).toString('hex');
      const body = {
        username: name,
        email: `${name}@example.org`,
        password,
        must_change_password: false,
        ...options,
      };
      await must('POST', '/admin/users', { as: adminToken, body });
      return { name, password, token: await makeToken(url, name, password) };
    },
    async makeOrganization(owner, options = {}) {
      const username = freshName('org');
      await must('POST', '/orgs', { as: owner, body: { username, ...options } });
      return username;
    },
    async makeRepository(owner, { in: organization, ...options } = {}) {
      const path = organization === undefined ? '/user/repos' : `/orgs/${organization}/repos`;
      const body = { name: freshName('repo'), ...options };
      const answer = await must('POST', path, { as: owner, body });
      return answer.json.full_name;
    },
    async share(repository, owner, { with: other, permission }) {
      const path = `/repos/${repository}/collaborators/${other.name}`;
      await must('PUT', path, { as: owner, body: { permission } });
    },
  };
}

/**
 * Returns whether a real forge has not finished its background check of a pull request. Until the check is finished,
 * the forge refuses to merge.
 */
function isUnfinished({ status, text }: Answer): boolean {
  return status === 405 && text.includes('Please try again later');
}

/** Returns the header for Basic authentication. */
export function basic(name: string, password: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` };
}

async function makeToken(url: string, name: string, password: string): Promise<string> {
  const answer = await send(`${url}/api/v1/users/${name}/tokens`, 'POST', {
    headers: basic(name, password),
    body: { name: freshName('token'), scopes: ['all'] },
  });
  return answer.json.sha1;
}

async function send(address: string, method: string, { as, body, headers }: Ask): Promise<Answer> {
  const token = typeof as === 'object' ? as.token : as;
  const response = await fetch(address, {
    method,
    redirect: 'manual',
    headers: {
      ...(token === undefined ? {} : { authorization: `token ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A response in plain text is valid too; the test then reads `text`.
    return undefined;
  }
}
