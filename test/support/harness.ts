import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../../src/client/client.ts';
import type { Credentials } from '../../src/client/credentials.ts';
import { operations } from '../../src/contract/operations.ts';
import type { PullRequest } from '../../src/contract/resources/pulls.ts';
import type { Run } from '../../src/engine/record.ts';
import { silentLog } from '../../src/platform/log.ts';
import { type Server, type ServerOptions, startServer } from '../../src/server/server.ts';
import { authorization, createBotHook, type HookLevel, secret } from './bot-hook.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { type FlowForge, type FlowForgeOptions, gitAddress, startFlowForge } from './flow-forge.ts';
import { at, people, realServer, timeoutMs } from './flow-names.ts';
import { type FlowTemplate, flowTemplate } from './flow-template.ts';

export { authorization, secret } from './bot-hook.ts';
export { acme, at, people } from './flow-names.ts';

/** What the bot's token may do where a flow says nothing else: the least that labels and comments need. */
export const minimalScopes = ['read:user', 'read:organization', 'read:repository', 'write:issue'] as const;

/** What statuses, protections, dismissals and hooks need beside the least: they stand in repositories. */
export const repositoryScopes = [...minimalScopes, 'write:repository'] as const;

/** A whole journey: a forge, a proxy before it, the bot, and people. */
export type Harness = {
  readonly forge: FlowForge;
  readonly proxy: FaultProxy;
  readonly root: Client;
  readonly ada: Client;
  /** The bot's account with all it may do, to arrange things; the server has a token of its own. */
  readonly bot: Client;
  /** The token that the server acts with. */
  readonly token: string;
  readonly data: string;
  /** Folder of the operator's rules, where there is one. */
  readonly rules: string | undefined;
  readonly runs: Run[];
  readonly server: Server;
  /** What a command needs to act as the server does. */
  readonly environment: Readonly<Record<string, string>>;
  /** Stops the bot and starts it again on the same data; `between` runs while it is away. */
  restart(options?: { between?: () => Promise<unknown> }): Promise<void>;
  /** Takes the server's token back. */
  revokeToken(): Promise<void>;
  /** Makes another token for the server's next start. */
  renewToken(): Promise<void>;
  /** Waits for the run that `matches`, among those there are and those to come. */
  waitForRun(matches: (run: Run) => boolean): Promise<Run>;
  /** Waits until the forge has sent what happened, and the bot has nothing to do. */
  idle(): Promise<void>;
  labelsOf(index: number): Promise<readonly string[]>;
  setRules(yaml: string): Promise<void>;
  /** Does something that pushes and waits until the bot has heard of it. */
  waitForPush(push: () => Promise<unknown>): Promise<void>;
  /** Returns the address a person clones a repository from, with credentials. */
  cloneFrom(name: string, repository?: string): string;
  /** Puts files on a new branch and opens a pull request from it as ada. */
  openPull(
    branch: string,
    files: Readonly<Record<string, string>>,
    labels?: readonly string[],
  ): Promise<PullRequest>;
  close(): Promise<void>;
};

export type HarnessOptions = {
  /** Rules of the repository. */
  readonly rules?: string;
  readonly labels?: readonly string[];
  readonly server?: Partial<ServerOptions>;
  /** Reads the file of the server's token again; default: there is none. */
  readonly readCredentials?: () => Credentials | undefined;
  /** Whether the bot's account is restricted; default: whether `FLOW_ACCOUNT` is `restricted`. */
  readonly isRestricted?: boolean;
  /** What the bot may do in the repository; default: write. */
  readonly access?: 'write' | 'admin';
  /** What the server's token may do; default: `leastScopes`. */
  readonly scopes?: readonly string[];
  /** Where the hook stands; default: at the repository. */
  readonly hook?: HookLevel;
  /** Default: what the environment says. */
  readonly on?: FlowForgeOptions['on'];
};

const usualLabels = ['area/docs', 'area/code', 'kept'];

/** Makes an organization and its repository, in which ada and the bot may write, with labels. */
async function arrangeRepository(root: Client, bot: Client, labels = usualLabels as readonly string[]) {
  await root.call(operations.createOrganization, { body: { username: at.owner } });
  await root.call(operations.createOrganizationRepository, {
    params: { org: at.owner },
    body: { name: at.repo, auto_init: true, default_branch: 'main' },
  });
  for (const collaborator of [people.ada, people.bot]) {
    const params = { ...at, collaborator };
    await root.call(operations.putCollaborator, { params, body: { permission: 'write' } });
  }
  await createLabels(root, labels);
  await bot.call(operations.star, { params: at });
}

async function createLabels(root: Client, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await root.call(operations.createLabel, { params: at, body: { name, color: 'ff0000' } });
  }
}

/** Returns what an embedded forge begins with: all that no flow asks to be different. A real server begins empty. */
async function templateOf({ on, labels }: HarnessOptions): Promise<FlowTemplate | undefined> {
  if (realServer && on === undefined) return undefined;
  return flowTemplate(labels ? 'without labels' : 'with labels', async (data) => {
    const forge = await startFlowForge({ data, on: 'the embedded forge' });
    const root = await forge.makePerson(people.root, { isAdministrator: true });
    await forge.makePerson(people.ada);
    const bot = await forge.makePerson(people.bot);
    await arrangeRepository(root, bot, labels ? [] : usualLabels);
    await forge.close();
    return [people.root, people.ada, people.bot];
  });
}

