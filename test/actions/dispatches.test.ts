import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimRun, findOwnRun, noteUnnamed } from '../../src/actions/run-workflow.ts';
import type { DispatchedRun } from '../../src/facts/statuses.ts';
import { createStoredMemory } from '../../src/store/action-memory.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../src/store/store.ts';
import { makeContext } from '../support/make-context.ts';
import { makeSchema } from '../support/postgres.ts';

const place = { repository: 'acme/shop', workflow: 'deploy.yml', ref: 'main' };
const runOf = (id: number) => ({ id, ref: 'main', actor_id: 9 }) as DispatchedRun;
/** The stores of two processes. */
let stores: readonly Store[];
beforeEach(async () => {
  const url = await makeSchema();
  stores = await Promise.all([1, 2].map(() => openPostgresStore({ url, role: 'reader', isVolatile: true })));
});
afterEach(async () => {
  for (const store of stores) await store.close();
});
const contexts = () => stores.map((store) => makeContext({ memory: createStoredMemory(store) }));

it('dispatches whose responses are lost each find a different run, even in two processes at the same time', async () => {
  const runs = Array.from({ length: 10 }, (_, at) => runOf(20 - at));

  const found = await Promise.all(
    runs.map((_, at) =>
      findOwnRun(runs, { ...place, key: `dispatch ${at}`, after: 10 }, contexts()[at % 2] as never),
    ),
  );

  expect(new Set(found).size).toBe(runs.length);
  expect(found).not.toContain(undefined);
});

it('a dispatch whose response contains a run id gets that run, and dispatches without a run id are all counted', async () => {
  const [one, two] = contexts();
  if (one === undefined || two === undefined) throw new Error('no process');
  await findOwnRun([runOf(11)], { ...place, key: 'lost', after: 10 }, one);
  await claimRun('named', { repository: place.repository, run: 11 }, two);
  expect(await findOwnRun([runOf(11)], { ...place, key: 'named', after: 10 }, one)).toBe(11);
  expect(await findOwnRun([runOf(11)], { ...place, key: 'lost', after: 10 }, two)).toBeUndefined();

  await Promise.all(
    Array.from({ length: 9 }, (_, at) =>
      noteUnnamed({ ...place, key: `unnamed ${at}` }, 20, at % 2 ? one : two),
    ),
  );
  const later = Array.from({ length: 10 }, (_, at) => runOf(30 - at));
  // Nine of the ten runs belong to the other dispatches.
  expect(await findOwnRun(later, { ...place, key: 'late', after: 15 }, two)).toBe(30);
});
