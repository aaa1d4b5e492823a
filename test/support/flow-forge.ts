import { exec } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Client, createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { createForgeInstance, type ForgeInstance } from '../../src/forge/forge.ts';
import { passwordOf, type RealServer, realServer } from './flow-names.ts';
import type { FlowTemplate } from './flow-template.ts';
import { localHooks, startReceiver } from './hook-receiver.ts';
import { launcher } from './launcher.ts';
import { passwordCost } from './privilege-setup.ts';

/** Writes of the embedded forge are slow on a busy machine, so only a hanging request should reach this limit. */
const timeoutMs = 120_000;

/**
 * Forge on which a flow runs: the embedded forge, started for the flow, or the real server given by the environment.
 */
export interface FlowForge {
  /** Address without a trailing slash. */
  readonly url: string;
  /** Internals of the embedded forge; undefined for a real server. */
  readonly embedded: ForgeInstance | undefined;
  /** Creates an account, and returns a client that acts as this account. */
  makePerson(name: string, options?: PersonOptions): Promise<Client>;
  /** Creates a token of an account with only these scopes. `revoke` revokes the token. */
  makeToken(name: string, scopes: readonly string[]): Promise<{ token: string; revoke(): Promise<void> }>;
  /** Waits until past events have been sent to the hooks that receive them. */
  settle(): Promise<void>;
  /**
   * Stops the forge and starts it again with the same data. `between` runs while the forge is down, if the forge
   * permits that.
   */
  restart(): Promise<void>;
  /**
   * Removes what was created through this object: the accounts with everything they own, or the whole embedded forge.
   */
  close(): Promise<void>;
}

type PersonOptions = {
  readonly isAdministrator?: boolean;
  /** If true, the account reads non-public data only as a collaborator or team member. */
  readonly isRestricted?: boolean;
};

export type FlowForgeOptions = {
  /** Folder of the embedded forge. */
  readonly data: string;
  readonly clock?: () => Date;
  readonly control?: boolean;
  /** By default, the environment decides. */
  readonly on?: 'the embedded forge' | undefined;
  /** Initial state of the embedded forge. Its accounts already exist when `makePerson` is called for them. */
  readonly template?: FlowTemplate | undefined;
};

/** Starts the embedded forge or connects to the real server. No other function decides between the two. */
export async function startFlowForge(options: FlowForgeOptions): Promise<FlowForge> {
  return realServer && options.on === undefined ? useReal(realServer) : startEmbedded(options);
}

/** Returns the address of a repository for git, including the credentials of a person. */
export function gitAddress(url: string, name: string, repository: string): string {
  const address = new URL(`/${repository}.git`, url);
  address.username = name;
  address.password = passwordOf(name);
  return address.href;
}

async function makeToken(url: string, name: string, scopes: readonly string[]) {
  const owner = createClient({ timeoutMs, url, credentials: { user: name, password: passwordOf(name) } });
  const made = await owner.call(operations.createToken, {
    params: { username: name },
    body: { name: `flow-${randomBytes(4).toString('hex')}`, scopes: [...scopes] },
  });
  const revoke = async (): Promise<void> => {
    await owner.call(operations.deleteToken, { params: { username: name, token: String(made.id) } });
  };
  return { token: made.sha1 ?? '', revoke };
}

const accountOf = (username: string) => ({
  username,
  password: passwordOf(username),
  email: `${username}@example.org`,
  must_change_password: false,
});

async function startEmbedded({
  data,
  clock = () => new Date(),
  control = false,
  template,
}: FlowForgeOptions) {
  const options = { clock, data: join(data, 'forge'), control, ...localHooks };
  template?.copyTo(options.data);
  let forge = await createForgeInstance({ passwordCost, launcher, ...options });
  const url = await forge.listen({ port: 0 });
  const as = (user: string): Client =>
    createClient({
      timeoutMs,
      url,
      credentials: { user, password: passwordOf(user) },
      sleep: async () => {},
    });
  const [first] = template?.people ?? [];
  let administrator = first === undefined ? undefined : as(first);
  const addPerson = async (name: string, isAdministrator: boolean): Promise<void> => {
    if (isAdministrator || administrator === undefined) {
      await forge.createAdministrator({ name, password: passwordOf(name) });
      administrator = as(name);
    } else await administrator.call(operations.createUser, { body: accountOf(name) });
  };
  const flow: FlowForge = {
    url,
    get embedded() {
      return forge;
    },
    async makePerson(name, { isAdministrator = false, isRestricted = false } = {}) {
      if (!template?.people.includes(name)) await addPerson(name, isAdministrator);
      if (isRestricted && administrator) await restrict(administrator, name);
      return as(name);
    },
    makeToken: (name, scopes) => makeToken(url, name, scopes),
    settle: () => forge.deliveries.idle(),
    async restart() {
      await forge.close();
      forge = await createForgeInstance({ passwordCost, launcher, ...options, rootUrl: url });
      await forge.listen({ port: Number(new URL(url).port) });
    },
    close: () => forge.close(),
  };
  return flow;
}

