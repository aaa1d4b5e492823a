import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { operations } from '../../../src/contract/operations.ts';
import { createFactMemory } from '../../../src/facts/ask.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createStoredMemory } from '../../../src/store/action-memory.ts';
import { type SweepCheckpoint, SweepStore } from '../../../src/work/sweeps/progress.ts';
import { runSweep } from '../../../src/work/sweeps/sweep.ts';
import { servedRepositories } from '../../../src/work/sweeps/targets/repositories.ts';
import { makeReeve } from '../../support/make-reeve.ts';
import { makeStore } from '../../support/make-store.ts';
import { type ManyRepositories, startManyRepositories } from '../../support/many-repositories.ts';
import { rulesOf, type SweepHarness, startSweepHarness } from '../../support/sweep-harness.ts';

describe('a list of repositories', () => {
  let forge: ManyRepositories;
  afterEach(() => forge.close());

  const walk = async (onPage: (page: number) => void = () => {}): Promise<readonly string[]> => {
    const client = createClient({ url: forge.url, sleep: async () => {} });
    const found: string[] = [];
    for await (const page of servedRepositories(client, { login: async () => 'reeve', listed: [] })) {
      found.push(...page.repositories.map(({ name }) => name));
      onPage(page.place.page);
    }
    return found;
  };

  it('that shrinks while it is read loses no repository and repeats none', async () => {
    forge = await startManyRepositories(200);

    const found = await walk((page) => {
      if (page === 2) for (const name of ['r3', 'r4', 'r60']) forge.gone.add(name);
    });

    expect(found).toHaveLength(200);
    expect(new Set(found).size).toBe(200);
  });

  it('that never ends is given up', async () => {
    forge = await startManyRepositories(200);
    forge.endless = true;

    await expect(walk()).rejects.toMatchObject({ code: 'forge-paging' });
    expect(forge.asked.length).toBeLessThan(50);
  });
});

describe('a sweep', () => {
  let harness: SweepHarness;
  afterEach(() => harness.close());

  const sweepTwoRepositories = async () => {
    harness = await startSweepHarness();
    harness.setRules(`
version: 1
rules:
  labelled:
    on: { schedule: "0 * * * *" }
    each: repository
    steps:
      - uses: sync-labels
        with: { labels: [{ name: kept, color: ff0000 }] }
`);
    await harness.tick();
  };
  const nextHour = async (): Promise<void> => {
    harness.advance(60);
    await harness.tick();
  };
  const result = () => new SweepStore(harness.store).readResult('rules.yml#labelled');
  const labelsOf = async (repo: string) =>
    (await harness.bot.call(operations.listLabels, { params: { owner: 'acme', repo } })).map(
      ({ name }) => name,
    );

  it('waits as long as the forge asks for, and loses no item', async () => {
    await sweepTwoRepositories();
    let refused = 0;
    harness.proxy.decide = ({ path }) => {
      if (!path.includes('/acme/demo/labels') || refused >= 1) return { kind: 'pass' };
      refused += 1;
      return { kind: 'answer', status: 429, body: '{}', headers: { 'retry-after': '90' } };
    };
    harness.advance(60);
    const before = harness.now();
    await harness.tick();

    expect(await result()).toMatchObject({ items: 2, changes: 2, failed: 0 });
    expect(harness.now().getTime() - before.getTime()).toBe(90_000);
  });

  it('continues with the other repositories if one cannot be found', async () => {
    await sweepTwoRepositories();
    harness.proxy.decide = ({ path }) =>
      path.includes('/acme/demo/') ? { kind: 'answer', status: 404, body: '{}' } : { kind: 'pass' };
    await nextHour();

    expect(await labelsOf('ops')).toEqual(['kept']);
    expect(await result()).toMatchObject({
      items: 2,
      changes: 1,
      failed: 1,
      failures: [{ item: 'acme/demo' }],
    });
  });
});

it('a sweep that is throttled on its third page of repositories does not repeat the first two pages', async () => {
  const forge = await startManyRepositories(120);
  const { parts, lease, order, close } = await prepare(forge);
  let refused = 0;
  forge.meddle = ({ path }) => {
    if (!path.includes('page=3') || refused >= 1) return undefined;
    refused += 1;
    return { status: 429, headers: { 'retry-after': '30' } };
  };
  const slept: number[] = [];
  const sleep = async (ms: number) => void slept.push(ms);

  const { progress } = await runSweep(
    { ...parts, clock: { ...parts.clock, sleep } },
    { ...order, slot: 'one' },
    lease,
  );
  await close();
  await forge.close();

  expect([progress.items, progress.failed, slept]).toEqual([120, 0, [30_000]]);
  const pages = forge.asked.flatMap(({ path }) => /starred\?.*page=(\d)/.exec(path)?.[1] ?? []);
  expect(pages).toEqual(['1', '2', '3', '3']);
});

