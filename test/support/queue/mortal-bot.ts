import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fastify from 'fastify';
import { createClient, findAccount } from '../../../src/client/client.ts';
import { Consequences } from '../../../src/engine/bounds/consequences.ts';
import { createFactMemory } from '../../../src/facts/ask.ts';
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
import { makeReeve } from '../make-reeve.ts';

/**
 * What works in the server, in this process, on the clock of a test: it works only inside `settle`, and dies as a process
 * does. From its death on, none of its calls reaches the store or the forge any more; the next life opens the same file.
 */
export interface MortalBot {
  /** Where hooks send to. */
  readonly hook: string;
  /** The store, past what the bot may still do with it. */
  readonly store: Store;
  /** Puts these rules of the operator in force. */
  setRules(rules: readonly LoadedRule[]): void;
  /** Ends this life now. The next one begins in `settle`. */
  kill(): void;
  /** Does everything that there is to do now, as often as it is killed meanwhile. */
  settle(): Promise<void>;
  /** Returns the instant at which something is to be done next; undefined if nothing waits. */
  nextDue(): Promise<Date | undefined>;
  close(): Promise<void>;
}

type MortalBotOptions = {
  /** Address of the forge, for the bot alone. */
  readonly url: string;
  readonly token: string;
  readonly data: string;
  /** Patterns of served repositories. */
  readonly repositories: readonly string[];
  readonly clock: Clock;
  /** Lets time go by, while the forge is not asked because it failed. */
  readonly advance: (ms: number) => void;
  /** Waits until the forge has sent what happened. */
  readonly heard: () => Promise<unknown>;
};

type Life = {
  /** As the file is. */
  readonly store: Store;
  readonly work: Work;
  readonly rules: RuleSource;
  readonly death: AbortController;
};

/** Time that passes at a forge that failed, before it is asked again. */
const outageMs = 1_500;

/** Starts the bot with a receiver of its own. */
export async function startMortalBot(options: MortalBotOptions): Promise<MortalBot> {
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

/** Lets time go by until the forge is asked whether it works again, and waits for its answer. */
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
  const rules = createRuleSource({ client, served, operatorRules, clock });
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

/** The store as a process sees it: once that is dead, no call of it is made or answered any more. */
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
