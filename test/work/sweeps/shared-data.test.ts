import { afterEach, beforeEach, expect, it } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { DriftBook, readDrift } from '../../../src/work/sweeps/drift.ts';
import { createRunnerMemory, type SeenRunner } from '../../../src/work/sweeps/targets/runner-memory.ts';
import { makeRun } from '../../store/make.ts';
import { makeSchema } from '../../support/postgres.ts';

const now = new Date('2026-11-20T12:00:00Z');
/** Stores of two processes. */
let stores: readonly Store[];
beforeEach(async () => {
  const url = await makeSchema();
  stores = await Promise.all([1, 2].map(() => openPostgresStore({ url, role: 'reader', isVolatile: true })));
});
afterEach(async () => {
  for (const store of stores) await store.close();
});

it('processes that observe runners at the same time lose no level, and no record of a notified rule', async () => {
  const runner: SeenRunner = {
    id: 7,
    name: 'one',
    status: 'online',
    busy: false,
    disabled: false,
    labels: [],
  };
  const memories = stores.map((store) => createRunnerMemory(store));
  const levels = Array.from({ length: 20 }, (_, at) => `repository acme/r${at}`);

  await Promise.all(levels.map((level, at) => memories[at % 2]?.observe(level, [runner], now)));
  await memories[0]?.observe('organization acme', [runner], now);
  await Promise.all(
    levels.map((_, at) => memories[at % 2]?.told('organization acme', ['7'], `rules/r.yml#rule ${at}`)),
  );

  const known = (await memories[1]?.levels()) ?? {};
  expect(Object.keys(known)).toHaveLength(levels.length + 1);
  expect(known['organization acme']?.['7']?.told).toHaveLength(levels.length);
});

it('sweeps of several rules that end at the same time in several processes all keep their drift', async () => {
  const change = {
    ...{ id: 'c1', rules: ['r'], action: 'x', operation: 'x', input: null, target: 'topic:x' },
    ...{ value: 1, before: 0, after: 1, reason: '', level: 'operator' as const },
  };
  const run = { ...makeRun({}), changes: [change], outcomes: [{ change: 'c1', status: 'planned' as const }] };
  const rules = Array.from({ length: 16 }, (_, at) => `rules/r.yml#rule ${at}`);

  await Promise.all(
    rules.map(async (rule, at) => {
      const book = await DriftBook.open(stores[at % 2] as Store, rule);
      book.note('acme/demo', run as never, now);
      await book.save();
    }),
  );

  expect(await readDrift(stores[0] as Store)).toHaveLength(rules.length);
});