function useReal({ url, adminToken, restartCommand }: RealServer): FlowForge {
  const administrator = createClient({ url, credentials: { token: adminToken }, timeoutMs: 60_000 });
  const made: string[] = [];
  let barrier: DeliveryBarrier | undefined;
  const flow: FlowForge = {
    url,
    embedded: undefined,
    async makePerson(name, { isAdministrator = false, isRestricted = false } = {}) {
      await administrator.call(operations.createUser, { body: accountOf(name) });
      made.push(name);
      if (isRestricted) await restrict(administrator, name);
      if (isAdministrator) {
        const body = { login_name: name, source_id: 0, admin: true };
        await administrator.call(operations.editUser, { params: { username: name }, body });
      }
      // Uses a token, because a server takes a long time to check a password.
      const { token } = await makeToken(url, name, ['all']);
      return createClient({ url, credentials: { token }, timeoutMs: 60_000 });
    },
    makeToken: (name, scopes) => makeToken(url, name, scopes),
    async settle() {
      barrier ??= await createDeliveryBarrier(
        await flow.makePerson(`barrier-${randomBytes(4).toString('hex')}`),
      );
      // A push queues its events in two steps, and events of the second step are queued behind the first barrier.
      for (let round = 0; round < 2; round += 1) {
        await sleep(150);
        await barrier.wait();
      }
    },
    async restart() {
      if (restartCommand === undefined) throw new Error('FORGE_RESTART names no command');
      await promisify(exec)(restartCommand, { timeout: 120_000 });
    },
    async close() {
      await barrier?.close();
      for (const username of made.toReversed()) await purge(administrator, username);
    },
  };
  return flow;
}

async function restrict(administrator: Client, name: string): Promise<void> {
  const body = { login_name: name, source_id: 0, restricted: true };
  await administrator.call(operations.editUser, { params: { username: name }, body });
}

/** Removes an account with its repositories and the organizations that only it owns. */
async function purge(administrator: Client, username: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await administrator.call(operations.deleteUser, { params: { username }, query: { purge: true } });
      return;
    } catch (error) {
      // SQLite on a busy server sometimes refuses the request.
      if (tries === 5) throw error;
      await sleep(200 * tries);
    }
  }
}

/**
 * Separate hook on a real server. The server sends everything through one queue, so once a test delivery has arrived
 * here, everything queued before it has been sent as well.
 */
interface DeliveryBarrier {
  /** Requests a test delivery and waits for it. */
  wait(): Promise<void>;
  close(): Promise<void>;
}

const barrierTimeoutMs = 240_000;

/** Creates a repository with a hook as this person, and a receiver for the hook. */
async function createDeliveryBarrier(person: Client): Promise<DeliveryBarrier> {
  const receiver = await startReceiver();
  const { login } = await person.call(operations.getSelf, {});
  await person.call(operations.createRepository, { body: { name: 'barrier', auto_init: true } });
  const params = { owner: login, repo: 'barrier' };
  const hook = await person.call(operations.createHook, {
    params,
    body: {
      type: 'gitea',
      active: true,
      // A test delivery is a push, so a hook without push events would receive nothing.
      events: ['push'],
      config: { url: receiver.url, content_type: 'json' },
    },
  });
  return {
    async wait() {
      const before = receiver.received.length;
      await person.call(operations.testHook, { params: { ...params, id: hook.id } });
      const deadline = performance.now() + barrierTimeoutMs;
      while (receiver.received.length === before) {
        if (performance.now() > deadline) throw new Error('the server sent no test delivery');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    close: () => receiver.close(),
  };
}
