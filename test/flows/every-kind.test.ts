import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeDeliveries, post } from '../support/deliveries.ts';
import { type Stage, setStage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage.close());

it('takes a delivery of every kind, and does nothing where no rule listens', async () => {
  const made = makeDeliveries();
  const from = stage.proxy.passed.length;
  for (const delivery of made)
    expect((await post(stage.server.url, delivery)).status, delivery.eventType).toBe(202);
  await stage.quiet();

  const { settled, dead, retry } = await stage.server.store.counts();
  expect({ dead, retry }).toEqual({ dead: 0, retry: 0 });
  expect(settled).toBeGreaterThanOrEqual(made.length);
  expect(new Set(made.map(({ eventType }) => eventType)).size).toBe(29);
  expect(stage.runs).toEqual([]);
  expect(stage.proxy.passed.slice(from).filter(({ method }) => method !== 'GET')).toEqual([]);
});

it('takes unknown kinds', async () => {
  for (let number = 0; number < 50; number += 1) {
    const eventType = `invented_${number}`;
    expect((await post(stage.server.url, { eventType, payload: { action: 'x', number } })).status).toBe(202);
  }
  await stage.quiet();

  expect((await stage.server.store.counts()).dead).toBe(0);
  expect(stage.runs).toEqual([]);
});

it('makes a body that does not fit its kind a dead delivery with the reason', async () => {
  const response = await post(stage.server.url, { eventType: 'pull_request', payload: { zen: 'no' } });
  await stage.quiet();

  expect(response.status).toBe(202);
  const { items } = await stage.server.store.listDeliveries({ state: 'dead' });
  expect(items).toMatchObject([{ eventType: 'pull_request' }]);
  expect(items[0]?.reason).toContain('action must be a text, but is missing');
});

it('stores nothing for a sender without a matching secret', async () => {
  const before = await stage.server.store.counts();
  const [made] = makeDeliveries();
  if (!made) throw new Error('no delivery');
  for (const headers of [
    { authorization: '' },
    { authorization: 'Bearer wrong' },
    { 'x-gitea-signature': '' },
    { 'x-gitea-signature': 'a'.repeat(64) },
  ]) {
    const response = await post(stage.server.url, made, headers);
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ message: 'not authorized' });
  }

  expect(await stage.server.store.counts()).toEqual(before);
});
