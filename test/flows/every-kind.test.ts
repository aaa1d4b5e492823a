import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeDeliveries, post } from '../support/deliveries.ts';
import { isThorough, recordFigure } from '../support/figure.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

it('the server accepts a delivery of every kind, and does nothing if no rule matches', async (context) => {
  const made = makeDeliveries();
  const from = harness.proxy.passed.length;
  for (const delivery of made)
    expect((await post(harness.server.url, delivery)).status, delivery.eventType).toBe(202);
  await harness.idle();

  const { settled, dead, retry } = await harness.server.store.counts();
  expect({ dead, retry }).toEqual({ dead: 0, retry: 0 });
  expect(settled).toBeGreaterThanOrEqual(made.length);
  expect(new Set(made.map(({ eventType }) => eventType)).size).toBe(29);
  expect(harness.runs).toEqual([]);
  expect(harness.proxy.passed.slice(from).filter(({ method }) => method !== 'GET')).toEqual([]);
  recordFigure(context, `${made.length} kinds of 29 event types: 0 effects, 0 dead`);
});

it('the server accepts deliveries of unknown kinds', async (context) => {
  const invented = isThorough ? 1_000 : 50;
  for (let number = 0; number < invented; number += 1) {
    const eventType = `invented_${number}`;
    expect((await post(harness.server.url, { eventType, payload: { action: 'x', number } })).status).toBe(
      202,
    );
  }
  await harness.idle();

  expect((await harness.server.store.counts()).dead).toBe(0);
  expect(harness.runs).toEqual([]);
  recordFigure(context, `${invented.toLocaleString('en')} invented event types: 0 effects, 0 dead`);
});

it('a delivery whose body does not match its kind becomes dead, with the reason', async () => {
  const response = await post(harness.server.url, { eventType: 'pull_request', payload: { zen: 'no' } });
  await harness.idle();

  expect(response.status).toBe(202);
  const { items } = await harness.server.store.listDeliveries({ state: 'dead' });
  expect(items).toMatchObject([{ eventType: 'pull_request' }]);
  expect(items[0]?.reason).toContain('action must be a text, but is missing');
});

it('nothing is stored for a sender without a matching secret', async () => {
  const before = await harness.server.store.counts();
  const [made] = makeDeliveries();
  if (!made) throw new Error('no delivery');
  for (const headers of [
    { authorization: '' },
    { authorization: 'Bearer wrong' },
    { 'x-gitea-signature': '' },
    { 'x-gitea-signature': 'a'.repeat(64) },
  ]) {
    const response = await post(harness.server.url, made, headers);
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ message: 'not authorized' });
  }

  expect(await harness.server.store.counts()).toEqual(before);
});
