import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Outcome } from '../../src/engine/record.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { at, type Harness, startHarness } from '../support/harness.ts';

const rules = `version: 1
rules:
  greet:
    on: issues.opened
    steps:
      - { uses: comment, with: { text: hello } }
      - { uses: set-labels, with: { add: [area/docs] } }
`;

let harness: Harness;
afterEach(() => harness.close());

const openIssue = () => harness.ada.call(operations.createIssue, { params: at, body: { title: 'one' } });
/** Returns the outcomes of each stored run that has any. */
const storedOutcomes = async (): Promise<readonly (readonly Outcome['status'][])[]> => {
  const { items } = await harness.server.store.listRuns({});
  return items.map(({ outcomes }) => outcomes.map(({ status }) => status)).filter(({ length }) => length > 0);
};
/** Waits until catching up has created the baseline of the repository. */
const catchUp = async (): Promise<void> => {
  const { id } = await harness.root.call(operations.getRepository, { params: at });
  const read = () => harness.server.store.recall(`seen ${id}`);
  await expect.poll(read, { timeout: timeoutMs }).toBeDefined();
};

it('a run with a denied change is stored, even if the forge then does not answer whether the repository exists', {
  timeout: 2 * timeoutMs,
}, async () => {
  harness = await startHarness({ rules });
  await harness.idle();
  let isDenied = false;
  harness.proxy.decide = ({ method, path }) => {
    if (method === 'PUT' && path.endsWith('/labels')) {
      isDenied = true;
      return { kind: 'answer', status: 403, body: '{"message":"no right"}' };
    }
    return isDenied && path.includes('/repos/')
      ? { kind: 'answer', status: 502, body: '' }
      : { kind: 'pass' };
  };
  await openIssue();

  await expect.poll(storedOutcomes, { timeout: timeoutMs }).toContainEqual(['applied', 'failed']);
});

it('a run that found its repository renamed is stored, even if the forge then does not answer under the new name', {
  timeout: 2 * timeoutMs,
}, async () => {
  harness = await startHarness({ rules });
  await harness.idle();
  let isRenamed = false;
  harness.proxy.decide = ({ method, path }) => {
    if (isRenamed)
      return path.includes('/repos') ? { kind: 'answer', status: 502, body: '' } : { kind: 'pass' };
    if (method !== 'PUT' || !path.endsWith('/labels')) return { kind: 'pass' };
    isRenamed = true;
    return {
      kind: 'pass',
      before: () => harness.root.call(operations.editRepository, { params: at, body: { name: 'renamed' } }),
    };
  };
  await openIssue();

  await expect.poll(storedOutcomes, { timeout: timeoutMs }).toContainEqual(['applied', 'failed']);
});

it('a delivery is settled with its run even if it cannot be recorded for catching up', {
  timeout: 2 * timeoutMs,
}, async () => {
  let aheadMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
  harness = await startHarness({ rules, server: { clock } });
  await harness.idle();
  await catchUp();
  const database = new DatabaseSync(join(harness.data, 'reeve.db'), { timeout: 5_000 });
  database.exec(
    `CREATE TRIGGER unwritable BEFORE INSERT ON memory WHEN NEW.key LIKE 'seen %'
     BEGIN SELECT RAISE(ABORT, 'no note'); END`,
  );
  database.close();
  // Snapshot notes are written after half a minute.
  aheadMs = 40_000;
  await openIssue();

  await expect.poll(storedOutcomes, { timeout: timeoutMs }).toEqual([['applied', 'applied']]);
  await harness.idle();
  expect((await harness.server.store.counts()).dead).toBe(0);
});

it('a stop closes everything even if the store is lost with unsaved notes', {
  timeout: 2 * timeoutMs,
}, async () => {
  harness = await startHarness({ rules });
  await harness.idle();
  await catchUp();
  await openIssue();
  await expect.poll(storedOutcomes, { timeout: timeoutMs }).toEqual([['applied', 'applied']]);
  await harness.idle();
  await rm(join(harness.data, 'reeve.db-wal'));

  await harness.server.stop();

  const again = await openSqliteStore({ path: join(harness.data, 'reeve.db'), role: 'worker' });
  await again.close();
});
