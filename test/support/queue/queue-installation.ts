import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fastify from 'fastify';
import { type Client, createClient, findAccount } from '../../../src/client/client.ts';
import { operations } from '../../../src/contract/operations.ts';
import { Consequences } from '../../../src/engine/bounds/consequences.ts';
import { createFactMemory } from '../../../src/facts/ask.ts';
import { createForgeInstance } from '../../../src/forge/forge.ts';
import { memoize } from '../../../src/platform/cache/caches.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import { silentLog } from '../../../src/platform/log.ts';
import type { LoadedRule } from '../../../src/rules/rule.ts';
import { createAdmissions, createEnrolment, createIdentities } from '../../../src/rules/sources/admission.ts';
import { createRuleSource, type RuleSource } from '../../../src/rules/sources/rule-source.ts';
import { receiver, serverOptions } from '../../../src/server/receiver/route.ts';
import { createWork, type Work } from '../../../src/server/work.ts';
import { createStoredMemory } from '../../../src/store/action-memory.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { createQueueDesk } from '../../../src/work/merge-queue/merge-queues.ts';
import { authorization, secret } from '../bot-hook.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../fault-proxy.ts';
import { localHooks } from '../hook-receiver.ts';
import { makeReeve } from '../make-reeve.ts';
import { passwordCost } from '../privilege-setup.ts';
import { rulesOf } from '../sweep-harness.ts';

/** Fault that occurs at the next matching request of the bot. */
export type ArmedFault = {
  /** `write` matches any request that changes something; `attempt` matches a merge or an update. */
  readonly at: 'write' | 'attempt' | 'merge';
  readonly fault: (number: number) => Fault;
};

/** Forge, and the bot behind a proxy, with one clock that a test moves. Each history has a repository of its own. */
export type QueueInstallation = {
  readonly root: Client;
  /** Another person with write access, for approvals. */
  readonly ada: Client;
  readonly bot: MortalBot;
  readonly org: string;
  /** Pending faults; each occurs once, in order. */
  readonly armed: ArmedFault[];
  /** Folder of the repositories, in which git runs. */
  readonly repositories: string;
  now(): Date;
  advance(ms: number): void;
  close(): Promise<void>;
};

export const [org, botName] = ['acme', 'reeve'];
/** A pull request with the first label is in the queue; the second label gives it a higher priority. */
export const queueLabels = ['merge', 'urgent'] as const;
/** Short, because entries that wait for missing checks are polled until the timeout. */
export const queueTimeoutMs = 5 * 60_000;

/** Rules that are active at the start. */
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

/** Starts the installation: an organization that the bot owns and serves, with one hook for all of its repositories. */
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

/**
 * Working part of the server, in this process, with the clock of a test. It works only inside `settle`, and it can die
 * like a process: after its death, none of its calls reaches the store or the forge. The next life opens the same file.
 */
interface MortalBot {
  /** Address to which hooks send. */
  readonly hook: string;
  /** Store that can be used even after the bot's death. */
  readonly store: Store;
  /** Activates these rules of the operator. */
  setRules(rules: readonly LoadedRule[]): void;
  /** Ends this life now. The next one starts in `settle`. */
  kill(): void;
  /** Does everything that is currently due, even if the bot is killed in between. */
  settle(): Promise<void>;
  /** Returns the time at which the next work is due, or undefined if nothing waits. */
  nextDue(): Promise<Date | undefined>;
  close(): Promise<void>;
}

type MortalBotOptions = {
  /** Address of the forge that only the bot uses. */
  readonly url: string;
  readonly token: string;
  readonly data: string;
  /** Patterns of served repositories. */
  readonly repositories: readonly string[];
  readonly clock: Clock;
  /** Advances the clock while the bot sends no requests to a failed forge. */
  readonly advance: (ms: number) => void;
  /** Waits until the forge has sent its events. */
  readonly heard: () => Promise<unknown>;
};

type Life = {
  /** Store that can be used even after the bot's death. */
  readonly store: Store;
  readonly work: Work;
  readonly rules: RuleSource;
  readonly death: AbortController;
};

/** Time for which a failed forge receives no requests. */
const outageMs = 1_500;

