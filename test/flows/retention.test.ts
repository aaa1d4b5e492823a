import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/platform/clock.ts';
import { silentLog } from '../../src/platform/log.ts';
import { type Server, startServer } from '../../src/server/server.ts';
import type { Retention } from '../../src/store/prune.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { makeDelivery } from '../store/make.ts';
import { type ManyRepositories, startManyRepositories } from '../support/many-repositories.ts';

const dayMs = 86_400_000;
const start = new Date('2026-05-04T10:00:00Z');
const authorization = 'a-value-that-only-the-hook-knows';

let data: string;
let forge: ManyRepositories;
let server: Server | undefined;
let now: Date;
const clock = { ...systemClock, now: () => now };

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'reeve-retention-'));
  forge = await startManyRepositories(1);
  now = start;
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await forge.close();
  await rm(data, { recursive: true, force: true });
});

const serve = async (options: { retention?: Retention; maxBodyBytes?: number } = {}): Promise<Server> => {
  server = await startServer({
    forge: { url: forge.url, credentials: { token: 'a-token' } },
    data,
    clock,
    log: silentLog,
    repositories: [],
    allowAdmin: true,
    host: '127.0.0.1',
    port: 0,
    secrets: [{ name: 'all', scope: ['*'], authorization: [authorization], hmac: [] }],
    ...options,
  });
  return server;
};

/** Stores a settled and a dead delivery that ended this many days ago, and a waiting delivery. */
const store = async (days: number, body: Buffer = Buffer.from('{}')): Promise<void> => {
  const then = new Date(start.getTime() - days * dayMs);
  const made = await openSqliteStore({
    path: join(data, 'reeve.db'),
    role: 'worker',
    clock: { ...systemClock, now: () => then },
  });
  for (const to of ['settled', 'dead'] as const) {
    const delivery = makeDelivery({
      uuid: `${to} ${days}`,
      eventType: `${to} ${days}`,
      body,
      receivedAt: then,
    });
    const { id } = await made.accept(delivery);
    await made.route([{ id, to, reason: 'made so' }]);
  }
  await made.close();
};

/** Returns the stored webhook deliveries, oldest first. */
const stored = async (of: Server): Promise<readonly string[]> => {
  const { items } = await of.store.listDeliveries({ limit: 500 });
  return items
    .filter(({ door }) => door === 'webhook')
    .map(({ uuid }) => uuid)
    .toReversed();
};

it('deletes settled deliveries after 30 days and dead ones after 90, once a day while the bot runs', async () => {
  for (const days of [100, 40, 20]) await store(days);
  const bot = await serve();
  await expect.poll(async () => (await bot.store.recall('schedules')) !== undefined).toBe(true);

  expect(await stored(bot)).toHaveLength(6);
  now = new Date(start.getTime() + dayMs);

  await expect.poll(() => stored(bot)).toEqual(['dead 40', 'settled 20', 'dead 20']);
});

it('deletes the oldest deliveries within an hour if the store exceeds the limit in the operator file', async () => {
  for (const days of [3, 2]) await store(days, Buffer.alloc(2_000_000, 'x'));
  const bot = await serve({ retention: { settledMs: 30 * dayMs, deadMs: 90 * dayMs, maxBytes: 7_000_000 } });
  await expect.poll(async () => (await bot.store.recall('schedules')) !== undefined).toBe(true);

  expect(await stored(bot)).toHaveLength(4);
  now = new Date(start.getTime() + 3_600_000);

  // Settled deliveries are deleted first, as many as necessary, in batches.
  await expect.poll(() => stored(bot)).toEqual(['dead 3', 'dead 2']);
});

it('accepts bodies up to the size in the operator file', async () => {
  const bot = await serve({ maxBodyBytes: 20_000_000 });
  const send = async (bytes: number): Promise<number> => {
    const answer = await fetch(`${bot.url}/webhook`, {
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'application/json',
        'x-gitea-delivery': String(bytes),
        'x-gitea-event': 'moon_landing',
        'x-gitea-event-type': 'moon_landing',
      },
      body: JSON.stringify({ text: 'x'.repeat(bytes) }),
    });
    return answer.status;
  };

  expect([await send(19_000_000), await send(20_000_001)]).toEqual([202, 413]);
});
