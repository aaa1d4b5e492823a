import { afterEach, describe, expect, it } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { connectDirectly, makeSchema } from '../../support/postgres.ts';
import { makeDelivery } from '../make.ts';

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function open(url: string): Promise<Store> {
  const store = await openPostgresStore({ url, role: 'worker', isVolatile: true });
  endings.push(() => store.close());
  return store;
}

/** Accepts, claims and settles a delivery. */
async function handleOne(store: Store, lane: string): Promise<unknown> {
  const { id } = await store.accept(makeDelivery({ route: { lane } }));
  await store.route([{ id, to: 'lane', lane }]);
  const [claim] = await store.claim({ limit: 1, leaseMs: 60_000 });
  if (claim !== undefined) await store.settle(claim, []);
  return (await store.describeDelivery(id))?.state;
}

describe('a program next to a program of the next version', () => {
  it('continues while the other program migrates, and can open the database afterwards', async () => {
    const url = await makeSchema();
    const running = await open(url);
    const client = await connectDirectly(url);
    endings.push(() => client.end());
    const known = Number((await client.query('SELECT version FROM schema_version')).rows[0].version);

    // A compatible migration step of the next version does this.
    await client.query(`BEGIN; ALTER TABLE deliveries ADD COLUMN next_text text; CREATE TABLE next_table (id bigint);
      UPDATE schema_version SET version = ${known + 1}, least_compatible = ${known}; COMMIT`);

    expect(await handleOne(running, '1#1')).toBe('settled');
    expect(await handleOne(await open(url), '1#2')).toBe('settled');
    const { rows } = await client.query('SELECT version, least_compatible FROM schema_version');
    expect(rows).toEqual([{ version: known + 1, least_compatible: known }]);
  });

  it('is refused with both schema versions if the next version does not permit it', async () => {
    const url = await makeSchema();
    await (await open(url)).close();
    const client = await connectDirectly(url);
    endings.push(() => client.end());
    const known = Number((await client.query('SELECT version FROM schema_version')).rows[0].version);
    await client.query(`UPDATE schema_version SET version = ${known + 3}, least_compatible = ${known + 1}`);

    await expect(open(url)).rejects.toMatchObject({
      code: 'store-newer',
      message: expect.stringContaining(
        `has schema ${known + 3}, for programs that know ${known + 1} at least; this one knows ${known}: start the newer Reeve`,
      ),
    });
  });
});

it('processes that start at the same time create the schema once', async () => {
  const url = await makeSchema();
  const stores = await Promise.all(Array.from({ length: 4 }, () => open(url)));

  for (const [index, store] of stores.entries()) expect(await handleOne(store, `${index}#1`)).toBe('settled');
});
