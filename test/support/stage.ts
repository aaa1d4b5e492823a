import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import type { PullRequest } from '../../src/contract/pulls.ts';
import type { Run } from '../../src/engine/record.ts';
import { createForge, type Forge } from '../../src/forge/forge.ts';
import { silentLog } from '../../src/log.ts';
import { type Server, type ServerOptions, startServer } from '../../src/server.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';

export const at = { owner: 'acme', repo: 'demo' } as const;
export const authorization = 'Bearer a-value-that-only-the-hook-knows';
export const secret = 'a-secret-that-only-the-hook-knows';

/** A whole journey: an embedded forge, a proxy before it, the bot, and people. */
export type Stage = {
  readonly forge: Forge;
  readonly proxy: FaultProxy;
  readonly root: Client;
  readonly ada: Client;
  readonly bot: Client;
  readonly data: string;
  readonly runs: Run[];
  readonly server: Server;
  /** Stops the bot and starts it again on the same data. */
  restart(): Promise<void>;
  /** Waits for the run that `matches`, among those there are and those to come. */
  run(matches: (run: Run) => boolean): Promise<Run>;
  /** Waits until the bot has nothing to do. */
  quiet(): Promise<void>;
  labelsOf(index: number): Promise<readonly string[]>;
  setRules(yaml: string): Promise<void>;
  /** Puts files on a new branch and opens a pull request from it as ada. */
  openPull(
    branch: string,
    files: Readonly<Record<string, string>>,
    labels?: readonly string[],
  ): Promise<PullRequest>;
  close(): Promise<void>;
};

/** Sets the stage: organization acme, repository demo with labels and rules, a hook that points to the bot. */
export async function setStage(
  options: { rules?: string; labels?: readonly string[]; server?: Partial<ServerOptions> } = {},
): Promise<Stage> {
  const data = await mkdtemp(join(tmpdir(), 'reeve-stage-'));
  const forge = await createForge({ clock: () => new Date(), data: join(data, 'forge') });
  const url = await forge.listen({ port: 0 });
  const proxy = await startFaultProxy(url);
  const as = (user: string): Client =>
    createClient({ url, credentials: { user, password: `${user}-password` } });
  const [root, ada, bot] = [as('root'), as('ada'), as('reeve')];
  await forge.createAdministrator({ name: 'root', password: 'root-password' });
  for (const username of ['ada', 'reeve']) {
    const body = {
      username,
      password: `${username}-password`,
      email: `${username}@example.org`,
      must_change_password: false,
    };
    await root.call(operations.createUser, { body });
  }
  await root.call(operations.createOrganization, { body: { username: at.owner } });
  await root.call(operations.createOrganizationRepository, {
    params: { org: at.owner },
    body: { name: at.repo, auto_init: true, default_branch: 'main' },
  });
  for (const collaborator of ['ada', 'reeve']) {
    await root.call(operations.putCollaborator, {
      params: { ...at, collaborator },
      body: { permission: 'write' },
    });
  }
  for (const name of options.labels ?? ['area/docs', 'area/code', 'kept']) {
    await root.call(operations.createLabel, { params: at, body: { name, color: 'ff0000' } });
  }
  await bot.call(operations.star, { params: at });

  const runs: Run[] = [];
  const listeners = new Set<() => void>();
  const start = (port: number): Promise<Server> =>
    startServer({
      forge: { url: proxy.url, credentials: { user: 'reeve', password: 'reeve-password' } },
      secrets: [{ name: 'test', scope: ['*'], authorization: [authorization], hmac: [secret] }],
      data,
      repositories: [],
      allowAdmin: false,
      host: '127.0.0.1',
      port,
      log: silentLog,
      backoff: { firstMs: 200 },
      ...options.server,
      onRun: (run) => {
        runs.push(run);
        for (const listener of listeners) listener();
      },
    });
  let server = await start(0);
  await root.call(operations.createHook, {
    params: at,
    body: {
      type: 'gitea',
      active: true,
      events: ['push', 'create', 'delete', 'issues', 'pull_request', 'repository'],
      config: { url: `${server.url}/webhook`, content_type: 'json', secret },
      authorization_header: authorization,
    },
  });

  const stage: Stage = {
    forge,
    proxy,
    root,
    ada,
    bot,
    data,
    runs,
    get server() {
      return server;
    },
    async restart() {
      const { port } = new URL(server.url);
      await server.stop();
      server = await start(Number(port));
    },
    run: (matches) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          listeners.delete(look);
          reject(new Error(`no such run; seen: ${JSON.stringify(runs.map((run) => run.trigger))}`));
        }, 15_000);
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
    async quiet() {
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
      if (live === undefined || Array.isArray(live)) {
        await root.call(operations.createFile, { params, body: { content, message: 'rules' } });
      } else {
        await root.call(operations.updateFile, {
          params,
          body: { content, message: 'rules', sha: live.sha ?? '' },
        });
      }
    },
    async openPull(branch, files, labels = []) {
      let isFirst = true;
      for (const [filepath, text] of Object.entries(files)) {
        const on = isFirst ? { branch: 'main', new_branch: branch } : { branch };
        isFirst = false;
        const body = { ...on, content: Buffer.from(text).toString('base64'), message: `Add ${filepath}` };
        await ada.call(operations.createFile, { params: { ...at, filepath }, body });
      }
      const known = await root.call(operations.listLabels, { params: at });
      const ids = known.filter(({ name }) => labels.includes(name)).map(({ id }) => id);
      return ada.call(operations.createPull, {
        params: at,
        body: { title: `From ${branch}`, head: branch, base: 'main', labels: ids },
      });
    },
    async close() {
      await server.stop();
      await proxy.close();
      await forge.close();
      await rm(data, { recursive: true, force: true });
    },
  };
  if (options.rules !== undefined) await stage.setRules(options.rules);
  return stage;
}