/** Starts forge, proxy and bot: an organization, its repository demo with labels and rules, a hook that points to the bot. */
export async function startHarness(options: HarnessOptions = {}): Promise<Harness> {
  const data = await mkdtemp(join(tmpdir(), 'reeve-flow-'));
  const template = await templateOf(options);
  const forge = await startFlowForge({ data, on: options.on, template });
  const proxy = await startFaultProxy(forge.url);
  const root = await forge.makePerson(people.root, { isAdministrator: true });
  const ada = await forge.makePerson(people.ada);
  const isRestricted = options.isRestricted ?? process.env.FLOW_ACCOUNT === 'restricted';
  const bot = await forge.makePerson(people.bot, { isRestricted });
  if (template === undefined) await arrangeRepository(root, bot, options.labels);
  if (options.access === 'admin') {
    const params = { ...at, collaborator: people.bot };
    await root.call(operations.putCollaborator, { params, body: { permission: 'admin' } });
  }
  if (template !== undefined) await createLabels(root, options.labels ?? []);

  const runs: Run[] = [];
  const listeners = new Set<() => void>();
  const scopes = options.scopes ?? minimalScopes;
  let held = await forge.makeToken(people.bot, scopes);
  const start = (port: number): Promise<Server> =>
    startServer({
      forge: {
        url: proxy.url,
        credentials: { token: held.token },
        ...(options.readCredentials ? { readCredentials: options.readCredentials } : {}),
      },
      secrets: [{ name: 'test', scope: ['*'], authorization: [authorization], hmac: [secret] }],
      data,
      repositories: [],
      allowAdmin: false,
      host: '127.0.0.1',
      port,
      log: silentLog,
      backoff: { firstMs: 200 },
      // Tests move the clock, and run commands beside the server: what they wait for comes at the next poll.
      pollMs: 100,
      ...options.server,
      onRun: (run) => {
        runs.push(run);
        for (const listener of listeners) listener();
      },
    });
  let server = await start(0);
  const unhook = await createBotHook(options.hook ?? 'repository', { root, ada }, `${server.url}/webhook`);

  /**
   * Pushes and waits until the bot has heard of it. A server tells pushes later than everything else: what
   * happens next would otherwise be told before, or a branch that has a pull request by then would count as pushed again.
   */
  const pushed = async (push: () => Promise<unknown>): Promise<void> => {
    const pushes = async (): Promise<number> => {
      const { items } = await server.store.listDeliveries({ search: 'push', limit: 500 });
      return items.filter(({ eventType }) => eventType === 'push').length;
    };
    const before = await pushes();
    await push();
    const deadline = performance.now() + timeoutMs;
    while (options.hook !== 'none' && (await pushes()) === before) {
      if (performance.now() > deadline) throw new Error('the bot has heard of no push');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  const harness: Harness = {
    forge,
    proxy,
    root,
    ada,
    bot,
    data,
    rules: options.server?.rules,
    runs,
    get server() {
      return server;
    },
    get token() {
      return held.token;
    },
    get environment() {
      return {
        FORGE_URL: proxy.url,
        FORGE_TOKEN: held.token,
        WEBHOOK_AUTHORIZATION: authorization,
        REEVE_DATA: data,
      };
    },
    async restart({ between } = {}) {
      const { port } = new URL(server.url);
      await server.stop();
      await between?.();
      server = await start(Number(port));
    },
    revokeToken: () => held.revoke(),
    async renewToken() {
      held = await forge.makeToken(people.bot, scopes);
    },
    waitForPush: pushed,
    cloneFrom: (name, repository = `${at.owner}/${at.repo}`) => gitAddress(forge.url, name, repository),
    waitForRun: (matches) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          listeners.delete(look);
          reject(new Error(`no such run; seen: ${JSON.stringify(runs.map((run) => run.trigger))}`));
        }, timeoutMs);
        const look = (): void => {
          const found = runs.find(matches);
          if (!found) return;
          clearTimeout(timer);
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
      }),
    async idle() {
      await forge.settle();
      for (let still = 0; still < 3; ) {
        const { accepted, claimed } = await server.store.counts();
        still = accepted + claimed === 0 ? still + 1 : 0;
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
    },
    async labelsOf(index) {
      const labels = await ada.call(operations.listIssueLabels, { params: { ...at, index } });
      return labels.map((label) => label.name);
    },
    async setRules(yaml) {
      const params = { ...at, filepath: '.reeve.yml' };
      const content = Buffer.from(yaml).toString('base64');
      const live = await root.call(operations.getContents, { params }).catch(() => undefined);
      const sha = live === undefined || Array.isArray(live) ? undefined : (live.sha ?? '');
      const body = { content, message: 'rules' };
      await pushed(() =>
        sha === undefined
          ? root.call(operations.createFile, { params, body })
          : root.call(operations.updateFile, { params, body: { ...body, sha } }),
      );
    },
    async openPull(branch, files, labels = []) {
      let isFirst = true;
      for (const [filepath, text] of Object.entries(files)) {
        const on = isFirst ? { branch: 'main', new_branch: branch } : { branch };
        isFirst = false;
        const body = { ...on, content: Buffer.from(text).toString('base64'), message: `Add ${filepath}` };
        await pushed(() => ada.call(operations.createFile, { params: { ...at, filepath }, body }));
      }
      const known = await root.call(operations.listLabels, { params: at });
      const ids = known.filter(({ name }) => labels.includes(name)).map(({ id }) => id);
      return ada.call(operations.createPull, {
        params: at,
        body: { title: `From ${branch}`, head: branch, base: 'main', labels: ids },
      });
    },
    async close() {
      await unhook();
      await server.stop();
      await proxy.close();
      await forge.close();
      await rm(data, { recursive: true, force: true });
    },
  };
  if (options.rules !== undefined) await harness.setRules(options.rules);
  return harness;
}
