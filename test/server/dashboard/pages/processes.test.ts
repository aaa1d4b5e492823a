import { hostname } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { packageVersion } from '../../../../src/platform/package.ts';
import { timeTag } from '../../../../src/server/dashboard/page.ts';
import { processesPage } from '../../../../src/server/dashboard/pages/processes.ts';
import { openPostgresStore } from '../../../../src/store/postgres/postgres-store.ts';
import type { ServerRole, Store } from '../../../../src/store/store.ts';
import { makeSchema } from '../../../support/postgres.ts';
import { serveDashboard, tableCells } from '../../../support/serve-dashboard.ts';

describe('the page of the processes', () => {
  const served = serveDashboard();
  let opened: Store[] = [];
  afterEach(async () => {
    for (const store of opened) await store.close();
    opened = [];
  });

  it('shows the only process of a store in a file', async () => {
    const { status, text } = await served.operator.get('/processes');
    const [cells = [], ...more] = tableCells(text);

    expect([status, more]).toEqual([200, []]);
    expect(cells.slice(0, 3)).toEqual([`${hostname()} ${process.pid}`, 'all', packageVersion()]);
    expect(cells[5]).toMatch(/leader\s+this one/);
  });

  it('shows every process of a shared store, the leader and the process that serves the page', async () => {
    const url = await makeSchema();
    const open = async (role: ServerRole): Promise<Store> => {
      const store = await openPostgresStore({ url, role, isVolatile: true });
      opened.push(store);
      return store;
    };
    await open('worker');
    const web = await open('web');

    const { content } = await processesPage({ time: (at) => timeTag(at, new Date()) }, { store: web });
    const cells = tableCells(content.text);

    expect(cells.map((row) => row[1])).toEqual(['worker', 'web']);
    expect(cells.map((row) => row[5]?.trim())).toEqual(['leader', 'this one']);
    for (const row of cells) expect(row[4]).toMatch(/^just now$|^\d+ s ago$/);
  });
});
