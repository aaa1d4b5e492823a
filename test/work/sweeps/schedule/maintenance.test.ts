import { expect, it } from 'vitest';
import { trialPrefix } from '../../../../src/actions/backport.ts';
import { storedFilePrefix } from '../../../../src/actions/commit-files.ts';
import { dispatchPrefix } from '../../../../src/actions/run-workflow.ts';
import { sentMessagePrefix } from '../../../../src/actions/sent-messages.ts';
import { accountKey } from '../../../../src/engine/bounds/accounts.ts';
import { executionPrefix } from '../../../../src/engine/evaluate-rules.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import type { Log } from '../../../../src/platform/log.ts';
import { createStoredMemory } from '../../../../src/store/action-memory.ts';
import { standardRetention } from '../../../../src/store/prune.ts';
import { resistancePrefix } from '../../../../src/work/runs/waiting.ts';
import { createMaintenance, scheduledMaintenance } from '../../../../src/work/sweeps/schedule/maintenance.ts';
import { makeDelivery, makeRun } from '../../../store/make.ts';
import { makeReeve } from '../../../support/make-reeve.ts';
import { makeStore } from '../../../support/make-store.ts';

const now = new Date('2026-05-04T10:00:00Z');

/** Creates maintenance tasks with a separate store, and records what they log. */
async function setChores(given: { checkToken?: () => Promise<unknown>; maxBytes?: number } = {}) {
  const { store, close } = await makeStore({ clock: { ...systemClock, now: () => now } });
  const said: string[] = [];
  let readings = 0;
  const note = (level: string) => (members: object, message: string) =>
    void said.push(`${level} ${message} ${JSON.stringify(members)}`);
  const log: Log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
  const parts = { healthy: store.healthy };
  const reeve = makeReeve({
    store: { prune: store.prune, healthy: () => parts.healthy() },
    retention: { ...standardRetention, maxBytes: given.maxBytes ?? 2 ** 40 },
    lifetimeMs: 7 * 86_400_000,
    log,
  });
  const chores = createMaintenance(reeve, {
    checkToken: given.checkToken ?? (async () => ({})),
    readRules: async () => {
      readings += 1;
    },
  });
  return { store, close, said, chores, parts, readings: () => readings };
}

it('retention deletes data that ended more than 30 days ago, and logs how much', async () => {
  const { store, close, said, chores } = await setChores();
  for (const receivedAt of [new Date('2026-03-01T00:00:00Z'), new Date('2026-05-01T00:00:00Z')]) {
    await store.accept(makeDelivery({ receivedAt, body: Buffer.from(`{"at":${receivedAt.getTime()}}`) }));
  }
  await store.appendRuns(
    [makeRun({ at: '2026-03-01T12:00:00.000Z' }), makeRun({ at: '2026-05-01T12:00:00.000Z' })],
    {},
  );

  await chores.retention?.run(now, 'slot');

  const runs = await store.listRuns({ limit: 10 });
  expect(runs.items.map(({ trigger }) => trigger.at)).toEqual(['2026-05-01T12:00:00.000Z']);
  // Waiting deliveries are never deleted, however old they are.
  expect((await store.counts()).accepted).toBe(2);
  expect(said).toEqual(['info deleted expired data {"deliveries":0,"dead":0,"runs":1}']);
  await close();
});

it('retention deletes executed commands that are older than the delivery lifetime and the retention', async () => {
  const { store, close, chores } = await setChores();
  const memory = createStoredMemory(store);
  const keep = (comment: number, at: string) =>
    memory.set(`${executionPrefix}1/${comment} r.yml#merge`, { delivery: String(comment), at });
  // Fills more than one batch, and adds one command that is just young enough: 37 days before now.
  for (let comment = 1; comment <= 450; comment += 1) await keep(comment, '2026-03-28T09:59:59.999Z');
  await keep(451, '2026-03-28T10:00:00.000Z');
  await memory.set(`${dispatchPrefix}acme/demo old`, { state: 'done', at: '2026-03-28T09:59:59.999Z' });
  await memory.set(`${dispatchPrefix}acme/demo young`, { state: 'sent', at: '2026-03-28T10:00:00.000Z' });
  await store.remember(`${resistancePrefix}20`, { at: '2026-03-28T09:59:59.999Z', refusals: {} });
  await store.remember(`${resistancePrefix}21`, { at: '2026-03-28T10:00:00.000Z', refusals: {} });
  await memory.set(`${trialPrefix}acme/demo old`, { refused: 'conflict', at: '2026-03-28T09:59:59.999Z' });
  await memory.set(`${trialPrefix}acme/demo young`, { made: 'c', at: '2026-03-28T10:00:00.000Z' });
  await memory.set(`${storedFilePrefix}acme/demo:a`, { at: '2026-01-24T09:59:59.999Z' });
  await memory.set(`${storedFilePrefix}acme/demo:b`, { at: '2026-01-24T10:00:00.000Z' });
  await memory.set('dropped 1/main', { at: '2020-01-01T00:00:00.000Z' });
  await store.remember('command of another part', { at: '2020-01-01T00:00:00.000Z' });

  await chores.retention?.run(now, 'slot');

  const left = (comment: number) => memory.get(`${executionPrefix}1/${comment} r.yml#merge`);
  expect(await Promise.all([1, 2, 225, 450].map(left))).toEqual(Array(4).fill(undefined));
  expect(await left(451)).toMatchObject({ delivery: '451' });
  expect(await memory.get(`${dispatchPrefix}acme/demo old`)).toBeUndefined();
  expect(await memory.get(`${dispatchPrefix}acme/demo young`)).toBeDefined();
  expect(await store.recall(`${resistancePrefix}20`)).toBeUndefined();
  expect(await store.recall(`${resistancePrefix}21`)).toBeDefined();
  expect(await memory.get(`${trialPrefix}acme/demo old`)).toBeUndefined();
  expect(await memory.get(`${trialPrefix}acme/demo young`)).toBeDefined();
  expect(await memory.get(`${storedFilePrefix}acme/demo:a`)).toBeUndefined();
  expect(await memory.get(`${storedFilePrefix}acme/demo:b`)).toBeDefined();
  expect(await memory.get('dropped 1/main')).toBeDefined();
  expect(await store.recall('command of another part')).toBeDefined();
  await close();
});

