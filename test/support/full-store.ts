import type { Store } from '../../src/store/store.ts';
import { encodeHeaders } from '../../src/store/stored-headers.ts';
import { makeDelivery, makeRun } from '../store/make.ts';

/** Texts and bytes that are hard to store. JSON preserves all of them in both kinds of store. */
export const hardText = 'nul \0, half \ud800, quote " \\ \u2028 \u{1f600}';
const hardBody = Buffer.from([0, 1, 2, 0xff, 0xfe, 0, 0x5c, 0x78]);
const keys = ['plain', 'action seen acme/shop#1', 'long '.repeat(200)] as const;

/** Stores something of every kind. Afterwards, only the number of deliveries in `claims` is claimed. */
export async function fillStore(store: Store, { claims = 0 } = {}): Promise<void> {
  const lane = (number: number) => ({
    lane: `acme/shop#${number}`,
    repositoryId: 7,
    repository: 'acme/shop',
  });
  const accept = (number: number, body = Buffer.from(`{"n":${number}}`)) =>
    store.accept(
      makeDelivery({
        uuid: `uuid-${number}`,
        body,
        eventType: `kind-${number % 3}`,
        ...(number % 2 === 0
          ? {}
          : { headers: encodeHeaders([['x-kind', `kind-${number % 3}`], ['cookie']], 1) }),
      }),
    );
  for (let number = 1; number <= 8; number += 1) await accept(number, number === 3 ? hardBody : undefined);
  const unrouted = await store.unrouted(8);
  await store.route(
    unrouted.slice(0, 7).map(({ id, body }, index) => ({
      id,
      to: 'lane' as const,
      digest: new Uint8Array(32).fill(body.length + index),
      ...lane(index + 1),
    })),
  );
  await store.route([{ id: unrouted[7]?.id ?? '', to: 'dead', reason: 'malformed: no repository' }]);
  const only = (number: number) => ({ limit: 1, leaseMs: 60_000, only: [lane(number).lane] });
  const [settled] = await store.claim(only(1));
  if (settled)
    await store.settle(settled, [
      makeRun({ id: 'run-1' }),
      { ...makeRun({ id: 'run-2' }), note: hardText } as never,
    ]);
  const [retried] = await store.claim(only(2));
  if (retried) await store.retry(retried, { afterMs: 3_600_000, reason: `try again: ${'x'.repeat(50)}` });
  const [deferred] = await store.claim(only(3));
  if (deferred)
    await store.defer(deferred, [makeRun({ id: 'run-3' })], {
      afterMs: 3_600_000,
      why: 'the hourly budget',
      key: 'k',
      isPaused: true,
    });
  const [buried] = await store.claim(only(4));
  if (buried) await store.bury(buried, 'given up');
  const job = {
    door: 'cron' as const,
    kind: 'sweep',
    receivedAt: new Date('2026-03-01T12:00:00.000Z'),
    payload: { text: hardText },
  };
  await store.enqueue({ ...job, uuid: 'sweep 1', lane: 'sweep' });
  await store.route((await store.unrouted(5)).map(({ id }) => ({ id, to: 'lane', lane: 'sweep' })));
  const [sweep] = await store.claim({ limit: 1, leaseMs: 60_000, only: ['sweep'] });
  if (sweep) {
    await store.advance(sweep, {
      runs: [makeRun({ id: 'run-4' })],
      repositoryId: 7,
      checkpoint: { page: 2, text: hardText },
    });
    await store.release(sweep);
  }
  await accept(9);
  await store.appendRuns([makeRun({ id: 'run-5' })], { repositoryId: 9 });
  for (const key of keys) await store.remember(key, { at: '2026-03-01T12:00:00.000Z', text: hardText });
  await store.remember('a list', [1, null, 'x']);
  await store.raise([
    {
      kind: 'rule-failed',
      key: 'reeve/rule acme/shop#1',
      at: new Date('2026-03-01T12:00:00.000Z'),
      reason: hardText,
      subject: 'acme/shop#1',
    } as never,
    {
      kind: 'sweep-failed',
      key: 'sweep of acme',
      at: new Date('2026-03-01T12:00:01.000Z'),
      reason: 'refused',
    } as never,
  ]);
  await store.pause({ kind: 'repository', name: 'acme/Shop', repositoryId: 7 }, 'ada by the dashboard');
  await store.pause({ kind: 'all' }, 'root by reeve pause');
  await store.noteAudit({ by: 'ada', action: 'revert', object: 'run run-1' });
  const queue = { repositoryId: 7, base: 'main', repository: 'acme/shop' };
  const event = {
    at: new Date('2026-03-01T12:00:00.000Z'),
    kind: 'entered' as const,
    number: 6,
    text: hardText,
  };
  await store.saveQueue({
    ...queue,
    state: { entries: [{ number: 6 }], outbox: [] },
    revision: 0,
    events: [event],
  });
  await store.saveQueue({
    ...queue,
    base: 'release',
    state: { entries: [], outbox: [] },
    revision: 0,
    events: [event, event],
  });
  await store.claimQueue(queue, 60_000);
  const sample = { minutes: 60, at: event.at, amount: 3, merge: 'sum' } as const;
  await store.addSamples([
    { ...sample, name: 'deliveries' },
    { ...sample, minutes: 5, name: 'latency/12' },
  ]);
  const text = { path: '.reeve.yml', commit: 'abc', content: JSON.stringify({ text: 'ä\0' }) };
  await store.storeRuleTexts('repository 7', { kept: [text], gone: [] });
  if (claims > 0) await store.claim({ limit: claims, leaseMs: 60_000 });
}

/** Returns everything that a store shows to its users. */
export async function readEverything(store: Store) {
  const deliveries = [];
  for (let before: string | undefined; ; ) {
    const { items, next } = await store.listDeliveries({ limit: 3, ...(before && { before }) });
    for (const { id } of items) {
      const found = await store.readDelivery(id);
      deliveries.push(
        found && {
          ...found,
          body: Buffer.from(found.body).toString('hex'),
          headers: await store.readHeaders(id),
        },
      );
    }
    if (next === undefined) break;
    before = next;
  }
  return {
    deliveries,
    runs: (await store.listRuns({ limit: 500 })).items,
    runsOfRepository: (await store.listRuns({ repositoryId: 7, limit: 500 })).items,
    counts: await store.counts(),
    oldest: await store.oldestWaiting(),
    samples: [
      await store.readSamples({ minutes: 5, since: new Date(0) }),
      await store.readSamples({ minutes: 60, since: new Date(0) }),
    ],
    ruleTexts: await store.listRuleTexts('repository 7'),
    memory: await Promise.all([...keys, 'a list'].map((key) => store.recall(key))),
    incidents: await store.listIncidents(),
    pauses: await store.listPauses(),
    audit: await store.listAudit(),
    queues: await store.listQueues(),
    history: await store.listQueueHistory(),
  };
}
