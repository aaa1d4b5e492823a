import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '../../../src/client/client.ts';
import { operations } from '../../../src/contract/operations.ts';
import { createForgeInstance } from '../../../src/forge/forge.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import { authorization, secret } from '../bot-hook.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../fault-proxy.ts';
import { localHooks } from '../hook-receiver.ts';
import { passwordCost } from '../password-cost.ts';
import { rulesOf } from '../sweep-harness.ts';
import { type MortalBot, startMortalBot } from './mortal-bot.ts';

/** What happens at the next request of the bot that it is about. */
export type ArmedFault = {
  /** `write`: any request that changes something; `attempt`: a merge or an update. */
  readonly at: 'write' | 'attempt' | 'merge';
  readonly fault: (number: number) => Fault;
};

/** A forge, and the bot behind a proxy, on one clock that a test moves. Histories have a repository each. */
export type QueueInstallation = {
  readonly root: Client;
  /** Another person who may write, for approvals. */
  readonly ada: Client;
  readonly bot: MortalBot;
  readonly org: string;
  /** Faults to come; each happens once, in order. */
  readonly armed: ArmedFault[];
  /** Folder of the repositories, in which git is run. */
  readonly repositories: string;
  now(): Date;
  advance(ms: number): void;
  close(): Promise<void>;
};

export const [org, botName] = ['acme', 'reeve'];
/** With the label it is in the queue; the second one goes first. */
export const queueLabels = ['merge', 'urgent'] as const;
/** Short: what waits for checks that never come is polled until then. */
export const queueTimeoutMs = 5 * 60_000;

/** The rules that are in force when it starts. */
export const queueRules = `version: 1
rules:
  queue:
    on:
      pull_request: [opened, label_updated, label_cleared, synchronized, reopened, edited]
    each: pull_request
    steps:
      - uses: queue-merge
        if: labels.exists(l, l.name == "urgent")
        with: { when: 'labels.exists(l, l.name == "merge")', priority: 10, timeout: 5 }
      - uses: queue-merge
        if: '!labels.exists(l, l.name == "urgent")'
        with: { when: 'labels.exists(l, l.name == "merge")', timeout: 5 }
`;

/** Starts it: an organization that the bot owns and that is served, with one hook for all of its repositories. */
export async function startQueueInstallation(): Promise<QueueInstallation> {
  const data = await mkdtemp(join(tmpdir(), 'reeve-queues-'));
  let nowMs = Date.parse('2026-05-04T10:00:00Z');
  const now = (): Date => new Date(nowMs);
  const clock: Clock = { now, monotonicMs: () => nowMs, sleep: async () => {} };
  const forge = await createForgeInstance({
    passwordCost,
    clock: now,
    data: join(data, 'forge'),
    ...localHooks,
  });
  const url = await forge.listen({ port: 0 });
  const proxy = await startFaultProxy(url);
  const as = (user: string): Client =>
    createClient({ timeoutMs: 120_000, url, credentials: { user, password: `${user}-password` } });
  for (const name of ['root', 'ada']) await forge.createAdministrator({ name, password: `${name}-password` });
  const [root, ada, account] = [as('root'), as('ada'), as(botName)];
  await root.call(operations.createUser, {
    body: {
      username: botName,
      password: `${botName}-password`,
      email: `${botName}@example.org`,
      must_change_password: false,
    },
  });
  await account.call(operations.createOrganization, { body: { username: org } });
  const { sha1 } = await account.call(operations.createToken, {
    params: { username: botName },
    body: { name: 'bot', scopes: ['read:user', 'read:organization', 'write:repository', 'write:issue'] },
  });
  const advance = (ms: number): void => {
    nowMs += ms;
  };
  const bot = await startMortalBot({
    url: proxy.url,
    token: sha1 ?? '',
    data: join(data, 'reeve'),
    repositories: [`${org}/*`],
    clock,
    advance,
    heard: () => forge.deliveries.idle(),
  });
  bot.setRules(rulesOf(queueRules));
  await hookTo(bot.hook, account);
  const armed: ArmedFault[] = [];
  decideByArmed(proxy, armed);
  return {
    root,
    ada,
    bot,
    org,
    armed,
    repositories: join(data, 'forge', 'repositories'),
    now,
    advance,
    async close() {
      await bot.close();
      await proxy.close();
      await forge.close();
      await rm(data, { recursive: true, force: true });
    },
  };
}

async function hookTo(url: string, owner: Client): Promise<void> {
  await owner.call(operations.createOrganizationHook, {
    params: { org },
    body: {
      type: 'gitea',
      active: true,
      events: ['push', 'pull_request'],
      config: { url, content_type: 'json', secret },
      authorization_header: authorization,
    },
  });
}

function decideByArmed(proxy: FaultProxy, armed: ArmedFault[]): void {
  proxy.decide = ({ method, path }) => {
    if (method === 'GET') return { kind: 'pass' };
    const [, number, what] = /\/pulls\/(\d+)\/(merge|update)\b/.exec(path) ?? [];
    const isMeant = ({ at }: ArmedFault): boolean =>
      at === 'write' || (at === 'attempt' && what !== undefined) || (at === 'merge' && what === 'merge');
    const index = armed.findIndex(isMeant);
    const [found] = index < 0 ? [] : armed.splice(index, 1);
    return found?.fault(Number(number)) ?? { kind: 'pass' };
  };
}