it('retention deletes messages that were last planned more than a hundred days ago', async () => {
  const { store, close, chores } = await setChores();
  const memory = createStoredMemory(store);
  const keep = (key: string, daysAgo: number) => {
    const at = new Date(now.getTime() - daysAgo * 86_400_000).toISOString();
    return memory.set(`${sentMessagePrefix}${key}`, { digest: 'd', number: 1, at });
  };
  await keep('old', 100.01);
  await keep('young', 99.99);

  await chores.retention?.run(now, 'slot');

  expect(await memory.get(`${sentMessagePrefix}old`)).toBeUndefined();
  expect(await memory.get(`${sentMessagePrefix}young`)).toMatchObject({ number: 1 });
  await close();
});

it('size deletes the oldest runs if the store is too large, and warns', async () => {
  const { store, close, said, chores } = await setChores({ maxBytes: 1 });
  await store.appendRuns([makeRun({ at: now.toISOString() })], {});

  await chores.size?.run(now, 'slot');
  await chores.size?.run(now, 'slot');

  expect((await store.listRuns()).items).toEqual([]);
  expect(said).toEqual([
    'warn deleted the oldest data: the store has reached its size limit {"deliveries":0,"dead":0,"runs":1,"maxBytes":1}',
  ]);
  await close();
});

it('health logs nothing if token and disk are fine', async () => {
  const { close, said, chores } = await setChores();

  await chores.health?.run(now, 'slot');

  expect(said).toEqual([]);
  await close();
});

it('health reports a token that the forge no longer accepts, and continues', async () => {
  const { close, said, chores } = await setChores({
    checkToken: async () => {
      throw new Error('401 from the forge');
    },
  });

  await chores.health?.run(now, 'slot');

  expect(said).toEqual(['error the forge does not accept our credential {"error":"401 from the forge"}']);
  await close();
});

it('health reports a full disk, and still checks the token', async () => {
  let asked = 0;
  const { close, said, chores, parts } = await setChores({
    checkToken: async () => {
      asked += 1;
    },
  });
  parts.healthy = async () => ({ ok: false, reason: '12 MB are free', freeBytes: 12_000_000 });

  await chores.health?.run(now, 'slot');

  expect(said).toEqual(['error the disk needs attention {"reason":"12 MB are free"}']);
  expect(asked).toBe(1);
  await close();
});

it('rules reads the rules of repositories again', async () => {
  const { close, chores, readings } = await setChores();

  await chores.rules?.run(now, 'slot');

  expect(readings()).toBe(1);
  await close();
});

it('every maintenance task has its own schedule', async () => {
  const { close, chores } = await setChores();

  const entries = scheduledMaintenance(chores);

  expect(entries.map(({ id, kind, payload }) => `${id} ${kind} ${JSON.stringify(payload)}`)).toEqual([
    'retention chore {"chore":"retention"}',
    'size chore {"chore":"size"}',
    'health chore {"chore":"health"}',
    'rules chore {"chore":"rules"}',
  ]);
  expect(new Set(entries.map(({ schedule }) => schedule.cron)).size).toBe(4);
  await close();
});

it('retention never deletes the account that a login belonged to', async () => {
  const { store, close, chores } = await setChores({ maxBytes: 1 });
  const memory = createStoredMemory(store);
  await memory.set(accountKey('Ada'), { id: 5, at: '2016-01-01T00:00:00.000Z' });

  await chores.retention?.run(now, 'slot');

  expect(await memory.get(accountKey('ada'))).toEqual({ id: 5, at: '2016-01-01T00:00:00.000Z' });
  await close();
});
