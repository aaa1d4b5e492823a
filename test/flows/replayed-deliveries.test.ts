import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Delivery } from '../../src/store/store.ts';
import { reeve } from '../support/command.ts';
import { signInWithPassword } from '../support/dashboard-client.ts';
import { post } from '../support/deliveries.ts';
import { at, type Harness, type HarnessOptions, startHarness } from '../support/harness.ts';

const rules = `version: 1
rules:
  opened: { on: issues.opened, steps: [{ uses: set-labels, with: { add: [area/docs] } }] }
  ship:
    on: issue_comment.created
    if: comment.body == "/ship"
    steps: [{ uses: set-labels, with: { add: [kept] } }]
`;

let harness: Harness;
let aheadMs = 0;
const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
afterEach(() => harness.close());

const start = async (server: HarnessOptions['server'] = {}): Promise<void> => {
  aheadMs = 0;
  harness = await startHarness({ rules, server: { clock, ...server } });
};

/**
 * Opens an issue and comments on it. Returns the delivery of the forge as an attacker on the network would have
 * recorded it.
 */
async function record(eventType: string): Promise<{ index: number; comment: number; payload: object }> {
  const { number: index } = await harness.ada.call(operations.createIssue, {
    params: at,
    body: { title: 'x' },
  });
  await harness.idle();
  const params = { ...at, index };
  const { id } = await harness.ada.call(operations.createComment, { params, body: { body: '/ship' } });
  await harness.idle();
  expect(await harness.labelsOf(index)).toEqual(['area/docs', 'kept']);
  await harness.ada.call(operations.replaceIssueLabels, { params, body: { labels: [] } });
  await harness.idle();
  const { items } = await harness.server.store.listDeliveries({ limit: 500 });
  const found = items.find((one) => one.eventType === eventType && one.repeatOf === undefined);
  const delivery = await harness.server.store.readDelivery(found?.id ?? '');
  return { index, comment: id, payload: JSON.parse(Buffer.from(delivery?.body ?? []).toString()) };
}

/** Sends a recorded body again with its original signature, under a new id. */
async function replay(eventType: string, payload: object): Promise<Delivery | undefined> {
  const answer = await post(harness.server.url, { eventType, payload }, { 'x-gitea-delivery': randomUUID() });
  const { id } = (await answer.json()) as { id: string };
  await harness.idle();
  return harness.server.store.describeDelivery(id);
}

it('a delivery that is sent again under a new id runs, and is marked as repeated wherever it is shown', async () => {
  await start();
  const { index, payload } = await record('issues');
  const replayed = await replay('issues', payload);
  const id = replayed?.id ?? '';
  const [run] = (await harness.server.store.listRuns({ delivery: id })).items;

  expect(replayed?.repeatOf).toMatch(/^\d+$/);
  expect(run?.trigger).toMatchObject({ delivery: id, repeated: true });
  expect(await harness.labelsOf(index)).toEqual(['area/docs']);
  const { out } = await reeve(['explain', id], { environment: harness.environment });
  expect(out).toContain(`delivery ${id} (repeated)`);
  const password = (await readFile(join(harness.data, 'dashboard.password'), 'utf8')).trim();
  const dashboard = await signInWithPassword(harness.server.url, password);
  expect((await dashboard.get(`/deliveries/${id}`)).text).toContain(
    `has the content of delivery <a class="id" href="../deliveries/${replayed?.repeatOf}">`,
  );
  expect((await dashboard.get('/deliveries')).text).toContain(
    `same content as delivery ${replayed?.repeatOf}`,
  );
});

it('a repeated delivery triggers nothing if the operator refuses repeats, until the operator redrives it', async () => {
  await start({ repeated: 'refuse' });
  const { index, payload } = await record('issues');
  const replayed = await replay('issues', payload);
  const id = replayed?.id ?? '';

  expect(replayed).toMatchObject({
    state: 'settled',
    reason: `repeats delivery ${replayed?.repeatOf}, and the operator refuses repeats`,
  });
  expect((await harness.server.store.listRuns({ delivery: id })).items).toEqual([]);
  expect(await harness.labelsOf(index)).toEqual([]);
  await harness.server.store.redrive([id], 'root', { settled: true });
  await expect.poll(() => harness.labelsOf(index)).toEqual(['area/docs']);
});

it('the recorded event of a deleted comment triggers nothing', async () => {
  await start();
  const { index, comment, payload } = await record('issue_comment');
  await harness.ada.call(operations.deleteComment, { params: { ...at, id: comment } });
  await harness.idle();
  const replayed = await replay('issue_comment', payload);
  const [run] = (await harness.server.store.listRuns({ delivery: replayed?.id ?? '' })).items;

  expect(run?.rules).toMatchObject([{ verdict: 'skipped', reason: 'gone' }]);
  expect(await harness.labelsOf(index)).toEqual([]);
});

it('the recorded event of a comment that is older than the delivery lifetime triggers nothing', async () => {
  await start();
  const { index, payload } = await record('issue_comment');
  aheadMs = 7 * 86_400_000 + 60_000;
  const replayed = await replay('issue_comment', payload);
  const [run] = (await harness.server.store.listRuns({ delivery: replayed?.id ?? '' })).items;

  expect(run?.rules).toMatchObject([{ verdict: 'skipped', reason: 'too old' }]);
  expect(await harness.labelsOf(index)).toEqual([]);
});
