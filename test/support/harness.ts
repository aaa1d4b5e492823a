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

/** Default scopes of the bot's token in flows: the minimum for labels and comments. */
export const minimalScopes = ['read:user', 'read:organization', 'read:repository', 'write:issue'] as const;

/** Minimum scopes, plus the scope for statuses, protections, dismissals and hooks, which belong to repositories. */
export const repositoryScopes = [...minimalScopes, 'write:repository'] as const;

/** Complete setup: a forge, a proxy in front of it, the bot, and people. */
export type Harness = {
  readonly forge: FlowForge;
  readonly proxy: FaultProxy;
  readonly root: Client;
  readonly ada: Client;
  /** Client of the bot's account with full access, for preparing a test. The server uses a separate token. */
  readonly bot: Client;
  /** Token that the server uses. */
  readonly token: string;
  readonly data: string;
  /** Folder of the operator's rules, if there is one. */
  readonly rules: string | undefined;
  readonly runs: Run[];
  readonly server: Server;
  /** Environment that makes a command act like the server. */
  readonly environment: Readonly<Record<string, string>>;
  /** Stops the bot and starts it again with the same data. `between` runs while the bot is stopped. */
  restart(options?: { between?: () => Promise<unknown> }): Promise<void>;
  /** Revokes the server's token. */
  revokeToken(): Promise<void>;
  /** Creates another token for the server's next start. */
  renewToken(): Promise<void>;
  /** Waits for a run for which `matches` is true, among existing and future runs. */
  waitForRun(matches: (run: Run) => boolean): Promise<Run>;
  /** Waits until the forge has sent its events, and the bot has nothing to do. */
  idle(): Promise<void>;
  labelsOf(index: number): Promise<readonly string[]>;
  setRules(yaml: string): Promise<void>;
  /** Runs a function that pushes, and waits until the bot has received the push. */
  waitForPush(push: () => Promise<unknown>): Promise<void>;
  /** Returns the address from which a person clones a repository, including credentials. */
  cloneFrom(name: string, repository?: string): string;
  /** Commits files to a new branch and opens a pull request from it as ada. */
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
  /** Reads the file with the server's token again. By default, there is no such file. */
  readonly readCredentials?: () => Credentials | undefined;
  /** Whether the bot's account is restricted. By default, it is if `FLOW_ACCOUNT` is `restricted`. */
  readonly isRestricted?: boolean;
  /** Access of the bot to the repository. Default: write. */
  readonly access?: 'write' | 'admin';
  /** Scopes of the server's token; default: `minimalScopes`. */
  readonly scopes?: readonly string[];
  /** Level of the hook; default: repository. */
  readonly hook?: HookLevel;
  /** By default, the environment decides. */
  readonly on?: FlowForgeOptions['on'];
};

const usualLabels = ['area/docs', 'area/code', 'kept'];

/** Creates an organization and a repository with labels. ada and the bot may write to the repository. */
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

/**
 * Returns the initial state of an embedded forge, with everything that all flows have in common. A real server starts
 * empty.
 */
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

/**
 * Starts forge, proxy and bot, and creates an organization, its repository `demo` with labels and rules, and a hook
 * that points to the bot.
 */
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
      // Tests move the clock and run commands next to the server, and the effects appear at the next poll.
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
   * Pushes and waits until the bot has received the push. A server sends pushes later than other events. Without the
   * wait, later events might arrive first, or the branch might have a pull request by then, and the push would count as
   * a push to that pull request.
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
