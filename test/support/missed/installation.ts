import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { type Client, createClient } from '../../../src/client/client.ts';
import { operations } from '../../../src/contract/operations.ts';
import type { Run } from '../../../src/engine/record.ts';
import { createForgeInstance } from '../../../src/forge/forge.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { silentLog } from '../../../src/platform/log.ts';
import { packageRoot } from '../../../src/platform/package.ts';
import type { LoadedRule } from '../../../src/rules/rule.ts';
import { loadRuleFiles } from '../../../src/rules/sources/folder.ts';
import { type Server, startServer } from '../../../src/server/server.ts';
import { type HookReceiver, localHooks, startReceiver } from '../hook-receiver.ts';
import { launcher } from '../launcher.ts';
import { passwordCost } from '../privilege-setup.ts';

/** Writes of the embedded forge are slow on a busy machine, so only a hanging request should reach this limit. */
const timeoutMs = 120_000;

const authorization = 'Bearer a-value-that-only-the-hook-knows';
const secret = 'a-secret-that-only-the-hook-knows';
const org = 'acme';

/** Labels that shipped rules set, and that must exist in a repository. */
const labels = [
  ...['area/docs', 'area/build', 'area/tests', 'blocked', 'kept'].map((name) => ({ name })),
  ...['size/S', 'size/M', 'size/L'].map((name) => ({ name, exclusive: true })),
];

/**
 * Separate forge with the organization acme, and the bot with all shipped rules. They share one clock that stands
 * still.
 */
export type Installation = {
  readonly root: Client;
  readonly ada: Client;
  readonly bob: Client;
  readonly bot: Client;
  readonly rules: readonly LoadedRule[];
  readonly runs: Run[];
  now(): Date;
  advance(minutes: number): void;
  /** Starts the bot with its data, at the address in the organization's hook. */
  startBot(): Promise<void>;
  stopBot(): Promise<void>;
  /** Waits until all events have been sent and, if the bot is running, handled. */
  idle(): Promise<void>;
  /**
   * Starts every sweep, or only those of the rules for which `named` is true, like `reeve sweep` next to a running
   * server.
   */
  sweep(named?: (rule: LoadedRule) => boolean): Promise<void>;
  makeRepository(name: string): Promise<void>;
  putRunners(runners: readonly object[]): Promise<void>;
  /** Returns the number of deliveries and jobs that were given up or that wait for another attempt. */
  unfinished(): Promise<number>;
  close(): Promise<void>;
};

