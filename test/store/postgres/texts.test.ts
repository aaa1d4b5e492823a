import { afterEach, expect, it } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import type { Claim, Store } from '../../../src/store/store.ts';
import { connectDirectly, makeSchema } from '../../support/postgres.ts';
import { makeDelivery, makeRun } from '../make.ts';

/**
 * Contains NUL, for which the server refuses the whole statement; lone surrogates, which are invalid UTF-8; and more
 * characters than an index accepts.
 */
const hostile = `nul \0, half \ud800 \udc00, rest ${'x'.repeat(10_000)}`;

let opened: Store | undefined;
afterEach(() => opened?.close());

async function open(url: string): Promise<Store> {
  opened = await openPostgresStore({ url, role: 'worker', isVolatile: true });
  return opened;
}

/** Claims a delivery whose texts are all hostile. */
async function claimHostile(store: Store): Promise<Claim> {
  const { id } = await store.accept(
    makeDelivery({
      eventType: hostile,
      entry: hostile,
      contentType: hostile,
      headers: hostile,
      route: { lane: hostile, repository: hostile, repositoryId: 7 },
    }),
  );
  const summary = { activity: hostile, title: hostile, actor: hostile };
  await store.route([{ id, to: 'lane', lane: hostile, repository: hostile, repositoryId: 7, summary }]);
  const [claim] = await store.claim({ limit: 1, leaseMs: 60_000 });
  if (claim?.id !== id) throw new Error(`delivery ${id} was not claimed`);
  return claim;
}

/** Creates a run whose texts are all hostile. */
const runOf = (name: string) =>
  ({ ...makeRun({ id: `${name} \0 \ud800` }), code: hostile, item: hostile }) as never;

it('hostile texts are accepted wherever the store accepts a text', async () => {
  const url = await makeSchema();
  const store = await open(url);

  const retried = await claimHostile(store);
  await store.retry(retried, { afterMs: 3_600_000, reason: hostile });
  const deferred = await claimHostile(store);
  await store.defer(deferred, [runOf('deferred')], { afterMs: 3_600_000, why: hostile, key: hostile });
  const buried = await claimHostile(store);
  await store.bury(buried, hostile, [runOf('buried')]);
  expect(await store.redrive([buried.id], hostile)).toBe(1);
  await store.route([{ id: buried.id, to: 'dead', reason: hostile }]);
  const settled = await claimHostile(store);
  await store.advance(settled, { runs: [runOf('advanced')], repositoryId: 7, checkpoint: { hostile } });
  await store.settle(settled, [runOf('settled')], hostile);
  const routed = await store.accept(makeDelivery({ uuid: hostile }));
  await store.route([{ id: routed.id, to: 'settled', reason: hostile, repository: hostile, lane: hostile }]);
  await store.endDeferral(deferred.id, hostile);
  const job = {
    door: 'cron',
    uuid: hostile,
    kind: hostile,
    lane: hostile,
    receivedAt: new Date(),
    payload: { hostile },
  } as const;
  const first = await store.enqueue(job);
  expect(await store.enqueue(job)).toEqual({ id: first.id, known: true });
  await store.appendRuns([{ ...makeRun({ at: 'nul \0 half \ud800' }) }], { repositoryId: 7 });

  await store.remember(hostile, { at: hostile, hostile });
  expect(await store.recall(hostile)).toEqual({ at: hostile, hostile });
  await store.revise(hostile, (value) => ({ ...(value as object), revised: hostile }));
  expect(await store.recall(hostile)).toEqual({ at: hostile, hostile, revised: hostile });
  await store.addSamples([{ minutes: 5, at: new Date(), name: hostile, amount: 1, merge: 'sum' }]);
  await store.storeRuleTexts(hostile, {
    kept: [{ path: hostile, commit: hostile, content: hostile }],
    gone: [hostile],
  });
  expect(await store.listRuleTexts(hostile)).toHaveLength(1);
  store.announce({ topic: 'facts', key: hostile });

  const occurrence = { kind: 'rule-failed', key: hostile, at: new Date(), subject: hostile, reason: hostile };
  await store.raise([occurrence as never]);
  expect(await store.listIncidents()).toMatchObject([{ reason: hostile }]);
  expect(await store.clear('rule-failed', [hostile], { before: new Date(0) })).toBe(0);
  const scope = { kind: 'rule', name: hostile } as const;
  expect(await store.pause(scope, hostile)).toBe(true);
  expect(await store.pause(scope, hostile)).toBe(false);
  expect(await store.listPauses()).toHaveLength(1);
  await store.noteAudit({ by: hostile, action: 'redrive', object: hostile });

  // Branch names are shorter on every forge.
  const queue = { repositoryId: 7, base: hostile.slice(0, 200) };
  const lease = await store.claimQueue(queue, 60_000);
  await store.saveQueue({
    ...queue,
    repository: hostile,
    state: { hostile },
    revision: 0,
    lease,
    events: [{ at: new Date(), kind: 'paused', text: hostile, by: hostile }],
    audit: { by: hostile, action: 'pause', object: hostile },
  });
  expect(await store.readQueue(queue)).toMatchObject({ state: { hostile }, revision: 1 });
  expect(await store.listQueueHistory(queue)).toMatchObject([{ kind: 'paused', by: hostile }]);

  await store.sessions.add(
    { key: 'key', person: hostile, isOperator: false, sealed: 'sealed' },
    { lifeMs: 60_000, maxSessions: 10, maxOfPerson: 10 },
  );

  // Methods that read accept hostile texts as well.
  expect((await store.listDeliveries({ search: hostile.slice(0, 20) })).items.length).toBeGreaterThan(0);
  expect(await store.readRun('settled \0 \ud800')).toMatchObject({ code: hostile });
  expect(await store.listRuns({ repositoryId: 7, item: { name: 'acme/demo#1', lane: '7#1' } })).toBeDefined();
  expect(await store.resume(scope, hostile)).toBe(true);
  await store.pause(scope, hostile);
  expect(await columnsWithout(url)).toEqual([]);
});

/** Columns that contain only the store's own values. */
const ownWords = [
  'audit.action',
  'deliveries.door',
  'deliveries.state',
  'deliveries.turn',
  'incidents.kind',
  'pauses.kind',
  // A digest and a sealed value.
  'sessions.key',
  'sessions.sealed',
  'workers.name',
  'workers.role',
  'workers.version',
];

/**
 * Returns the text columns that contain no hostile text. The test above must use every method that writes a text
 * column.
 */
async function columnsWithout(url: string): Promise<readonly string[]> {
  const client = await connectDirectly(url);
  try {
    const { rows } = await client.query(
      `SELECT table_name, column_name FROM information_schema.columns
       WHERE table_schema = current_schema AND data_type = 'text' ORDER BY table_name, column_name`,
    );
    const missing: string[] = [];
    for (const { table_name: table, column_name: column } of rows) {
      if (ownWords.includes(`${table}.${column}`)) continue;
      // The hostile text is stored with U+FFFD, or escaped in JSON.
      const found = await client.query(
        `SELECT FROM ${table} WHERE strpos(${column}, U&'\\FFFD') > 0 OR strpos(${column}, '\\ud800') > 0 LIMIT 1`,
      );
      if (found.rows.length === 0) missing.push(`${table}.${column}`);
    }
    return missing;
  } finally {
    await client.end();
  }
}
