import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Claim, CommittedWork, Store } from '../../../src/store/store.ts';
import { makeDelivery } from '../make.ts';

let folder: string;
let store: Store;
let announced: CommittedWork[];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-early-'));
  store = await openSqliteStore({ path: join(folder, 'reeve.db'), role: 'worker' });
  announced = [];
  store.onCommitted?.((work) => announced.push(...work));
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

it('a delivery that is being synced can be routed and claimed, and the claim has a promise for the sync', async () => {
  const seen: string[] = [];
  const claimed = new Promise<readonly Claim[]>((resolve, reject) => {
    store.onCommitted?.(([work]) => {
      const routings = [{ id: work?.id ?? '', to: 'lane', lane: '7#1', repositoryId: 7 }] as const;
      store.claim({ limit: 8, leaseMs: 60_000, routings }).then((claims) => {
        seen.push('claimed');
        resolve(claims);
      }, reject);
    });
  });

  const accepted = store.accept(makeDelivery()).then((result) => {
    seen.push('accepted');
    return result;
  });
  const [claim] = await claimed;
  await claim?.durable?.then(() => seen.push('durable'));
  const { id } = await accepted;

  expect(seen.toSorted()).toEqual(['accepted', 'claimed', 'durable']);
  expect(seen[0]).toBe('claimed');
  expect(claim).toMatchObject({ id, lane: '7#1', repositoryId: 7, durable: expect.any(Promise) });
});

it('a claim made while nothing is being synced has no sync to wait for', async () => {
  const { id } = await store.accept(makeDelivery());
  await store.route([{ id, to: 'lane', lane: '7#1' }]);

  const [claim] = await store.claim({ limit: 8, leaseMs: 60_000 });

  expect(claim?.id).toBe(id);
  expect(claim).not.toHaveProperty('durable');
});

it('new deliveries and jobs are announced; known deliveries and copies are not', async () => {
  const delivery = makeDelivery({ uuid: 'a' });
  const first = await store.accept(delivery);
  await store.accept(delivery);
  await store.accept({ ...delivery, uuid: 'b' });
  const job = { door: 'cron', kind: 'k', lane: 'job k', receivedAt: new Date(), payload: 1 } as const;
  const second = await store.enqueue({ ...job, uuid: 'j' });

  expect(announced).toEqual([{ id: first.id, delivery }, { id: second.id }]);
});

it('the counts include deliveries that the routings of a claim end', async () => {
  const [a, b] = await Promise.all(
    ['a', 'b'].map((uuid) => store.accept(makeDelivery({ uuid, body: Buffer.from(`{"n":"${uuid}"}`) }))),
  );
  const routings = [
    { id: a?.id ?? '', to: 'settled', reason: 'unknown kind' },
    { id: b?.id ?? '', to: 'dead', reason: 'not JSON' },
  ] as const;

  expect(await store.claim({ limit: 8, leaseMs: 60_000, routings })).toEqual([]);

  expect(await store.counts()).toMatchObject({ settled: 1, dead: 1, accepted: 0 });
});