/** Creates people, teams, the repositories site, tools and ops, and the hook. The bot is not started. */
export async function startInstallation(): Promise<Installation> {
  const data = await mkdtemp(join(tmpdir(), 'reeve-missed-'));
  let nowMs = Date.parse('2026-05-04T10:00:00Z');
  const now = (): Date => new Date(nowMs);
  const forge = await createForgeInstance({
    passwordCost,
    launcher,
    clock: now,
    data: join(data, 'forge'),
    control: true,
    ...localHooks,
  });
  const url = await forge.listen({ port: 0 });
  const as = (user: string): Client =>
    createClient({ timeoutMs, url, credentials: { user, password: `${user}-password` } });
  await forge.createAdministrator({ name: 'root', password: 'root-password' });
  const [root, ada, bob, bot] = [as('root'), as('ada'), as('bob'), as('reeve')];
  for (const username of ['ada', 'bob', 'reeve']) {
    const body = { username, password: `${username}-password`, email: `${username}@example.org` };
    await root.call(operations.createUser, { body: { ...body, must_change_password: false } });
  }
  await bot.call(operations.createOrganization, { body: { username: org } });
  const team = {
    permission: 'write',
    includes_all_repositories: true,
    units: ['repo.code', 'repo.issues', 'repo.pulls'],
  };
  for (const [name, member] of [
    ['release', 'bob'],
    ['people', 'ada'],
  ] as const) {
    const { id } = await bot.call(operations.createTeam, { params: { org }, body: { name, ...team } });
    for (const username of [member, 'bob'])
      await bot.call(operations.putTeamMember, { params: { id, username } });
  }
  const build = await startReceiver();
  const folder = join(data, 'rules');
  const rules = await copyRules(folder, build);

  const runs: Run[] = [];
  let server: Server | undefined;
  let port = 0;
  let reservation: PortReservation | undefined;

  const installation: Installation = {
    root,
    ada,
    bob,
    bot,
    rules,
    runs,
    now,
    advance(minutes) {
      nowMs += minutes * 60_000;
    },
    async startBot() {
      await reservation?.release();
      server = await startServer({
        forge: { url, credentials: { user: 'reeve', password: 'reeve-password' } },
        secrets: [{ name: 'test', scope: ['*'], authorization: [authorization], hmac: [secret] }],
        namedSecrets: new Map([
          ['CI_HEADER', 'Bearer of-the-build-server'],
          ['CI_SIGNATURE', 'signature-of-the-build-server'],
        ]),
        data: join(data, 'reeve'),
        rules: folder,
        repositories: [`${org}/*`],
        allowAdmin: false,
        host: '127.0.0.1',
        port,
        log: silentLog,
        clock: { ...systemClock, now },
        // A sweep starts as a job from another process, so it begins at the next poll.
        pollMs: 10,
        onRun: (run) => void runs.push(run),
        onSweepRun: (run) => void runs.push(run),
      });
      if (port === 0) await hookTo(server.url, bot);
      port = Number(new URL(server.url).port);
      await installation.idle();
    },
    async stopBot() {
      await server?.stop();
      if (server) reservation = await reservePort(port);
      server = undefined;
    },
    async idle() {
      for (;;) {
        await forge.deliveries.idle();
        if (server === undefined) return;
        const { accepted, claimed } = await server.store.counts();
        if (accepted + claimed === 0) return;
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
    async sweep(named = () => true) {
      for (const rule of rules) {
        if (rule.schedules.length === 0 || !named(rule)) continue;
        const slot = `${rule.id}#by hand@${now().toISOString()}`;
        const payload = { rule: rule.id, slot };
        const about = { kind: 'sweep', lane: `sweep ${rule.id}`, receivedAt: now(), payload };
        await server?.store.enqueue({ door: 'cli', uuid: slot, ...about });
        // The sweeps run one after another, as scheduled: a later rule may use what an earlier rule defines.
        await installation.idle();
      }
    },
    async makeRepository(repo) {
      const body = { name: repo, auto_init: true, default_branch: 'main' };
      await bot.call(operations.createOrganizationRepository, { params: { org }, body });
      const params = { owner: org, repo };
      await bot.call(operations.watch, { params });
      for (const label of labels)
        await root.call(operations.createLabel, { params, body: { color: 'aaaaaa', ...label } });
    },
    async putRunners(runners) {
      const answer = await fetch(`${url}/-/control/runners`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${forge.controlToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ runners }),
      });
      if (!answer.ok) throw new Error(`the runners were refused: ${answer.status} ${await answer.text()}`);
    },
    async unfinished() {
      const { dead, retry } = (await server?.store.counts()) ?? { dead: 0, retry: 0 };
      return dead + retry;
    },
    async close() {
      await installation.stopBot();
      await reservation?.release();
      await forge.close();
      await build.close();
      await rm(data, { recursive: true, force: true });
    },
  };
  for (const name of ['site', 'tools', 'ops']) await installation.makeRepository(name);
  for (const repo of ['site', 'tools']) {
    const params = { owner: org, repo };
    await root.call(operations.createBranch, { params, body: { new_branch_name: 'next' } });
  }
  await ada.call(operations.createFork, { params: { owner: org, repo: 'site' }, body: {} });
  return installation;
}

/** Copies the shipped rules. The build server that they notify is a receiver on this machine. */
async function copyRules(folder: string, build: HookReceiver): Promise<readonly LoadedRule[]> {
  const shipped = join(packageRoot, 'rules');
  await cp(shipped, folder, { recursive: true, filter: (path) => path !== join(shipped, 'demo') });
  const path = join(folder, 'hooks.yml');
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replace('https://ci.example.org/hook', build.url));
  // A rule with `on: auto` leaves out what was closed meanwhile, which makes a difference between both installations that
  // is meant. Here, each is about closed items as well.
  for (const { path, rules } of await loadRuleFiles([folder])) {
    const automatic = rules.filter((rule) => rule.automatic);
    if (automatic.length === 0) continue;
    const file = parseDocument(await readFile(path, 'utf8'));
    for (const { name, each = [] } of automatic)
      file.setIn(
        ['rules', name, 'each'],
        Object.fromEntries(each.map(({ kind }) => [kind, { state: 'all' }])),
      );
    await writeFile(path, String(file));
  }
  return (await loadRuleFiles([folder])).flatMap(({ rules }) => rules);
}

async function hookTo(server: string, bot: Client): Promise<void> {
  await bot.call(operations.createOrganizationHook, {
    params: { org },
    body: {
      type: 'gitea',
      active: true,
      events: ['push', 'create', 'delete', 'issues', 'issue_comment', 'pull_request', 'repository'],
      config: { url: `${server}/webhook`, content_type: 'json', secret },
      authorization_header: authorization,
    },
  });
}

type PortReservation = { release(): Promise<void> };

/** Reserves a port as long as no server listens on it. */
async function reservePort(port: number): Promise<PortReservation> {
  const reservation = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => reservation.listen(port, '127.0.0.1', resolve));
  return { release: () => new Promise((resolve) => reservation.close(() => resolve())) };
}