it.each([
  { pause: '3600', asked: 1, slept: [] },
  { pause: '60', asked: 4, slept: [60_000, 60_000, 60_000] },
])(
  'a sweep whose list requests are all told to wait for $pause seconds returns to the queue',
  async (given) => {
    const forge = await startManyRepositories(120);
    const { parts, lease, order, close } = await prepare(forge);
    forge.meddle = ({ path }) =>
      path.includes('page=2') ? { status: 429, headers: { 'retry-after': given.pause } } : undefined;
    const slept: number[] = [];
    const sleep = async (ms: number) => void slept.push(ms);

    const sweeping = runSweep(
      { ...parts, clock: { ...parts.clock, sleep } },
      { ...order, slot: 'one' },
      lease,
    );

    await expect(sweeping).rejects.toMatchObject({ code: 'forge-throttled', retryable: true });
    expect(forge.asked.filter(({ path }) => path.includes('page=2'))).toHaveLength(given.asked);
    expect(slept).toEqual(given.slept);
    await close();
    await forge.close();
  },
);

it('a sweep that waits for the forge stops at once when the process is told to stop', async () => {
  const forge = await startManyRepositories(120);
  const { parts, lease, order, close } = await prepare(forge);
  forge.meddle = ({ path }) =>
    path.includes('page=2') ? { status: 429, headers: { 'retry-after': '60' } } : undefined;
  const stopping = new AbortController();
  const sleep = async (ms: number, signal?: AbortSignal) => {
    setTimeout(() => stopping.abort(), 20);
    await wait(ms, undefined, signal ? { signal } : {});
  };

  const stoppingLease = { ...lease, stopping: stopping.signal };
  const sweeping = runSweep(
    { ...parts, clock: { ...parts.clock, sleep } },
    { ...order, slot: 'one' },
    stoppingLease,
  );

  await expect(sweeping).rejects.toThrow('continues at its checkpoint');
  await close();
  await forge.close();
});

it('a sweep whose lease ends within an item counts the changes that were made', async () => {
  const forge = await startManyRepositories(1);
  const { parts, lease, order, close } = await prepare(
    forge,
    'steps: [{ uses: sync-labels, with: { labels: [{ name: kept, color: ff0000 }, { name: new, color: 00ff00 }] } }]',
  );
  const ended = new AbortController();
  forge.meddle = () => {
    if (forge.asked.filter(({ method }) => method === 'POST').length === 2)
      ended.abort(new Error('it ended'));
    return undefined;
  };
  const changes: number[] = [];
  const advance = async ({ checkpoint }: { checkpoint?: unknown }) =>
    void changes.push((checkpoint as SweepCheckpoint).progress.changes);

  const sweeping = runSweep(parts, { ...order, slot: 'one' }, { ...lease, signal: ended.signal, advance });

  await expect(sweeping).rejects.toThrow('it ended');
  expect(changes).toEqual([1]);
  await close();
  await forge.close();
});

it('a sweep ends when its request budget is used up, and the next slot continues from there', async () => {
  const forge = await startManyRepositories(120);
  const { parts, lease, order: whole, close } = await prepare(forge);
  const order = { ...whole, maxRequests: 2 };
  const results = new SweepStore(parts.store);

  const first = await runSweep(parts, { ...order, slot: 'one' }, lease);
  const cut = await results.readResult(order.rule.id);
  const second = await runSweep(parts, { ...order, slot: 'two' }, lease);
  const last = await results.readResult(order.rule.id);
  await close();
  await forge.close();

  expect([first.progress.items, cut?.isComplete]).toEqual([100, false]);
  expect([second.progress.items, last?.isComplete]).toEqual([20, true]);
});

/** Prepares a sweep of one rule over the repositories of a simulated forge. The caller adds the slot. */
async function prepare(
  forge: ManyRepositories,
  wanted = 'if: repository.archived\n    steps: [{ uses: sync-labels, with: { labels: [{ name: kept, color: ff0000 }] } }]',
) {
  const { store, close } = await makeStore();
  const [rule] = rulesOf(`
version: 1
rules:
  any:
    on: { schedule: "0 * * * *" }
    each: repository
    ${wanted}
`);
  if (rule === undefined) throw new Error('no rule');
  const parts = makeReeve({
    client: createClient({ url: forge.url }),
    account: async () => ({ id: 2 }),
    memory: createFactMemory(systemClock),
    actionMemory: createStoredMemory(store),
    store,
    clock: {
      ...systemClock,
      now: () => new Date('2026-05-04T10:00:00Z'),
      sleep: async () => {},
    },
  });
  const lease = {
    signal: new AbortController().signal,
    stopping: new AbortController().signal,
    giveBack: (reason: string) => new Error(reason),
    advance: async () => {},
  };
  const order = { rule, job: '1', door: 'cli', isInScope: () => true } as const;
  return { parts, lease, order, close };
}