/** Starts the bot with a separate receiver. */
async function startMortalBot(options: MortalBotOptions): Promise<MortalBot> {
  let operatorRules: readonly LoadedRule[] = [];
  let life = await beginLife(options, operatorRules);
  const rebirth = async (): Promise<void> => {
    await life.store.close();
    life = await beginLife(options, operatorRules);
    await life.work.queues.wakeAll();
  };
  const app = fastify(serverOptions());
  await app.register(receiver, {
    store: { accept: (delivery) => life.store.accept(delivery) },
    secrets: [{ name: 'test', scope: ['*'], authorization: [authorization], hmac: [secret] }],
    log: silentLog,
    clock: options.clock,
  });
  await app.listen({ port: 0, host: '127.0.0.1' });

  const listWaiting = async () => {
    const [deferred, retried] = await Promise.all(
      (['deferred', 'retry'] as const).map((state) => life.store.listDeliveries({ state, limit: 500 })),
    );
    return [...(deferred?.items ?? []), ...(retried?.items ?? [])];
  };
  return {
    hook: `${app.listeningOrigin}/webhook`,
    get store() {
      return life.store;
    },
    setRules(rules) {
      operatorRules = rules;
      life.rules.replaceOperatorRules(rules);
    },
    kill: () => life.death.abort(),
    async settle() {
      for (;;) {
        await options.heard();
        if (life.death.signal.aborted) await rebirth();
        await Promise.race([workOnce(life), deathOf(life)]);
        if (life.death.signal.aborted) continue;
        await options.heard();
        const isFailing = life.work.worker.status().breaker !== 'closed';
        if (isFailing) await outliveOutage(life, options);
        const { accepted, claimed } = await life.store.counts();
        if (accepted + claimed === 0 && !isFailing) return;
      }
    },
    async nextDue() {
      const times = (await listWaiting()).flatMap(({ retryAt }) => retryAt?.getTime() ?? []);
      return times.length === 0 ? undefined : new Date(Math.min(...times));
    },
    async close() {
      await app.close();
      await life.work.worker.stop({ graceMs: 0 });
      await life.store.close();
    },
  };
}

async function workOnce({ work }: Life): Promise<void> {
  await work.worker.tick();
  await work.worker.idle();
}

/** Advances the clock until the forge is probed again, and waits for the response. */
async function outliveOutage({ work: { worker } }: Life, { advance }: MortalBotOptions): Promise<void> {
  if (worker.status().breaker !== 'open') return;
  advance(outageMs);
  await worker.tick();
  for (let turns = 0; turns < 20_000 && worker.status().breaker === 'open'; turns += 1) await sleep(1);
}

async function deathOf({ death }: Life): Promise<void> {
  if (!death.signal.aborted) await once(death.signal, 'abort');
}

async function beginLife(
  { url, token, data, repositories, clock }: MortalBotOptions,
  operatorRules: readonly LoadedRule[],
): Promise<Life> {
  const death = new AbortController();
  const file = await openSqliteStore({ path: join(data, 'reeve.db'), role: 'worker', clock });
  const store = untilDeath(file, death.signal);
  let answers = 0;
  const client = createClient({
    url,
    credentials: { token },
    signal: death.signal,
    sleep: async () => {},
    onRequest({ status }) {
      if (status !== undefined && status < 500) answers += 1;
    },
  });
  const account = memoize(() => findAccount(client, { allowAdmin: false }));
  const whoAmI = async (): Promise<string> => (await account()).login;
  const served = createEnrolment({ client, login: whoAmI, listed: repositories, clock });
  const rules = createRuleSource({ client, operatorRules, clock });
  const identities = createIdentities({ client, clock });
  let work: Work | undefined;
  const wake = (): void => work?.worker.wake();
  const reeve = makeReeve({
    client,
    account,
    clock,
    memory: createFactMemory(clock),
    actionMemory: createStoredMemory(store),
    store,
    admissions: createAdmissions({ identities, served, coverageOf: () => true }),
    rules,
    everyRule: () => rules.everyRule(),
    served: { login: whoAmI, listed: repositories },
    pauses: () => store.listPauses(),
    capabilities: () => client.capabilities(),
    consequences: new Consequences(store, clock),
    queue: createQueueDesk({ store, now: () => clock.now(), wake, onEvent: () => {} }),
    wake,
  });
  work = createWork(reeve, {
    backoff: { firstMs: 5_000, random: () => 0.5 },
    concurrency: 8,
    answers: () => answers,
  });
  return { store: file, work, rules, death };
}

/** Returns the store as a process sees it: after the death of the process, calls are neither made nor answered. */
function untilDeath(store: Store, death: AbortSignal): Store {
  const never = new Promise<never>(() => {});
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...given: readonly unknown[]) => {
        if (death.aborted) return never;
        try {
          return await member.apply(target, given);
        } finally {
          if (death.aborted) await never;
        }
      };
    },
  });
}
